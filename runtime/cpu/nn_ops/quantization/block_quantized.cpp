//===- block_quantized.cpp - MatMulNBits and GatherBlockQuantized ---------===//
//
// Weights are dequantized a panel, or a gathered row, at a time. Activations
// stay float whatever `accuracy_level` allows.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/nn_ops/product/panel_product.h"
#include "runtime/cpu/nn_ops/quantization/block_weights.h"
#include "runtime/cpu/nn_ops/quantization/families.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

#include <bit>

namespace sol::nn {
namespace {

absl::Status checkBits(int64_t bits) {
  if (bits == 2 || bits == 4 || bits == 8)
    return absl::OkStatus();
  return invalid("attribute `bits` is ", bits, ", must be 2, 4 or 8");
}

absl::Status checkBlock(int64_t block) {
  if (block >= 16 && block <= (int64_t(1) << 30) &&
      std::has_single_bit(static_cast<uint64_t>(block)))
    return absl::OkStatus();
  return invalid("attribute `block_size` is ", block,
                 ", must be a power of two from 16 on");
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

struct NBitsCall {
  BlockWeights weights;
  int64_t rows = 0, columns = 0;
  const Tensor *groups = nullptr, *bias = nullptr;
};

absl::Status readSizes(const KernelCall &call, Inputs in, NBitsCall &result) {
  const Attributes &attributes = call.attributes;
  SOL_NN_ASSIGN(int64_t bits, attributes.integer("bits", 4));
  SOL_NN_ASSIGN(int64_t block, attributes.integer("block_size", 0));
  SOL_NN_ASSIGN(int64_t depth, attributes.integer("K", 0));
  SOL_NN_ASSIGN(result.columns, attributes.integer("N", 0));
  SOL_NN_ASSIGN(int64_t prepacked, attributes.integer("weight_prepacked", 0));
  SOL_NN_TRY(checkBits(bits));
  SOL_NN_TRY(checkBlock(block));
  if (prepacked != 0)
    return invalid("attribute `weight_prepacked` is ", prepacked,
                   ", which is for other devices: must be 0");
  if (depth <= 0 || result.columns <= 0 || depth > (int64_t(1) << 31) ||
      result.columns > (int64_t(1) << 31))
    return invalid("attributes `K` ", depth, " and `N` ", result.columns,
                   " must be positive");
  BlockWeights &weights = result.weights;
  weights.bits = static_cast<int>(bits);
  weights.block = block;
  weights.depth = depth;
  weights.blocks = (depth + block - 1) / block;
  weights.rowBytes = weights.blocks * (block * bits / 8);
  if (in[0].rank() < 1 || in[0].dims.back() != depth)
    return invalid("operand `A` has shape ", dimsToString(in[0].dims),
                   ", its last axis must be `K` = ", depth);
  result.rows = product(in[0].dims, 0, in[0].dims.size() - 1);
  return absl::OkStatus();
}

absl::StatusOr<NBitsCall> describeNBits(const KernelCall &call, Inputs in) {
  NBitsCall result;
  SOL_NN_TRY(checkCount(in, 3, 6));
  SOL_NN_TRY(checkType(in[0], "A", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(readSizes(call, in, result));
  BlockWeights &weights = result.weights;
  SOL_NN_TRY(checkSameType(in[1], "B", DType::U8));
  SOL_NN_TRY(checkElements(in[1], "B", result.columns * weights.rowBytes));
  SOL_NN_TRY(checkType(in[2], "scales", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(checkElements(in[2], "scales", result.columns * weights.blocks));
  weights.codes = in[1].as<uint8_t>();
  weights.scales = &in[2];
  weights.zeros = operandAt(in, 3);
  weights.zeroRowBytes = (weights.blocks * weights.bits + 7) / 8;
  if (weights.zeros) {
    SOL_NN_TRY(checkType(*weights.zeros, "zero_points",
                         {DType::U8, DType::F32, DType::F16, DType::BF16}));
    SOL_NN_TRY(checkElements(*weights.zeros, "zero_points",
                             result.columns * (weights.zeros->type == DType::U8
                                                   ? weights.zeroRowBytes
                                                   : weights.blocks)));
  }
  result.groups = operandAt(in, 4);
  if (result.groups) {
    SOL_NN_TRY(checkSameType(*result.groups, "g_idx", DType::I32));
    if (result.groups->size() < weights.depth)
      return invalid(
          "operand `g_idx` has ", result.groups->size(),
          " elements, must have one for each of `K` = ", weights.depth);
    weights.groups = result.groups->as<int32_t>();
  }
  result.bias = operandAt(in, 5);
  if (result.bias) {
    SOL_NN_TRY(checkSameType(*result.bias, "bias", in[0].type));
    SOL_NN_TRY(checkElements(*result.bias, "bias", result.columns));
  }
  return result;
}

absl::Status inferNBits(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(NBitsCall nbits, describeNBits(call, in));
  Dims dims = in[0].dims;
  dims.back() = nbits.columns;
  return setOutput(out, 0, in[0].type, dims);
}

absl::Status runNBits(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out) {
  SOL_NN_ASSIGN(NBitsCall nbits, describeNBits(call, in));
  const BlockWeights &weights = nbits.weights;
  for (int64_t k = 0; nbits.groups && k < weights.depth; ++k)
    if (weights.groups[k] < 0 || weights.groups[k] >= weights.blocks)
      return outOfRange("operand `g_idx` holds ", weights.groups[k],
                        ", there are ", weights.blocks, " blocks");
  bool direct = in[0].type == DType::F32;
  ScratchLayout layout;
  size_t copy = layout.add<float>(direct ? 0 : in[0].size());
  size_t workspace = layout.add<float>(
      productWorkspace(context.threadCount(), 1, nbits.columns, weights.depth));
  SOL_NN_TRY(layout.take(context));
  const float *rows = in[0].as<float>();
  if (!direct) {
    loadRow(in[0], 0, in[0].size(), layout.at<float>(copy));
    rows = layout.at<float>(copy);
  }
  auto left = [&](int64_t) -> const float * { return rows; };
  auto fill = [&](int64_t, int64_t column, int64_t count, float *panel) {
    weights.fill(column, count, panel);
  };
  auto store = [&](int64_t, int64_t row, int64_t column, int64_t count,
                   const float *sums) {
    float values[panelWidth], added[panelWidth] = {};
    if (nbits.bias)
      loadRow(*nbits.bias, column, count, added);
    for (int64_t i = 0; i < count; ++i)
      values[i] = nbits.bias ? sums[i] + added[i] : sums[i];
    storeRow(values, count, out[0], row * nbits.columns + column);
  };
  runPanelProduct<float>(
      context, {1, nbits.rows, nbits.columns, weights.depth, left, fill, store},
      layout.at<float>(workspace));
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// GatherBlockQuantized
//===----------------------------------------------------------------------===//

struct GatherCall {
  int bits = 4;
  int64_t gatherAxis = 0, quantizeAxis = 0, block = 0, blocks = 0;
  Dims dims; ///< of the table, in elements rather than bytes
  int64_t outer = 1, inner = 1;
  const Tensor *zeros = nullptr;
  int64_t zerosPerRow = 0; ///< codes in a row of packed uint8 zero points
  Dims outDims;
};

absl::Status readTable(const KernelCall &call, Inputs in, GatherCall &result) {
  const Tensor &data = in[0];
  SOL_NN_TRY(checkType(data, "data", {DType::U8, DType::U4, DType::I4}));
  SOL_NN_TRY(checkRank(data, "data", 1, 16));
  SOL_NN_ASSIGN(int64_t bits, call.attributes.integer("bits", 4));
  SOL_NN_TRY(checkBits(bits));
  SOL_NN_ASSIGN(result.block, call.attributes.integer("block_size", 128));
  SOL_NN_TRY(checkBlock(result.block));
  SOL_NN_ASSIGN(int64_t gather, call.attributes.integer("gather_axis", 0));
  SOL_NN_ASSIGN(int64_t quantize, call.attributes.integer("quantize_axis", 1));
  SOL_NN_ASSIGN(result.gatherAxis, frontAxis(gather, data.rank()));
  SOL_NN_ASSIGN(result.quantizeAxis, frontAxis(quantize, data.rank()));
  result.bits = data.type == DType::U8 ? static_cast<int>(bits) : 4;
  result.dims = data.dims;
  if (data.type != DType::U8)
    return absl::OkStatus();
  if (result.quantizeAxis != data.rank() - 1)
    return invalid("attribute `quantize_axis` is ", quantize,
                   ", must be the last axis where `data` is packed in bytes");
  if (result.gatherAxis == result.quantizeAxis && bits != 8)
    return invalid("attribute `gather_axis` is ", gather,
                   ", must not be the axis that is packed in bytes");
  result.dims.back() *= 8 / bits;
  return absl::OkStatus();
}

absl::StatusOr<GatherCall> describeGather(const KernelCall &call, Inputs in) {
  GatherCall result;
  SOL_NN_TRY(checkCount(in, 3, 4));
  SOL_NN_TRY(readTable(call, in, result));
  SOL_NN_TRY(checkType(in[1], "indices", {DType::I32, DType::I64}));
  SOL_NN_TRY(checkType(in[2], "scales", {DType::F32, DType::F16, DType::BF16}));
  Dims wanted = result.dims;
  int64_t &along = wanted[result.quantizeAxis];
  along = result.blocks = (along + result.block - 1) / result.block;
  SOL_NN_TRY(checkDims(in[2], "scales", wanted));
  result.zeros = operandAt(in, 3);
  if (result.zeros) {
    SOL_NN_TRY(checkSameType(*result.zeros, "zero_points", in[0].type));
    if (in[0].type == DType::U8) {
      wanted.back() = (wanted.back() * result.bits + 7) / 8;
      result.zerosPerRow = wanted.back() * (8 / result.bits);
    }
    SOL_NN_TRY(checkDims(*result.zeros, "zero_points", wanted));
  }
  size_t axis = result.gatherAxis;
  result.outer = product(result.dims, 0, axis);
  result.inner = product(result.dims, axis + 1, result.dims.size());
  result.outDims.assign(result.dims.begin(), result.dims.begin() + axis);
  result.outDims.insert(result.outDims.end(), in[1].dims.begin(),
                        in[1].dims.end());
  result.outDims.insert(result.outDims.end(), result.dims.begin() + axis + 1,
                        result.dims.end());
  return result;
}

absl::Status inferGather(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(GatherCall gather, describeGather(call, in));
  return setOutput(out, 0, in[2].type, gather.outDims);
}

/// The value of the table's element `flat`.
float tableValue(const GatherCall &gather, Inputs in, int64_t flat) {
  const Tensor &data = in[0];
  int64_t after =
      product(gather.dims, gather.quantizeAxis + 1, gather.dims.size());
  int64_t size = gather.dims[gather.quantizeAxis];
  int64_t row = flat / after / size, k = flat / after % size;
  int64_t block = k / gather.block;
  int64_t scaleAt = (row * gather.blocks + block) * after + flat % after;
  float scale;
  loadRow(in[2], scaleAt, 1, &scale);
  auto codeAt = [&](const Tensor &tensor, int64_t index) -> int {
    if (gather.bits == 8)
      return tensor.as<uint8_t>()[index];
    uint8_t code = packedCode(tensor.data, index, gather.bits);
    return tensor.type == DType::I4 ? signedCode(code, 4) : code;
  };
  int zero = data.type == DType::U8 ? 1 << (gather.bits - 1) : 0;
  if (gather.zeros)
    zero = codeAt(*gather.zeros, data.type == DType::U8
                                     ? row * gather.zerosPerRow + block
                                     : scaleAt);
  return static_cast<float>(codeAt(data, flat) - zero) * scale;
}

absl::Status runGather(const KernelCall &call, KernelContext &context,
                       Inputs in, Outputs out) {
  SOL_NN_ASSIGN(GatherCall gather, describeGather(call, in));
  int64_t count = in[1].size(), size = gather.dims[gather.gatherAxis];
  context.parallelFor(gather.outer * count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      int64_t which = n % count, outer = n / count;
      int64_t index = in[1].type == DType::I32 ? in[1].as<int32_t>()[which]
                                               : in[1].as<int64_t>()[which];
      // Unlike Gather's, an index out of range reads as a row of zeros.
      bool inside = index >= -size && index < size;
      index += index < 0 ? size : 0;
      for (int64_t i = 0; i < gather.inner; ++i) {
        float value = 0;
        if (inside)
          value =
              tableValue(gather, in, (outer * size + index) * gather.inner + i);
        storeRow(&value, 1, out[0], n * gather.inner + i);
      }
    }
  });
  return absl::OkStatus();
}

} // namespace

void registerBlockQuantizedKernels() {
  registerKernel({"onnx.microsoft.MatMulNBits", nullptr, inferNBits, runNBits});
  registerKernel(
      {"onnx.microsoft.GatherBlockQuantized", nullptr, inferGather, runGather});
}

} // namespace sol::nn
