//===- broadcast.cpp - shapes and steps of broadcast operands -------------===//
#include "runtime/cpu/tensor_ops/broadcast.h"

namespace sol::ops {

absl::StatusOr<Dims> broadcastAll(Inputs inputs) {
  Dims result;
  for (const Tensor &input : inputs) {
    SOL_NN_ASSIGN(result, nn::broadcastShapes(result, input.dims));
  }
  return result;
}

BroadcastPlan planBroadcast(absl::Span<const int64_t> shape, Inputs operands) {
  size_t rank = shape.size();
  // Steps per axis of the output, from the innermost.
  absl::InlinedVector<Dims, 3> full(operands.size(), Dims(rank, 0));
  for (size_t k = 0; k < operands.size(); ++k) {
    const Dims &dims = operands[k].dims;
    int64_t step = 1;
    for (size_t back = 1; back <= dims.size() && back <= rank; ++back) {
      int64_t dim = dims[dims.size() - back];
      full[k][rank - back] = dim == 1 ? 0 : step;
      step *= dim;
    }
  }
  // Merged axes are collected innermost first and turned round at the end.
  BroadcastPlan plan;
  plan.steps.resize(operands.size());
  for (size_t axis = rank; axis-- > 0;) {
    if (shape[axis] == 1)
      continue;
    bool merges = !plan.dims.empty();
    for (size_t k = 0; merges && k < operands.size(); ++k)
      merges = full[k][axis] == plan.steps[k].back() * plan.dims.back();
    if (merges) {
      plan.dims.back() *= shape[axis];
      continue;
    }
    plan.dims.push_back(shape[axis]);
    for (size_t k = 0; k < operands.size(); ++k)
      plan.steps[k].push_back(full[k][axis]);
  }
  if (plan.dims.empty()) {
    plan.dims.push_back(1);
    for (Dims &steps : plan.steps)
      steps.push_back(1);
  }
  std::reverse(plan.dims.begin(), plan.dims.end());
  for (Dims &steps : plan.steps)
    std::reverse(steps.begin(), steps.end());
  return plan;
}

} // namespace sol::ops
