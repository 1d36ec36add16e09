//===- reduction.h - what kernels along axes share ------------------------===//
//
// Sums along an axis use eight lanes by index modulo 8, combined in one fixed
// tree: the order depends on the index alone.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_TENSOR_OPS_REDUCTION_REDUCTION_H
#define SOL_RUNTIME_CPU_TENSOR_OPS_REDUCTION_REDUCTION_H

#include "runtime/cpu/tensor_ops/broadcast.h"
#include "runtime/cpu/tensor_ops/words.h"

namespace sol::ops {

/// The families that registerReductionKernels adds.
void registerReduceKernels();
void registerArgumentKernels();
void registerScanKernels();
void registerSoftmaxKernels();
void registerEinsumKernels();

/// A tensor seen along one axis: element (o, i, n) is at (o * count + i) *
/// inner + n.
struct AxisView {
  int64_t outer, count, inner;
  int64_t rows() const { return outer * inner; }
  /// Element 0 of row r; the next ones follow at distance `inner`.
  int64_t start(int64_t row) const {
    return row / inner * count * inner + row % inner;
  }
};
inline AxisView viewAlong(absl::Span<const int64_t> dims, int64_t axis) {
  return {nn::product(dims, 0, axis), dims[axis],
          nn::product(dims, axis + 1, dims.size())};
}

/// Rows of the view that are worth another thread.
inline int64_t rowGrain(const AxisView &view, int64_t elements) {
  return std::max<int64_t>(1, elements / std::max<int64_t>(1, view.count));
}

/// Loads or stores one row of the view.
template <typename C>
void loadRow(const Tensor &tensor, const AxisView &view, int64_t row,
             C *values) {
  int64_t start = view.start(row);
  if (view.inner == 1)
    return loadElements(tensor.type, tensor.data, start, view.count, values);
  for (int64_t i = 0; i < view.count; ++i)
    loadElements(tensor.type, tensor.data, start + i * view.inner, 1,
                 &values[i]);
}
template <typename C>
void storeRow(const C *values, Tensor &tensor, const AxisView &view,
              int64_t row) {
  int64_t start = view.start(row);
  if (view.inner == 1)
    return storeElements(tensor.type, values, view.count, tensor.data, start);
  for (int64_t i = 0; i < view.count; ++i)
    storeElements(tensor.type, &values[i], 1, tensor.data,
                  start + i * view.inner);
}

} // namespace sol::ops

#endif // SOL_RUNTIME_CPU_TENSOR_OPS_REDUCTION_REDUCTION_H
