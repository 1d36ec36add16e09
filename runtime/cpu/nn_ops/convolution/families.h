//===- families.h - the convolution kernels' registration functions -------===//
//
// One line for each file of kernels in this folder.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_CONVOLUTION_FAMILIES_H
#define SOL_RUNTIME_CPU_NN_OPS_CONVOLUTION_FAMILIES_H

namespace sol::nn {

/// Conv, ConvTranspose, ConvInteger, QLinearConv.
void registerConvolutionKernels();
/// MaxPool, AveragePool, LpPool and the global pools.
void registerPoolKernels();

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_CONVOLUTION_FAMILIES_H
