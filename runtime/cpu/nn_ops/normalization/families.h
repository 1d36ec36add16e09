//===- families.h - the norm kernels' registration functions --------------===//
//
// One line for each file of kernels in this folder.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_FAMILIES_H
#define SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_FAMILIES_H

namespace sol::nn {

/// LayerNormalization, RMSNormalization, SimplifiedLayerNormalization.
void registerLayerNormKernels();
/// SkipLayerNormalization, SkipSimplifiedLayerNormalization,
/// EmbedLayerNormalization.
void registerSkipNormKernels();
/// BatchNormalization, InstanceNormalization, GroupNormalization.
void registerChannelNormKernels();
/// LpNormalization, MeanVarianceNormalization, LRN.
void registerAxisNormKernels();
/// BiasGelu, FastGelu, QuickGelu, Gelu of com.microsoft.
void registerGeluKernels();
/// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
void registerLossKernels();

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_NORMALIZATION_FAMILIES_H
