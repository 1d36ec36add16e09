//===- embedding.cpp - nn.embedding ---------------------------------------===//
//
// Rows of a table that lies in the panels of a product: every sixteenth element
// of one panel.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/families.h"
#include "runtime/cpu/fast/operands.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/tensor_ops/indexing/indexing.h"

namespace sol::fast {
namespace {

constexpr int64_t panelColumns = 16;

absl::Status inferEmbedding(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 2));
  SOL_NN_TRY(checkStorage(in[0], "panels"));
  SOL_NN_TRY(checkRank(in[0], "panels", 3, 3));
  SOL_NN_ASSIGN(int64_t rows, call.attributes.integer("columns", -1));
  if (rows < 0 || in[0].dims[2] != panelColumns ||
      in[0].dims[0] != (rows + panelColumns - 1) / panelColumns)
    return invalid("operand `panels` has shape ", dimsToString(in[0].dims),
                   ", a table of ", rows, " rows lies in ",
                   (rows + panelColumns - 1) / panelColumns, " panels of 16");
  if (in[1].type != DType::I64 && in[1].type != DType::I32)
    return invalid("operand `indices` has element type ", dtypeName(in[1].type),
                   ", must be int64 or int32");
  Dims dims = in[1].dims;
  dims.push_back(in[0].dims[1]);
  return setOutput(out, 0, in[0].type, dims);
}

template <typename Word>
void copyRows(const Tensor &panels, const Tensor &indices, int64_t rows,
              int64_t begin, int64_t end, Word *target) {
  int64_t depth = panels.dims[1];
  for (int64_t i = begin; i < end; ++i) {
    int64_t row = ops::frontIndexAt(indices, i, rows);
    const Word *source = panels.as<Word>() +
                         row / panelColumns * depth * panelColumns +
                         row % panelColumns;
    for (int64_t k = 0; k < depth; ++k)
      target[i * depth + k] = source[k * panelColumns];
  }
}

absl::Status runEmbedding(const KernelCall &call, KernelContext &context,
                          Inputs in, Outputs out) {
  SOL_NN_ASSIGN(int64_t rows, call.attributes.integer("columns", -1));
  SOL_NN_TRY(ops::checkIndices(in[1], 0, rows));
  context.parallelFor(
      in[1].size(), rowGrain(in[0].dims[1]), [&](int64_t begin, int64_t end) {
        if (bitWidth(in[0].type) == 32)
          copyRows(in[0], in[1], rows, begin, end, out[0].as<uint32_t>());
        else
          copyRows(in[0], in[1], rows, begin, end, out[0].as<uint16_t>());
      });
  return absl::OkStatus();
}

} // namespace

void registerEmbeddingKernel() {
  registerKernel({"nn.embedding", nullptr, inferEmbedding, runEmbedding});
}

} // namespace sol::fast
