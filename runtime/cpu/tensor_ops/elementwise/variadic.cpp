//===- variadic.cpp - Sum, Mean, Max and Min of any number of tensors -----===//
//
// Operands are combined from the first to the last in the arithmetic of their
// type; narrow floats are rounded once, at the end.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor_ops/elementwise/maps.h"

namespace sol::ops {

namespace {
struct Plus {
  template <typename C> C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(uint64_t(a) + uint64_t(b));
    else
      return a + b;
  }
};
// A NaN in either operand wins.
struct Larger {
  template <typename C> C operator()(C a, C b) const {
    return a > b || a != a ? a : b;
  }
};
struct Smaller {
  template <typename C> C operator()(C a, C b) const {
    return a < b || a != a ? a : b;
  }
};

template <Domain domain>
absl::Status inferVariadic(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, inputs.size()));
  SOL_NN_TRY(checkDomain(inputs[0], "data_0", domain));
  for (size_t k = 0; k < inputs.size(); ++k)
    SOL_NN_TRY(
        nn::checkSameType(inputs[k], absl::StrCat("data_", k), inputs[0].type));
  SOL_NN_ASSIGN(Dims dims, broadcastAll(inputs));
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

template <typename C, typename Op>
void combine(KernelContext &context, Inputs inputs, Tensor &output, Op op,
             bool mean) {
  BroadcastPlan plan = planBroadcast(output.dims, inputs);
  C divisor = static_cast<C>(inputs.size());
  auto body = [&](int64_t begin, int64_t end) {
    // The sum has its own buffer: output may share the first input's memory.
    C buffer[chunkSize], sum[chunkSize];
    forEachPiece(plan, begin, end,
                 [&](int64_t first, int64_t count, const int64_t *offsets) {
                   for (size_t k = 0; k < inputs.size(); ++k) {
                     int64_t step = plan.step(k);
                     const C *x = viewElements(inputs[k], offsets[k],
                                               step ? count : 1, buffer);
                     if (k == 0)
                       for (int64_t i = 0; i < count; ++i)
                         sum[i] = x[i * step];
                     else
                       binaryRow(sum, 1, x, step, sum, count, op);
                   }
                   if (mean)
                     for (int64_t i = 0; i < count; ++i)
                       sum[i] /= divisor;
                   storeElements(output.type, sum, count, output.data, first);
                 });
  };
  parallelElements(context, output, cheapGrain, body);
}

template <typename Op, bool mean = false>
absl::Status runVariadic(const KernelCall &, KernelContext &context,
                         Inputs inputs, Outputs outputs) {
  withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    combine<C>(context, inputs, outputs[0], Op(), mean);
  });
  return absl::OkStatus();
}
} // namespace

void registerVariadicKernels() {
  registerKernel({.name = "onnx.Sum",
                  .infer = inferVariadic<Domain::Numbers>,
                  .run = runVariadic<Plus>,
                  .inPlace = 0});
  registerKernel({.name = "onnx.Mean",
                  .infer = inferVariadic<Domain::Floats>,
                  .run = runVariadic<Plus, true>,
                  .inPlace = 0});
  registerKernel({.name = "onnx.Max",
                  .infer = inferVariadic<Domain::Numbers>,
                  .run = runVariadic<Larger>,
                  .inPlace = 0});
  registerKernel({.name = "onnx.Min",
                  .infer = inferVariadic<Domain::Numbers>,
                  .run = runVariadic<Smaller>,
                  .inPlace = 0});
}

} // namespace sol::ops
