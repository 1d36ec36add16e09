//===- families.h - the expert kernels' registration function -------------===//
//
// One line for each file of kernels in this folder.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_EXPERTS_FAMILIES_H
#define SOL_RUNTIME_CPU_NN_OPS_EXPERTS_FAMILIES_H

namespace sol::nn {

/// MoE and QMoE of com.microsoft.
void registerExpertMixtureKernels();

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_EXPERTS_FAMILIES_H
