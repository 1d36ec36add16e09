//===- simd_avx2.cpp - inner loops with AVX2, FMA and F16C --------------===//
//
// Compiled for x86-64-v3; only simd_select.cpp, which asks the processor, calls
// it. Includes nothing but C headers: see lanes.inc.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/simd/simd_kernels.h"

#include <stddef.h>
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>

namespace sol::simd {
namespace {
#include "runtime/cpu/fast/simd/lanes.inc"

#include "runtime/cpu/fast/simd/elementary.inc"

#include "runtime/cpu/fast/simd/attention.inc"
#include "runtime/cpu/fast/simd/product.inc"
#include "runtime/cpu/fast/simd/rows.inc"

#include "runtime/cpu/fast/simd/blocks.inc"

#include "runtime/cpu/fast/simd/table.inc"
} // namespace

extern const SimdKernels avx2Table;
const SimdKernels avx2Table = makeTable("avx2");

} // namespace sol::simd
#endif // __AVX2__
