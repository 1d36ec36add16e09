//===- broadcast.h - NumPy's broadcasting as loops over rows --------------===//
//
// Axes over which every operand advances alike are merged, so that equal shapes
// are one row, and a bias or a scalar is a row with a step of 0 or 1.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_TENSOR_OPS_BROADCAST_H
#define SOL_RUNTIME_CPU_TENSOR_OPS_BROADCAST_H

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/tensor_ops/elements.h"

#include <algorithm>

namespace sol::ops {

using nn::invalid;

/// The shape that all present operands broadcast to.
absl::StatusOr<Dims> broadcastAll(Inputs inputs);

/// The loops that walk an output and the operands broadcast to it.
struct BroadcastPlan {
  Dims dims;                          ///< merged axes; at least one
  absl::InlinedVector<Dims, 3> steps; ///< for each operand, per merged axis

  int64_t row() const { return dims.back(); }
  /// 1, or 0 if the operand's element is the same along a row.
  int64_t step(size_t operand) const { return steps[operand].back(); }
};
/// `shape` is the output's; each operand must broadcast to it (its dims only
/// are read).
BroadcastPlan planBroadcast(absl::Span<const int64_t> shape, Inputs operands);

/// Calls `body(first, count, offsets)` for pieces of rows, at most `chunkSize`
/// elements each, that cover elements [begin, end) of the output: `first` is
/// the piece's place in the output, offsets[k] that of operand k's first
/// element.
template <typename Body>
void forEachPiece(const BroadcastPlan &plan, int64_t begin, int64_t end,
                  Body body) {
  size_t operands = plan.steps.size(), axes = plan.dims.size();
  absl::InlinedVector<int64_t, 8> place(axes), offsets(operands, 0);
  int64_t rest = begin;
  for (size_t axis = axes; axis-- > 0;) {
    place[axis] = rest % plan.dims[axis];
    rest /= plan.dims[axis];
    for (size_t k = 0; k < operands; ++k)
      offsets[k] += place[axis] * plan.steps[k][axis];
  }
  for (int64_t first = begin; first < end;) {
    int64_t count =
        std::min({end - first, plan.row() - place[axes - 1], chunkSize});
    body(first, count, offsets.data());
    first += count;
    // Advance like an odometer.
    place[axes - 1] += count;
    for (size_t k = 0; k < operands; ++k)
      offsets[k] += count * plan.steps[k][axes - 1];
    for (size_t axis = axes - 1; axis > 0 && place[axis] == plan.dims[axis];
         --axis) {
      place[axis] = 0;
      ++place[axis - 1];
      for (size_t k = 0; k < operands; ++k)
        offsets[k] +=
            plan.steps[k][axis - 1] - plan.dims[axis] * plan.steps[k][axis];
    }
  }
}

/// Elements that are worth another thread, for cheap operators. Even, so that
/// no two threads share a byte of packed elements.
inline constexpr int64_t cheapGrain = 32768;
inline constexpr int64_t costlyGrain = 4096;

/// `body(begin, end)` in parallel; a packed output's pieces begin at whole
/// bytes.
template <typename Body>
void parallelElements(KernelContext &context, const Tensor &output,
                      int64_t grain, Body body) {
  int64_t count = output.size();
  if (bitWidth(output.type) >= 8)
    return context.parallelFor(count, grain, body);
  context.parallelFor((count + 7) / 8, grain / 8,
                      [&](int64_t begin, int64_t end) {
                        body(begin * 8, std::min(end * 8, count));
                      });
}

} // namespace sol::ops

#endif // SOL_RUNTIME_CPU_TENSOR_OPS_BROADCAST_H
