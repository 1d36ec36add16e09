//===- rotary.h - rotating one head by tabulated angles -------------------===//
//
// The arithmetic of rotary embedding, for the operators of that name and for
// attention operators that rotate their own queries and keys.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_ATTENTION_ROTARY_H
#define SOL_RUNTIME_CPU_NN_OPS_ATTENTION_ROTARY_H

#include "runtime/cpu/nn_ops/elements.h"

namespace sol::nn {

/// Tables of cosines and sines, `half` of each in a row; the first 2 * half
/// elements of a head are rotated.
struct RotaryTable {
  const Tensor *cosines = nullptr, *sines = nullptr;
  int64_t half = 0;
  bool interleaved = false; ///< pairs are neighbours, not half a head apart

  /// Rotates `head` in place by row `tableRow`, which must be in the table.
  template <typename T> void rotate(int64_t tableRow, T *head) const {
    constexpr int64_t chunk = 64;
    T cosine[chunk], sine[chunk];
    for (int64_t first = 0; first < half; first += chunk) {
      int64_t count = std::min(chunk, half - first);
      loadRow(*cosines, tableRow * half + first, count, cosine);
      loadRow(*sines, tableRow * half + first, count, sine);
      for (int64_t i = 0; i < count; ++i) {
        T &x = head[interleaved ? 2 * (first + i) : first + i];
        T &y = head[interleaved ? 2 * (first + i) + 1 : first + i + half];
        T real = cosine[i] * x - sine[i] * y;
        T imaginary = sine[i] * x + cosine[i] * y;
        x = real;
        y = imaginary;
      }
    }
  }
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_ATTENTION_ROTARY_H
