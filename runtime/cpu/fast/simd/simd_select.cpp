//===- simd_select.cpp - which level this process uses --------------------===//
//
// Asks the processor once; SOL_CPU overrides it, for tests and comparisons.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/simd/simd_kernels.h"

#include <cstdlib>
#include <string_view>

namespace sol::simd {

extern const SimdKernels portableTable;
#if defined(__x86_64__)
extern const SimdKernels avx2Table;
#endif

const SimdKernels &portableKernels() { return portableTable; }

const SimdKernels *avx2Kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c"))
    return &avx2Table;
#endif
  return nullptr;
}

const SimdKernels &simdKernels() {
  static const SimdKernels &chosen = []() -> const SimdKernels & {
    const char *forced = std::getenv("SOL_CPU");
    const SimdKernels *avx2 = avx2Kernels();
    // A level that the processor lacks is not run, whatever was asked for.
    if (!avx2 || (forced && std::string_view(forced) == "portable"))
      return portableTable;
    return *avx2;
  }();
  return chosen;
}

} // namespace sol::simd
