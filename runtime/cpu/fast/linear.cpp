//===- linear.cpp - nn.linear and nn.pack_panels --------------------------===//
//
// Products with constant matrices, plain or packed in panels. The sums are
// float32 whatever the types; results are rounded once, after the bias.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/families.h"
#include "runtime/cpu/fast/operands.h"
#include "runtime/cpu/kernel.h"

#include <algorithm>
#include <cstring>

namespace sol::fast {
namespace {

using simd::simdKernels;

struct Linear {
  bool transposed = false, packed = false;
  int64_t rows = 0, depth = 0, columns = 0;
  const Tensor *bias = nullptr;
};

/// The weight's sizes against those of x.
absl::Status readWeight(const KernelCall &call, const Tensor &weight,
                        Linear &linear) {
  SOL_NN_ASSIGN(int64_t transposed, call.attributes.integer("transposed", 0));
  SOL_NN_ASSIGN(int64_t packed, call.attributes.integer("packed", 0));
  linear.transposed = transposed != 0;
  linear.packed = packed != 0;
  SOL_NN_TRY(checkStorage(weight, "weight"));
  int64_t depth;
  if (linear.packed) {
    SOL_NN_TRY(checkRank(weight, "weight", 3, 3));
    SOL_NN_ASSIGN(linear.columns,
                  call.attributes.integer("columns", weight.dims[0] * 16));
    depth = weight.dims[1];
    if (linear.columns < 0 || weight.dims[2] != 16 ||
        weight.dims[0] != (linear.columns + 15) / 16)
      return invalid("operand `weight` has shape ", dimsToString(weight.dims),
                     ", panels of ", linear.columns, " columns have [",
                     (linear.columns + 15) / 16, ", ", linear.depth, ", 16]");
  } else {
    SOL_NN_TRY(checkRank(weight, "weight", 2, 2));
    depth = weight.dims[linear.transposed ? 1 : 0];
    linear.columns = weight.dims[linear.transposed ? 0 : 1];
  }
  if (depth != linear.depth)
    return invalid("operand `x` has ", linear.depth,
                   " entries in its last axis, `weight` of shape ",
                   dimsToString(weight.dims), " takes ", depth);
  return absl::OkStatus();
}

absl::StatusOr<Linear> describeLinear(const KernelCall &call, Inputs in) {
  Linear linear;
  SOL_NN_TRY(checkCount(in, 2, 3));
  SOL_NN_TRY(checkStorage(in[0], "x"));
  if (in[0].rank() < 1)
    return invalid("operand `x` is a scalar, must have rank 1 or more");
  linear.depth = in[0].dims.back();
  linear.rows = nn::product(in[0].dims, 0, in[0].dims.size() - 1);
  SOL_NN_TRY(readWeight(call, in[1], linear));
  linear.bias = operandAt(in, 2);
  if (linear.bias) {
    SOL_NN_TRY(checkStorage(*linear.bias, "bias"));
    SOL_NN_TRY(nn::checkElements(*linear.bias, "bias", linear.columns));
  }
  return linear;
}

absl::Status inferLinear(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(Linear linear, describeLinear(call, in));
  Dims dims = in[0].dims;
  dims.back() = linear.columns;
  return setOutput(out, 0, in[0].type, dims);
}

/// `tensor` as float32: itself, or a copy at `scratch`.
const float *asFloat(const Tensor &tensor, float *scratch) {
  if (tensor.type == DType::F32)
    return tensor.as<float>();
  simdKernels().widen(storageOf(tensor.type), tensor.data, scratch,
                      tensor.size());
  return scratch;
}

/// Bias and rounding for a piece of the result.
void finishPiece(const Linear &linear, const float *bias, float *sums,
                 Tensor &y, int64_t row, int64_t rowEnd, int64_t first,
                 int64_t last) {
  for (; row < rowEnd; ++row) {
    float *line = sums + row * linear.columns + first;
    if (bias)
      simdKernels().addRow(bias + first, line, last - first);
    if (y.type != DType::F32)
      simdKernels().narrow(storageOf(y.type), line,
                           y.as<uint16_t>() + row * linear.columns + first,
                           last - first);
  }
}

absl::Status runLinear(const KernelCall &call, KernelContext &context,
                       Inputs in, Outputs out) {
  SOL_NN_ASSIGN(Linear linear, describeLinear(call, in));
  Tensor &y = out[0];
  if (y.size() == 0)
    return absl::OkStatus();
  ScratchLayout layout;
  bool widenX = in[0].type != DType::F32, narrowY = y.type != DType::F32;
  bool widenBias = linear.bias && linear.bias->type != DType::F32;
  size_t xAt = layout.add<float>(widenX ? in[0].size() : 0);
  size_t yAt = layout.add<float>(narrowY ? y.size() : 0);
  size_t biasAt = layout.add<float>(widenBias ? linear.columns : 0);
  if (widenX || narrowY || widenBias)
    SOL_NN_TRY(layout.take(context));
  const float *x = asFloat(in[0], layout.at<float>(xAt));
  float *sums = narrowY ? layout.at<float>(yAt) : y.as<float>();
  const float *bias =
      linear.bias ? asFloat(*linear.bias, layout.at<float>(biasAt)) : nullptr;

  const Tensor &weight = in[1];
  simd::Storage type = storageOf(weight.type);
  int64_t panels = (linear.columns + 15) / 16;
  ProductCut cut = cutProduct(linear.rows, linear.depth, linear.columns,
                              linear.packed, context.threadCount());
  // Neighbouring pieces share columns, so that a panel is read once.
  auto piece = [&](int64_t index) {
    int64_t row = index % cut.rowPieces * cut.rowsEach;
    int64_t rowEnd = std::min(row + cut.rowsEach, linear.rows);
    int64_t panel = index / cut.rowPieces * cut.panelsEach;
    int64_t panelEnd = std::min(panel + cut.panelsEach, panels);
    simd::ProductShape shape{rowEnd - row, linear.depth, linear.columns,
                             linear.depth, linear.columns};
    const float *a = x + row * linear.depth;
    float *c = sums + row * linear.columns;
    if (linear.packed)
      simdKernels().packedProduct(shape, a, type, weight.data, c, panel,
                                  panelEnd);
    else
      simdKernels().plainProduct(shape, a, type, weight.data, weight.dims[1],
                                 linear.transposed, c, panel, panelEnd);
    if (bias || narrowY)
      finishPiece(linear, bias, sums, y, row, rowEnd, panel * 16,
                  std::min(panelEnd * 16, linear.columns));
  };
  context.parallelFor(cut.pieces(), cut.grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      piece(i);
  });
  return absl::OkStatus();
}

absl::Status inferPackPanels(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 1));
  SOL_NN_TRY(checkRank(in[0], "matrix", 2, 2));
  SOL_NN_ASSIGN(int64_t transposed, call.attributes.integer("transposed", 0));
  if (bitWidth(in[0].type) < 8)
    return invalid("operand `matrix` has element type ", dtypeName(in[0].type),
                   ", must take whole bytes");
  int64_t depth = in[0].dims[transposed ? 1 : 0];
  int64_t columns = in[0].dims[transposed ? 0 : 1];
  return setOutput(out, 0, in[0].type, Dims{(columns + 15) / 16, depth, 16});
}

