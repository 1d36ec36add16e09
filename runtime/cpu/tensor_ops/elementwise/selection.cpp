//===- selection.cpp - Where and Clip -------------------------------------===//
#include "runtime/cpu/tensor_ops/elementwise/maps.h"

#include <cstring>
#include <limits>
#include <optional>

namespace sol::ops {

namespace {
absl::Status inferWhere(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 3, 3));
  SOL_NN_TRY(nn::checkSameType(inputs[0], "condition", DType::Bool));
  SOL_NN_TRY(nn::checkSameType(inputs[2], "Y", inputs[1].type));
  SOL_NN_ASSIGN(Dims dims, broadcastAll(inputs));
  return nn::setOutput(outputs, 0, inputs[1].type, dims);
}

/// Copies elements as bits of type W.
template <typename W>
void selectWords(KernelContext &context, Inputs inputs, Tensor &output) {
  BroadcastPlan plan = planBroadcast(output.dims, inputs);
  const uint8_t *condition = inputs[0].as<uint8_t>();
  const W *x = inputs[1].as<W>(), *y = inputs[2].as<W>();
  W *out = output.as<W>();
  int64_t stepC = plan.step(0), stepX = plan.step(1), stepY = plan.step(2);
  auto body = [&](int64_t begin, int64_t end) {
    forEachPiece(plan, begin, end,
                 [&](int64_t first, int64_t count, const int64_t *offsets) {
                   const uint8_t *c = condition + offsets[0];
                   const W *a = x + offsets[1], *b = y + offsets[2];
                   W *target = out + first;
                   if (stepC && stepX && stepY)
                     for (int64_t i = 0; i < count; ++i)
                       target[i] = c[i] ? a[i] : b[i];
                   else
                     for (int64_t i = 0; i < count; ++i)
                       target[i] = c[i * stepC] ? a[i * stepX] : b[i * stepY];
                 });
  };
  context.parallelFor(output.size(), cheapGrain, body);
}

void selectPacked(KernelContext &context, Inputs inputs, Tensor &output) {
  BroadcastPlan plan = planBroadcast(output.dims, inputs);
  int width = bitWidth(output.type);
  auto body = [&](int64_t begin, int64_t end) {
    forEachPiece(plan, begin, end,
                 [&](int64_t first, int64_t count, const int64_t *offsets) {
                   for (int64_t i = 0; i < count; ++i) {
                     bool chosen =
                         inputs[0].as<uint8_t>()[offsets[0] + i * plan.step(0)];
                     size_t k = chosen ? 1 : 2;
                     setPackedCode(output.data, first + i, width,
                                   packedCode(inputs[k].data,
                                              offsets[k] + i * plan.step(k),
                                              width));
                   }
                 });
  };
  parallelElements(context, output, cheapGrain, body);
}

absl::Status runWhere(const KernelCall &, KernelContext &context, Inputs inputs,
                      Outputs outputs) {
  switch (bitWidth(outputs[0].type)) {
  case 8:
    selectWords<uint8_t>(context, inputs, outputs[0]);
    break;
  case 16:
    selectWords<uint16_t>(context, inputs, outputs[0]);
    break;
  case 32:
    selectWords<uint32_t>(context, inputs, outputs[0]);
    break;
  case 64:
    selectWords<uint64_t>(context, inputs, outputs[0]);
    break;
  default:
    selectPacked(context, inputs, outputs[0]);
  }
  return absl::OkStatus();
}

absl::Status inferClip(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 3));
  SOL_NN_TRY(checkDomain(inputs[0], "input", Domain::Numbers));
  for (size_t k = 1; k < inputs.size(); ++k)
    if (inputs[k].present()) {
      const char *name = k == 1 ? "min" : "max";
      SOL_NN_TRY(nn::checkSameType(inputs[k], name, inputs[0].type));
      SOL_NN_TRY(nn::checkElements(inputs[k], name, 1));
    }
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

absl::Status runClip(const KernelCall &, KernelContext &context, Inputs inputs,
                     Outputs outputs) {
  withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    using Limits = std::numeric_limits<C>;
    C low = std::is_integral_v<C> ? Limits::lowest() : -Limits::infinity();
    C high = std::is_integral_v<C> ? Limits::max() : Limits::infinity();
    if (const Tensor *bound = nn::operandAt(inputs, 1))
      loadElements(bound->type, bound->data, 0, 1, &low);
    if (const Tensor *bound = nn::operandAt(inputs, 2))
      loadElements(bound->type, bound->data, 0, 1, &high);
    // min above max gives max, as NumPy has it; NaN stays.
    mapUnary<C>(context, inputs[0], outputs[0], cheapGrain, [=](C x) {
      C raised = x < low ? low : x;
      return raised > high ? high : raised;
    });
  });
  return absl::OkStatus();
}
} // namespace

void registerSelectionKernels() {
  registerKernel({.name = "onnx.Where", .infer = inferWhere, .run = runWhere});
  registerKernel(
      {.name = "onnx.Clip", .infer = inferClip, .run = runClip, .inPlace = 0});
}

} // namespace sol::ops
