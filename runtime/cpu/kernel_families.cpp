//===- kernel_families.cpp - fills the registry ---------------------------===//
//
// Apart from kernel.cpp, because it alone refers to every family.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/kernel_families.h"
#include "runtime/cpu/kernel.h"

#include "absl/base/call_once.h"

namespace sol {

void registerAllKernels() {
  static absl::once_flag once;
  absl::call_once(once, [] {
#ifdef SOL_HAS_TENSOR_OPS
    registerElementwiseKernels();
    registerReductionKernels();
    registerMovementKernels();
    registerIndexingKernels();
    registerConversionKernels();
#endif
#ifdef SOL_HAS_NN_OPS
    registerProductKernels();
    registerNormalizationKernels();
    registerAttentionKernels();
    registerQuantizedKernels();
    registerExpertKernels();
#endif
#ifdef SOL_HAS_FAST
    registerFastKernels();
#endif
  });
}

} // namespace sol
