//===- simd_portable.cpp - inner loops for any processor ----------------===//
//
// The compiler vectors of lanes.inc with multiply-adds emulated: slow, and the
// same bits.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/simd/simd_kernels.h"

#include <stddef.h>
#include <stdint.h>

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

extern const SimdKernels portableTable;
const SimdKernels portableTable = makeTable("portable");

} // namespace sol::simd
