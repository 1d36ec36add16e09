//===- operands.cpp - what the fast kernels ask of their operands ---------===//
//
// See operands.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/operands.h"

#include <algorithm>

namespace sol::fast {

simd::Storage storageOf(DType type) {
  return type == DType::F16    ? simd::Storage::F16
         : type == DType::BF16 ? simd::Storage::BF16
                               : simd::Storage::F32;
}

absl::Status checkStorage(const Tensor &tensor, std::string_view name) {
  return nn::checkType(tensor, name, {DType::F32, DType::F16, DType::BF16});
}

ProductCut cutProduct(int64_t rows, int64_t depth, int64_t columns, bool packed,
                      int threads) {
  ProductCut cut;
  int64_t panels = (columns + 15) / 16;
  // Few rows run fastest over several panels side by side.
  cut.panelsEach = rows > 3 ? 1 : packed ? 4 : 16;
  cut.panelPieces = (panels + cut.panelsEach - 1) / cut.panelsEach;
  cut.rowsEach = std::max<int64_t>(rows, 1);
  cut.rowPieces = 1;
  // Rows are shared too where there are too few columns; a multiple of six
  // fills the register tiles.
  while (cut.panelPieces * cut.rowPieces < int64_t{4} * threads &&
         cut.rowsEach >= 24) {
    cut.rowsEach = (cut.rowsEach / 2 + 5) / 6 * 6;
    cut.rowPieces = (rows + cut.rowsEach - 1) / cut.rowsEach;
  }
  constexpr int64_t worthwhile = 32768; // multiply-adds
  int64_t each =
      cut.rowsEach * std::max<int64_t>(depth, 1) * cut.panelsEach * 16;
  cut.grain = std::max<int64_t>(1, worthwhile / std::max<int64_t>(each, 1));
  return cut;
}

} // namespace sol::fast
