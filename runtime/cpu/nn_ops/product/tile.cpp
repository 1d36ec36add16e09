//===- tile.cpp - the inner loop of every product -------------------------===//
//
// One body, compiled twice: for the machine that the build targets, where a
// fused multiply-add may be a library call, and for AVX2 with FMA, chosen at
// run time. Both give the same bits.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/product/tile.h"

#include <cstring>
#include <type_traits>

namespace sol::nn {
namespace {

// Thirty-two bytes of lanes: one AVX2 register, or two SSE2 ones.
template <typename T>
using Lanes = T __attribute__((ext_vector_type(32 / sizeof(T))));

template <typename T, int Rows>
[[gnu::always_inline]] inline void tileBody(int64_t depth, const T *left,
                                            int64_t leftStride, const T *panel,
                                            int64_t panelStride, T *out) {
  constexpr int perVector = 32 / sizeof(T);
  constexpr int vectors = panelWidth / perVector;
  Lanes<T> sums[Rows][vectors] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Lanes<T> right[vectors];
    std::memcpy(right, panel + k * panelStride, sizeof(right));
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      Lanes<T> factor = left[r * leftStride + k];
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        if constexpr (std::is_floating_point_v<T>)
          sums[r][v] = __builtin_elementwise_fma(factor, right[v], sums[r][v]);
        else
          sums[r][v] += factor * right[v];
      }
    }
  }
  std::memcpy(out, sums, sizeof(sums));
}

template <typename T>
[[gnu::always_inline]] inline void
rowsBody(int64_t rows, int64_t depth, const T *left, int64_t leftStride,
         const T *panel, int64_t panelStride, T *out) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4)
    tileBody<T, 4>(depth, left + r * leftStride, leftStride, panel, panelStride,
                   out + r * panelWidth);
  for (; r < rows; ++r)
    tileBody<T, 1>(depth, left + r * leftStride, leftStride, panel, panelStride,
                   out + r * panelWidth);
}

#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2,fma"))) void
rowsAvx2(int64_t rows, int64_t depth, const T *left, int64_t leftStride,
         const T *panel, int64_t panelStride, T *out) {
  rowsBody(rows, depth, left, leftStride, panel, panelStride, out);
}

bool hasAvx2() {
  static const bool known =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return known;
}
#endif

} // namespace

template <typename T>
void multiplyTile(int64_t rows, int64_t depth, const T *left,
                  int64_t leftStride, const T *panel, int64_t panelStride,
                  T *out) {
#if defined(__x86_64__)
  if (hasAvx2()) {
    rowsAvx2(rows, depth, left, leftStride, panel, panelStride, out);
    return;
  }
#endif
  rowsBody(rows, depth, left, leftStride, panel, panelStride, out);
}

template void multiplyTile(int64_t, int64_t, const float *, int64_t,
                           const float *, int64_t, float *);
template void multiplyTile(int64_t, int64_t, const double *, int64_t,
                           const double *, int64_t, double *);
template void multiplyTile(int64_t, int64_t, const uint32_t *, int64_t,
                           const uint32_t *, int64_t, uint32_t *);
template void multiplyTile(int64_t, int64_t, const uint64_t *, int64_t,
                           const uint64_t *, int64_t, uint64_t *);

} // namespace sol::nn
