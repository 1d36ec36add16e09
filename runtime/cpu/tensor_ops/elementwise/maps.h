//===- maps.h - elementwise loops and the checks before them --------------===//
//
// Turns a function of one or two numbers into a kernel. Functions are functors
// with `template <typename C> C operator()(C) const`; those with attributes
// read them in `static absl::StatusOr<Op> from(const Attributes &)`.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_TENSOR_OPS_ELEMENTWISE_MAPS_H
#define SOL_RUNTIME_CPU_TENSOR_OPS_ELEMENTWISE_MAPS_H

#include "runtime/cpu/tensor_ops/broadcast.h"

namespace sol::ops {

/// The families that registerElementwiseKernels adds.
void registerUnaryKernels();
void registerActivationKernels();
void registerArithmeticKernels();
void registerComparisonKernels();
void registerBitKernels();
void registerVariadicKernels();
void registerSelectionKernels();

/// Which element types an operator takes.
enum class Domain { Floats, Numbers, Integers, Bools, NumbersAndBools };
absl::Status checkDomain(const Tensor &tensor, std::string_view name,
                         Domain domain);

/// Output 0 has the type and shape of input 0.
template <Domain domain>
absl::Status inferUnary(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_TRY(checkDomain(inputs[0], "input", domain));
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

/// Two operands of one type, broadcast; output 0 has that type, or bool.
absl::Status inferBroadcastPair(Inputs inputs, Outputs outputs, Domain domain,
                                bool givesBool);
template <Domain domain, bool givesBool = false>
absl::Status inferBinary(const KernelCall &, Inputs inputs, Outputs outputs) {
  return inferBroadcastPair(inputs, outputs, domain, givesBool);
}

template <typename C, typename R = C, typename F>
void mapUnary(KernelContext &context, const Tensor &input, Tensor &output,
              int64_t grain, F function) {
  auto body = [&](int64_t begin, int64_t end) {
    C buffer[chunkSize];
    R results[chunkSize];
    for (int64_t first = begin; first < end; first += chunkSize) {
      int64_t count = std::min(end - first, chunkSize);
      const C *x = viewElements(input, first, count, buffer);
      R *y = targetElements(output, first, results);
      for (int64_t i = 0; i < count; ++i)
        y[i] = function(x[i]);
      finishElements(y, count, output, first);
    }
  };
  parallelElements(context, output, grain, body);
}

template <typename C, typename R, typename F>
void binaryRow(const C *a, int64_t stepA, const C *b, int64_t stepB, R *y,
               int64_t count, F function) {
  if (stepA && stepB)
    for (int64_t i = 0; i < count; ++i)
      y[i] = function(a[i], b[i]);
  else if (stepA)
    for (int64_t i = 0, n = count; i < n; ++i)
      y[i] = function(a[i], b[0]);
  else if (stepB)
    for (int64_t i = 0; i < count; ++i)
      y[i] = function(a[0], b[i]);
  else
    std::fill_n(y, count, static_cast<R>(function(a[0], b[0])));
}

/// function(C, C) -> R over two broadcast operands.
template <typename C, typename R = C, typename F>
void mapBinary(KernelContext &context, Inputs inputs, Tensor &output,
               F function) {
  BroadcastPlan plan = planBroadcast(output.dims, inputs.subspan(0, 2));
  auto body = [&](int64_t begin, int64_t end) {
    C bufferA[chunkSize], bufferB[chunkSize];
    R results[chunkSize];
    forEachPiece(plan, begin, end,
                 [&](int64_t first, int64_t count, const int64_t *offsets) {
                   int64_t stepA = plan.step(0), stepB = plan.step(1);
                   const C *a = viewElements(inputs[0], offsets[0],
                                             stepA ? count : 1, bufferA);
                   const C *b = viewElements(inputs[1], offsets[1],
                                             stepB ? count : 1, bufferB);
                   // A value read for the whole row must not lie in memory
                   // that the row's results overwrite.
                   C one;
                   if (!stepA)
                     one = *a, a = &one;
                   R *y = targetElements(output, first, results);
                   binaryRow(a, stepA, b, stepB, y, count, function);
                   finishElements(y, count, output, first);
                 });
  };
  parallelElements(context, output, cheapGrain, body);
}

template <typename Op>
absl::StatusOr<Op> functionOf(const Attributes &attributes) {
  if constexpr (requires { Op::from(attributes); })
    return Op::from(attributes);
  else
    return Op();
}

/// A kernel of one floating-point operand.
template <typename Op>
absl::Status runFloatUnary(const KernelCall &call, KernelContext &context,
                           Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(Op op, functionOf<Op>(call.attributes));
  withFloatArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    mapUnary<C>(context, inputs[0], outputs[0], costlyGrain,
                [&op](C x) { return static_cast<C>(op(x)); });
  });
  return absl::OkStatus();
}

/// A kernel of one operand of any numeric type.
template <typename Op>
absl::Status runUnary(const KernelCall &call, KernelContext &context,
                      Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(Op op, functionOf<Op>(call.attributes));
  withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    mapUnary<C>(context, inputs[0], outputs[0], cheapGrain,
                [&op](C x) { return static_cast<C>(op(x)); });
  });
  return absl::OkStatus();
}

/// A kernel of two broadcast operands of one type.
template <typename Op>
absl::Status runBinary(const KernelCall &call, KernelContext &context,
                       Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(Op op, functionOf<Op>(call.attributes));
  withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    mapBinary<C>(context, inputs, outputs[0],
                 [&op](C a, C b) { return static_cast<C>(op(a, b)); });
  });
  return absl::OkStatus();
}

} // namespace sol::ops

#endif // SOL_RUNTIME_CPU_TENSOR_OPS_ELEMENTWISE_MAPS_H
