//===- argument.cpp - ArgMax and ArgMin -----------------------------------===//
#include "runtime/cpu/tensor_ops/elementwise/maps.h"
#include "runtime/cpu/tensor_ops/reduction/reduction.h"

namespace sol::ops {

namespace {
absl::Status inferArgument(const KernelCall &call, Inputs inputs,
                           Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_TRY(checkDomain(inputs[0], "data", Domain::Numbers));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  SOL_NN_ASSIGN(int64_t keep, call.attributes.integer("keepdims", 1));
  Dims dims = inputs[0].dims;
  if (dims[axis] == 0)
    return invalid("axis ", axis, " is empty and has no extreme element");
  if (keep)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + axis);
  return nn::setOutput(outputs, 0, DType::I64, dims);
}

/// True if `a` beats `b`; NaN beats every number, as NumPy has it.
template <bool largest, typename C> bool beats(C a, C b) {
  return (largest ? a > b : a < b) || (a != a && b == b);
}

template <bool largest>
absl::Status runArgument(const KernelCall &call, KernelContext &context,
                         Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  SOL_NN_ASSIGN(int64_t last, call.attributes.integer("select_last_index", 0));
  const Tensor &input = inputs[0];
  AxisView view = viewAlong(input.dims, axis);
  int64_t *results = outputs[0].as<int64_t>();
  withArithmetic(input.type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    context.parallelFor(view.rows(), rowGrain(view, cheapGrain),
                        [&](int64_t begin, int64_t end) {
                          C buffer[chunkSize];
                          for (int64_t row = begin; row < end; ++row) {
                            C best = 0;
                            int64_t index = -1;
                            // By chunks where the row is contiguous, else by
                            // element.
                            int64_t piece = view.inner == 1 ? chunkSize : 1;
                            for (int64_t i = 0; i < view.count; i += piece) {
                              int64_t count = std::min(piece, view.count - i);
                              const C *x = viewElements(
                                  input, view.start(row) + i * view.inner,
                                  count, buffer);
                              for (int64_t j = 0; j < count; ++j)
                                if (index < 0 || beats<largest>(x[j], best) ||
                                    (last && !beats<largest>(best, x[j]))) {
                                  best = x[j];
                                  index = i + j;
                                }
                            }
                            results[row] = index;
                          }
                        });
  });
  return absl::OkStatus();
}
} // namespace

void registerArgumentKernels() {
  registerKernel({.name = "onnx.ArgMax",
                  .infer = inferArgument,
                  .run = runArgument<true>});
  registerKernel({.name = "onnx.ArgMin",
                  .infer = inferArgument,
                  .run = runArgument<false>});
}

} // namespace sol::ops
