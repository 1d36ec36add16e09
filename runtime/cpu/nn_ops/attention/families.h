//===- families.h - the attention kernels' registration functions ---------===//
//
// One line for each file of kernels in this folder.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_ATTENTION_FAMILIES_H
#define SOL_RUNTIME_CPU_NN_OPS_ATTENTION_FAMILIES_H

namespace sol::nn {

/// onnx.Attention.
void registerOnnxAttentionKernels();
/// onnx.RotaryEmbedding and onnx.microsoft.RotaryEmbedding.
void registerRotaryKernels();
/// onnx.microsoft.GroupQueryAttention.
void registerGroupQueryKernels();
/// onnx.microsoft.MultiHeadAttention and onnx.microsoft.Attention.
void registerMultiHeadKernels();

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_ATTENTION_FAMILIES_H
