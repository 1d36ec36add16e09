//===- movement.h - what the data movement kernels share ------------------===//
#ifndef SOL_RUNTIME_CPU_TENSOR_OPS_MOVEMENT_MOVEMENT_H
#define SOL_RUNTIME_CPU_TENSOR_OPS_MOVEMENT_MOVEMENT_H

#include "runtime/cpu/tensor_ops/words.h"

namespace sol::ops {

/// The families that registerMovementKernels adds.
void registerReshapeKernels();
void registerStridedKernels();
void registerJoinKernels();
void registerPadKernels();
void registerFillKernels();

/// Output 0 gets the bytes of input 0.
absl::Status runCopy(const KernelCall &call, KernelContext &context,
                     Inputs inputs, Outputs outputs);

} // namespace sol::ops

#endif // SOL_RUNTIME_CPU_TENSOR_OPS_MOVEMENT_MOVEMENT_H
