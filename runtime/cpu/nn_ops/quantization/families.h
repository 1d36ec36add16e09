//===- families.h - the quantized kernels' registration functions ---------===//
//
// One line for each file of kernels in this folder.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_FAMILIES_H
#define SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_FAMILIES_H

namespace sol::nn {

/// QuantizeLinear and DequantizeLinear of both domains, DynamicQuantizeLinear.
void registerLinearQuantizationKernels();
/// MatMulNBits and GatherBlockQuantized.
void registerBlockQuantizedKernels();

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_FAMILIES_H
