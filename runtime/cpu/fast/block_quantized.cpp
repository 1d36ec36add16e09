//===- block_quantized.cpp - float32 MatMulNBits --------------------------===//
//
// 4- and 8-bit codes are dequantized in registers; activations stay float32, so
// the sums are those of the reference kernel. Other types, code widths and
// reordered groups go to it.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/families.h"
#include "runtime/cpu/fast/hidden_kernel.h"
#include "runtime/cpu/fast/operands.h"

#include <algorithm>

namespace sol::fast {
namespace {

using simd::simdKernels;

KernelDefinition referenceNBits;

/// Inference has checked the operands' sizes already.
bool handled(Inputs in, int64_t bits, int64_t block) {
  const Tensor *zeros = operandAt(in, 3);
  return in[0].type == DType::F32 && (bits == 4 || bits == 8) &&
         block % 8 == 0 && !operandAt(in, 4) &&
         (!zeros || zeros->type == DType::U8 ||
          nn::isFloatStorage(zeros->type));
}

absl::Status runNBits(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out) {
  SOL_NN_ASSIGN(int64_t bits, call.attributes.integer("bits", 4));
  SOL_NN_ASSIGN(int64_t block, call.attributes.integer("block_size", 0));
  SOL_NN_ASSIGN(int64_t columns, call.attributes.integer("N", 0));
  if (block <= 0 || !handled(in, bits, block))
    return referenceNBits.run(call, context, in, out);
  int64_t depth = in[0].dims.back(), rows = in[0].size() / depth;
  if (rows == 0)
    return absl::OkStatus();
  const Tensor &scales = in[2], *zeros = operandAt(in, 3);
  const Tensor *bias = operandAt(in, 5);
  bool floatZeros = zeros && zeros->type != DType::U8;
  ScratchLayout layout;
  auto reserve = [&](const Tensor *tensor) {
    bool copy = tensor && tensor->type != DType::F32;
    return layout.add<float>(copy ? tensor->size() : 0);
  };
  size_t scalesAt = reserve(&scales);
  size_t zerosAt = reserve(floatZeros ? zeros : nullptr);
  SOL_NN_TRY(layout.take(context));
  auto asFloat = [&](const Tensor &tensor, size_t at) {
    if (tensor.type == DType::F32)
      return tensor.as<float>();
    simdKernels().widen(storageOf(tensor.type), tensor.data,
                        layout.at<float>(at), tensor.size());
    return static_cast<const float *>(layout.at<float>(at));
  };
  simd::BlockCodes codes{};
  codes.codes = in[1].as<uint8_t>();
  codes.bits = static_cast<int>(bits);
  codes.block = block;
  codes.blocks = (depth + block - 1) / block;
  codes.rowBytes = codes.blocks * (block * bits / 8);
  codes.scales = asFloat(scales, scalesAt);
  codes.zeros = floatZeros ? asFloat(*zeros, zerosAt) : nullptr;
  codes.packedZeros = zeros && !floatZeros ? zeros->as<uint8_t>() : nullptr;
  codes.zeroRowBytes = (codes.blocks * bits + 7) / 8;
  float *sums = out[0].as<float>();
  // Rows stay together: a panel is dequantized once for all of them.
  auto piece = [&](int64_t begin, int64_t end) {
    simd::ProductShape shape{rows, depth, columns, depth, columns};
    simdKernels().blockProduct(shape, in[0].as<float>(), codes, sums, begin,
                               end);
    int64_t first = begin * 16, last = std::min(end * 16, columns);
    for (int64_t row = 0; bias && row < rows; ++row)
      simdKernels().addRow(bias->as<float>() + first,
                           sums + row * columns + first, last - first);
  };
  context.parallelFor((columns + 15) / 16, rowGrain(depth * 16, 32768), piece);
  return absl::OkStatus();
}

} // namespace

void registerBlockQuantizedOverrides() {
  hideKernel("onnx.microsoft.MatMulNBits", referenceNBits, runNBits);
}

} // namespace sol::fast
