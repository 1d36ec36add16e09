//===- families.h - the fast kernels' registration functions --------------===//
//
// One line for each file of kernels in this folder.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_FAST_FAMILIES_H
#define SOL_RUNTIME_CPU_FAST_FAMILIES_H

namespace sol::fast {

/// nn.linear, nn.pack_panels.
void registerLinearKernels();
/// nn.embedding.
void registerEmbeddingKernel();
/// Float32 forms of onnx.MatMul, onnx.Gemm and onnx.microsoft.FusedMatMul over
/// the reference kernels, which keep all other types.
void registerMatMulOverrides();
/// Float32 form of onnx.microsoft.MatMulNBits with 4- and 8-bit codes.
void registerBlockQuantizedOverrides();
/// nn.rms_norm, nn.rotary, nn.gate.
void registerRowKernels();
/// nn.attention.
void registerAttentionKernel();
/// nn.cache_append, nn.cache_fill, nn.cache_write, nn.cache_length,
/// nn.cache_shape, nn.cache_read.
void registerCacheKernels();

} // namespace sol::fast

#endif // SOL_RUNTIME_CPU_FAST_FAMILIES_H
