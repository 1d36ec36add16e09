//===- rows.h - one row after another, on all workers ---------------------===//
//
// Norms and other row-wise kernels compute in float32 or float64 on a copy of
// each row; this gives each worker its buffers. A parameter that is added to or
// multiplied with rows is kept as one shared row where it is the same for all.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_ROWS_H
#define SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_ROWS_H

#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

namespace sol::nn {

/// Calls `body(row, own)` for rows 0..rows-1; `own` is a buffer of `perRow`
/// elements that no other worker uses meanwhile. `setup(shared)` runs first and
/// fills `sharedCount` elements that all may read.
template <typename T>
absl::Status forRows(KernelContext &context, int64_t rows, int64_t perRow,
                     int64_t sharedCount, absl::FunctionRef<void(T *)> setup,
                     absl::FunctionRef<void(int64_t, T *)> body) {
  int64_t pieces = std::max<int64_t>(
      1, std::min<int64_t>(rows, 4 * int64_t(context.threadCount())));
  if (rows * perRow < 8192)
    pieces = 1;
  ScratchLayout layout;
  size_t shared = layout.add<T>(sharedCount);
  size_t own = layout.add<T>(pieces * perRow);
  SOL_NN_TRY(layout.take(context));
  setup(layout.at<T>(shared));
  auto work = [&](int64_t first, int64_t last) {
    for (int64_t piece = first; piece < last; ++piece)
      for (int64_t row = rows * piece / pieces,
                   end = rows * (piece + 1) / pieces;
           row < end; ++row)
        body(row, layout.at<T>(own) + piece * perRow);
  };
  if (pieces == 1)
    work(0, 1);
  else
    context.parallelFor(pieces, 1, work);
  return absl::OkStatus();
}

/// A parameter stretched over rows of `length` elements of a tensor.
class StretchedRow {
public:
  /// `tensor` must broadcast to `dims`, whose trailing axes from `axis` on are
  /// a row; null reads as absent.
  static absl::StatusOr<StretchedRow> create(const Tensor *tensor,
                                             std::string_view name,
                                             absl::Span<const int64_t> dims,
                                             int64_t axis) {
    StretchedRow result;
    result.tensor = tensor;
    if (!tensor)
      return result;
    result.shape.assign(dims.begin(), dims.end());
    SOL_NN_ASSIGN(result.steps, broadcastSteps(tensor->dims, dims, name));
    result.length = product(dims, axis, dims.size());
    for (int64_t i = 0; i < axis; ++i)
      result.same = result.same && result.steps[i] == 0;
    return result;
  }
  bool present() const { return tensor != nullptr; }
  /// Elements of buffer that `load` and `row` want.
  int64_t size() const { return tensor ? length : 0; }
  /// Fills the shared buffer if the row is the same for all.
  template <typename T> void load(T *buffer) const {
    if (tensor && same)
      fill(0, buffer);
  }
  /// The row's values: the shared buffer, or `own` filled.
  template <typename T>
  const T *row(int64_t number, const T *shared, T *own) const {
    if (same)
      return shared;
    fill(number, own);
    return own;
  }

private:
  template <typename T> void fill(int64_t number, T *buffer) const {
    for (int64_t i = 0; i < length; ++i)
      loadRow(*tensor, steppedOffset(number * length + i, shape, steps), 1,
              buffer + i);
  }
  const Tensor *tensor = nullptr;
  Dims shape, steps;
  int64_t length = 0;
  bool same = true;
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_ROWS_H
