//===- elements.h - rows of any element type as numbers to compute with ---===//
//
// Kernels here compute in float32 (for float32, float16 and bfloat16) or
// float64 and round once when they store. These helpers move rows between
// storage and that arithmetic.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_ELEMENTS_H
#define SOL_RUNTIME_CPU_NN_OPS_ELEMENTS_H

#include "runtime/cpu/number_formats.h"
#include "runtime/cpu/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace sol::nn {

/// Elements [first, first + count) as T (float or double).
template <typename T>
void loadRow(const Tensor &tensor, int64_t first, int64_t count, T *row) {
  if constexpr (std::is_same_v<T, float>) {
    if (tensor.type == DType::F32)
      std::copy_n(tensor.as<float>() + first, count, row);
    else
      loadAsF32(tensor.type, tensor.data, first, count, row);
  } else if (tensor.type == DType::F64) {
    std::copy_n(tensor.as<double>() + first, count, row);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      float value;
      loadAsF32(tensor.type, tensor.data, first + i, 1, &value);
      row[i] = value;
    }
  }
}

/// Stores a row of floats or doubles, each rounded once to the tensor's type.
template <typename T>
void storeRow(const T *row, int64_t count, Tensor &tensor, int64_t first) {
  if constexpr (std::is_same_v<T, float>) {
    if (tensor.type == DType::F32)
      std::copy_n(row, count, tensor.as<float>() + first);
    else
      storeFromF32(tensor.type, row, count, tensor.data, first);
  } else if (tensor.type == DType::F64) {
    std::copy_n(row, count, tensor.as<double>() + first);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      float value = roundToOdd(row[i]);
      storeFromF32(tensor.type, &value, 1, tensor.data, first + i);
    }
  }
}

/// Rounds values to a storage type and back, for operators whose text rounds
/// between their steps. Nothing to do for float32 and float64.
template <typename T> void roundThrough(DType type, T *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (type == DType::F16)
      row[i] = f16ToF32(f32ToF16(static_cast<float>(row[i])));
    else if (type == DType::BF16)
      row[i] = bf16ToF32(f32ToBf16(static_cast<float>(row[i])));
}

/// Sum of term(0..count-1): eight lanes by index modulo 8, combined pairwise,
/// so that trailing zeros change no bit and any vector width can do it.
template <typename T, typename Term>
[[gnu::always_inline]] inline T laneSum(int64_t count, Term term) {
  T lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int64_t lane = 0; lane < 8; ++lane)
      lanes[lane] += term(i + lane);
  for (; i < count; ++i)
    lanes[i % 8] += term(i);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_ELEMENTS_H
