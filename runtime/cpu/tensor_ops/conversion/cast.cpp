//===- cast.cpp - Cast, CastLike and BitCast ------------------------------===//
#include "runtime/cpu/kernel_families.h"
#include "runtime/cpu/tensor_ops/broadcast.h"

#include <cstring>

namespace sol::ops {

namespace {
absl::StatusOr<DType> targetType(const KernelCall &call) {
  SOL_NN_ASSIGN(int64_t code, call.attributes.integer("to", 0));
  if (!isKnownDType(code))
    return invalid("attribute `to` is ", code,
                   ", which is no numeric element type");
  return static_cast<DType>(code);
}

absl::Status inferCast(const KernelCall &call, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_ASSIGN(DType type, targetType(call));
  return nn::setOutput(outputs, 0, type, inputs[0].dims);
}

absl::Status inferCastLike(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  return nn::setOutput(outputs, 0, inputs[1].type, inputs[0].dims);
}

absl::Status runCast(const KernelCall &call, KernelContext &context,
                     Inputs inputs, Outputs outputs) {
  Narrowing narrowing;
  SOL_NN_ASSIGN(narrowing.saturate, call.attributes.integer("saturate", 1));
  SOL_NN_ASSIGN(std::string mode, call.attributes.text("round_mode", "up"));
  if (mode == "down")
    narrowing.rounding = PowerRounding::Down;
  else if (mode == "nearest")
    narrowing.rounding = PowerRounding::Nearest;
  else if (mode != "up")
    return invalid("attribute `round_mode` is `", mode,
                   "`, expected `up`, `down` or `nearest`");
  const Tensor &input = inputs[0];
  Tensor &output = outputs[0];
  if (input.type == output.type) {
    if (output.bytes() > 0 && output.data != input.data)
      std::memcpy(output.data, input.data, output.bytes());
    return absl::OkStatus();
  }
  withArithmetic(input.type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    auto body = [&](int64_t begin, int64_t end) {
      C buffer[chunkSize];
      for (int64_t first = begin; first < end; first += chunkSize) {
        int64_t count = std::min(end - first, chunkSize);
        const C *x = viewElements(input, first, count, buffer);
        storeElements(output.type, x, count, output.data, first, narrowing);
      }
    };
    parallelElements(context, output, cheapGrain, body);
  });
  return absl::OkStatus();
}

absl::Status inferBitCast(const KernelCall &call, Inputs inputs,
                          Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_ASSIGN(DType type, targetType(call));
  if (bitWidth(type) != bitWidth(inputs[0].type))
    return invalid("cannot read the bits of ",
                   std::string(dtypeName(inputs[0].type)), " as ",
                   std::string(dtypeName(type)), ": ", bitWidth(inputs[0].type),
                   " bits against ", bitWidth(type));
  return nn::setOutput(outputs, 0, type, inputs[0].dims);
}

absl::Status runBitCast(const KernelCall &, KernelContext &, Inputs inputs,
                        Outputs outputs) {
  const Tensor &input = inputs[0];
  // Bytes other than 0 and 1 are no bools, whatever they were before.
  if (outputs[0].type == DType::Bool)
    for (int64_t i = 0, n = input.size(); i < n; ++i)
      outputs[0].as<uint8_t>()[i] = input.as<uint8_t>()[i] != 0;
  else if (input.bytes() > 0)
    std::memcpy(outputs[0].data, input.data, input.bytes());
  return absl::OkStatus();
}
} // namespace

} // namespace sol::ops

namespace sol {
void registerConversionKernels() {
  registerKernel(
      {.name = "onnx.Cast", .infer = ops::inferCast, .run = ops::runCast});
  registerKernel({.name = "onnx.CastLike",
                  .infer = ops::inferCastLike,
                  .run = ops::runCast});
  registerKernel({.name = "onnx.BitCast",
                  .infer = ops::inferBitCast,
                  .run = ops::runBitCast});
}
} // namespace sol
