//===- register.cpp - adds the fast kernels to the registry ---------------===//
//
// After the reference kernels, some of which these hide.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/families.h"
#include "runtime/cpu/kernel_families.h"

namespace sol {

void registerFastKernels() {
  fast::registerEmbeddingKernel();
  fast::registerLinearKernels();
  fast::registerMatMulOverrides();
  fast::registerBlockQuantizedOverrides();
  fast::registerRowKernels();
  fast::registerAttentionKernel();
  fast::registerCacheKernels();
}

} // namespace sol
