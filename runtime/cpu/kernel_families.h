//===- kernel_families.h - the families that registerAllKernels adds ------===//
//
// One line for each family of kernels; a new family adds its line here and a
// call in kernel.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_KERNEL_FAMILIES_H
#define SOL_RUNTIME_CPU_KERNEL_FAMILIES_H

namespace sol {

// runtime/cpu/tensor_ops: elementwise, reductions, data movement, indexing.
void registerElementwiseKernels();
void registerReductionKernels();
void registerMovementKernels();
void registerIndexingKernels();
void registerConversionKernels();
// runtime/cpu/nn_ops: products, convolution, normalisation, attention,
// rotary embedding, quantized operators, experts, as ONNX and com.microsoft
// define them: the readable reference.
void registerProductKernels();
void registerNormalizationKernels();
void registerAttentionKernels();
void registerQuantizedKernels();
void registerExpertKernels();
// runtime/cpu/fast: the kernels of `nn.*` operators, SIMD.
void registerFastKernels();

} // namespace sol

#endif // SOL_RUNTIME_CPU_KERNEL_FAMILIES_H