/// Moves elements of `width` bytes.
absl::Status runPackPanels(const KernelCall &call, KernelContext &context,
                           Inputs in, Outputs out) {
  SOL_NN_ASSIGN(int64_t transposed, call.attributes.integer("transposed", 0));
  const Tensor &matrix = in[0];
  size_t width = static_cast<size_t>(bitWidth(matrix.type)) / 8;
  int64_t depth = matrix.dims[transposed ? 1 : 0];
  int64_t columns = matrix.dims[transposed ? 0 : 1];
  const char *from = matrix.as<char>();
  char *to = out[0].as<char>();
  auto pack = [&](int64_t panel) {
    int64_t first = panel * 16, count = std::min<int64_t>(16, columns - first);
    char *row = to + static_cast<size_t>(panel * depth * 16) * width;
    for (int64_t k = 0; k < depth; ++k, row += 16 * width) {
      if (count < 16)
        std::memset(row, 0, 16 * width);
      if (!transposed) {
        std::memcpy(row,
                    from + static_cast<size_t>(k * columns + first) * width,
                    static_cast<size_t>(count) * width);
        continue;
      }
      for (int64_t n = 0; n < count; ++n)
        std::memcpy(row + static_cast<size_t>(n) * width,
                    from + static_cast<size_t>((first + n) * depth + k) * width,
                    width);
    }
  };
  context.parallelFor(out[0].dims[0], rowGrain(depth * 16),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t panel = begin; panel < end; ++panel)
                          pack(panel);
                      });
  return absl::OkStatus();
}

} // namespace

void registerLinearKernels() {
  registerKernel({"nn.linear", nullptr, inferLinear, runLinear});
  registerKernel({"nn.pack_panels", nullptr, inferPackPanels, runPackPanels});
}

} // namespace sol::fast
