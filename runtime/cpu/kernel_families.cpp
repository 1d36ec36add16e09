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
    registerElementwiseKernels();
    registerReductionKernels();
    registerMovementKernels();
    registerIndexingKernels();
    registerConversionKernels();
    registerProductKernels();
    registerNormalizationKernels();
    registerAttentionKernels();
    registerQuantizedKernels();
    registerExpertKernels();
    registerFastKernels();
  });
}

} // namespace sol
