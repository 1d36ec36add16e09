//===- operands.h - what the fast kernels ask of their operands -----------===//
//
// Storage types of operands and the cut of work among threads. The checks that
// every kernel needs come from the reference kernels' folder.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_FAST_OPERANDS_H
#define SOL_RUNTIME_CPU_FAST_OPERANDS_H

#include "runtime/cpu/fast/simd/simd_kernels.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

namespace sol::fast {

using nn::checkCount;
using nn::checkDims;
using nn::checkRank;
using nn::invalid;
using nn::operandAt;
using nn::ScratchLayout;
using nn::setOutput;

/// How loops read elements of a type; call checkStorage first.
simd::Storage storageOf(DType type);
/// Float32, float16 or bfloat16, or an error that names the operand.
absl::Status checkStorage(const Tensor &tensor, std::string_view name);

/// Pieces of a product: `rowPieces` times `panelPieces`, each at most
/// `rowsEach` rows by `panelsEach` panels of 16 columns. Depends on nothing
/// that a result could depend on: any cut gives the same bits.
struct ProductCut {
  int64_t rowsEach, rowPieces, panelsEach, panelPieces;
  int64_t grain; ///< pieces that are worth handing to another thread
  int64_t pieces() const { return rowPieces * panelPieces; }
};
/// `packed` says that B lies in panels; in plain order wider pieces pay.
ProductCut cutProduct(int64_t rows, int64_t depth, int64_t columns, bool packed,
                      int threads);

/// Rows per parallel piece so that each has about `work` elements.
inline int64_t rowGrain(int64_t width, int64_t work = 16384) {
  return width >= work ? 1 : work / (width > 0 ? width : 1);
}

} // namespace sol::fast

#endif // SOL_RUNTIME_CPU_FAST_OPERANDS_H
