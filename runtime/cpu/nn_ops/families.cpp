//===- families.cpp - registers the kernels of this folder ----------------===//
//
// The five families that kernel_families.h names, each from its folder's files.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/attention/families.h"
#include "runtime/cpu/kernel_families.h"
#include "runtime/cpu/nn_ops/convolution/families.h"
#include "runtime/cpu/nn_ops/experts/families.h"
#include "runtime/cpu/nn_ops/normalization/families.h"
#include "runtime/cpu/nn_ops/product/families.h"
#include "runtime/cpu/nn_ops/quantization/families.h"

namespace sol {

void registerProductKernels() {
  nn::registerMatMulKernels();
  nn::registerIntegerMatMulKernels();
  nn::registerConvolutionKernels();
  nn::registerPoolKernels();
}

void registerNormalizationKernels() {
  nn::registerLayerNormKernels();
  nn::registerSkipNormKernels();
  nn::registerChannelNormKernels();
  nn::registerAxisNormKernels();
  nn::registerGeluKernels();
  nn::registerLossKernels();
}

void registerAttentionKernels() {
  nn::registerOnnxAttentionKernels();
  nn::registerRotaryKernels();
  nn::registerGroupQueryKernels();
  nn::registerMultiHeadKernels();
}

void registerQuantizedKernels() {
  nn::registerLinearQuantizationKernels();
  nn::registerBlockQuantizedKernels();
}

void registerExpertKernels() { nn::registerExpertMixtureKernels(); }

} // namespace sol
