//===- scan.cpp - CumSum and CumProd --------------------------------------===//
#include "runtime/cpu/tensor_ops/elementwise/maps.h"
#include "runtime/cpu/tensor_ops/reduction/reduction.h"

namespace sol::ops {

namespace {
absl::StatusOr<int64_t> scanAxis(Inputs inputs) {
  SOL_NN_ASSIGN(int64_t axis, readInteger(inputs[1], "axis"));
  return nn::frontAxis(axis, inputs[0].rank());
}

absl::Status inferScan(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(checkDomain(inputs[0], "x", Domain::Numbers));
  if (inputs[1].data)
    SOL_NN_TRY(scanAxis(inputs).status());
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

template <bool product>
absl::Status runScan(const KernelCall &call, KernelContext &context,
                     Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, scanAxis(inputs));
  SOL_NN_ASSIGN(int64_t exclusive, call.attributes.integer("exclusive", 0));
  SOL_NN_ASSIGN(int64_t reverse, call.attributes.integer("reverse", 0));
  const Tensor &input = inputs[0];
  Tensor &output = outputs[0];
  AxisView view = viewAlong(input.dims, axis);
  withArithmetic(input.type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    using Wrapping = std::conditional_t<std::is_integral_v<C>, uint64_t, C>;
    context.parallelFor(
        view.rows(), rowGrain(view, costlyGrain),
        [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            Wrapping total = product ? 1 : 0;
            for (int64_t k = 0; k < view.count; ++k) {
              int64_t i = reverse ? view.count - 1 - k : k;
              int64_t at = view.start(row) + i * view.inner;
              C x;
              loadElements(input.type, input.data, at, 1, &x);
              Wrapping before = total;
              total = product ? total * static_cast<Wrapping>(x)
                              : total + static_cast<Wrapping>(x);
              C value = static_cast<C>(exclusive ? before : total);
              storeElements(output.type, &value, 1, output.data, at);
            }
          }
        });
  });
  return absl::OkStatus();
}
} // namespace

void registerScanKernels() {
  registerKernel({.name = "onnx.CumSum",
                  .infer = inferScan,
                  .run = runScan<false>,
                  .inPlace = 0});
  registerKernel({.name = "onnx.CumProd",
                  .infer = inferScan,
                  .run = runScan<true>,
                  .inPlace = 0});
}

} // namespace sol::ops
