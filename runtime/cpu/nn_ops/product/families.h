//===- families.h - the product kernels' registration functions -----------===//
//
// One line for each file of kernels in this folder.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_PRODUCT_FAMILIES_H
#define SOL_RUNTIME_CPU_NN_OPS_PRODUCT_FAMILIES_H

namespace sol::nn {

/// MatMul, Gemm, FusedMatMul, FusedGemm.
void registerMatMulKernels();
/// MatMulInteger, MatMulIntegerToFloat, DynamicQuantizeMatMul, QLinearMatMul.
void registerIntegerMatMulKernels();

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_PRODUCT_FAMILIES_H
