//===- norm_row.h - mean, variance and scaling of one row -----------------===//
//
// The arithmetic of layer and RMS norms, written once: lane sums, then one pass
// over the row.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_NORM_ROW_H
#define SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_NORM_ROW_H

#include "runtime/cpu/nn_ops/elements.h"

namespace sol::nn {

/// What a norm found out about a row.
template <typename T> struct RowMoments {
  T mean, inverseDeviation;
};

/// row = (row - mean) / sqrt(variance + epsilon).
template <typename T>
RowMoments<T> standardizeRow(T *row, int64_t count, T epsilon) {
  T mean = laneSum<T>(count, [&](int64_t i) { return row[i]; }) / T(count);
  for (int64_t i = 0; i < count; ++i)
    row[i] -= mean;
  T variance =
      laneSum<T>(count, [&](int64_t i) { return row[i] * row[i]; }) / T(count);
  T inverse = T(1) / std::sqrt(variance + epsilon);
  for (int64_t i = 0; i < count; ++i)
    row[i] *= inverse;
  return {mean, inverse};
}

/// row = row / sqrt(mean square + epsilon).
template <typename T>
RowMoments<T> rmsNormalizeRow(T *row, int64_t count, T epsilon) {
  T square =
      laneSum<T>(count, [&](int64_t i) { return row[i] * row[i]; }) / T(count);
  T root = std::sqrt(square + epsilon);
  for (int64_t i = 0; i < count; ++i)
    row[i] /= root;
  return {T(0), T(1) / root};
}

/// row = row * scale + bias, each step rounded to `type` as the operators' text
/// has it; `scale` and `bias` may be null.
template <typename T>
void scaleRow(DType type, T *row, int64_t count, const T *scale,
              const T *bias) {
  roundThrough(type, row, count);
  if (scale)
    for (int64_t i = 0; i < count; ++i)
      row[i] *= scale[i];
  if (!bias)
    return;
  roundThrough(type, row, count);
  for (int64_t i = 0; i < count; ++i)
    row[i] += bias[i];
}

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_NORM_ROW_H
