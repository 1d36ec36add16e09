//===- gelu.cpp - ONNX Runtime's fused forms of GELU ----------------------===//
//
// BiasGelu and Gelu use the error function, FastGelu tanh, QuickGelu a sigmoid.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/activation.h"
#include "runtime/cpu/nn_ops/normalization/families.h"
#include "runtime/cpu/nn_ops/normalization/rows.h"

namespace sol::nn {
namespace {

absl::Status infer(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 2));
  SOL_NN_TRY(checkType(in[0], "X", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(call.attributes.real("alpha", 1.702f).status());
  if (const Tensor *bias = operandAt(in, 1)) {
    SOL_NN_TRY(checkSameType(*bias, "bias", in[0].type));
    SOL_NN_TRY(
        checkDims(*bias, "bias", {in[0].dims.empty() ? 1 : in[0].dims.back()}));
  }
  return setOutput(out, 0, in[0].type, in[0].dims);
}

/// BiasGelu without its bias is refused; the others take one operand.
absl::Status inferBias(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 2));
  return infer(call, in, out);
}
absl::Status inferPlain(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 1));
  return infer(call, in, out);
}

template <typename Function>
absl::Status runRows(KernelContext &context, Inputs in, Outputs out,
                     Function function) {
  int64_t width = in[0].dims.empty() ? 1 : in[0].dims.back();
  int64_t rows = width ? in[0].size() / width : 0;
  const Tensor *bias = operandAt(in, 1);
  float *added = nullptr;
  auto setup = [&](float *shared) {
    if (bias)
      loadRow(*bias, 0, width, added = shared);
  };
  auto body = [&](int64_t row, float *own) {
    loadRow(in[0], row * width, width, own);
    for (int64_t i = 0; added && i < width; ++i)
      own[i] += added[i];
    for (int64_t i = 0; i < width; ++i)
      own[i] = function(own[i]);
    storeRow(own, width, out[0], row * width);
  };
  return forRows<float>(context, rows, width, bias ? width : 0, setup, body);
}

absl::Status runExact(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out) {
  return runRows(context, in, out, [](float x) { return geluExact(x); });
}
absl::Status runTanh(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  return runRows(context, in, out, [](float x) { return geluTanh(x); });
}
absl::Status runSigmoid(const KernelCall &call, KernelContext &context,
                        Inputs in, Outputs out) {
  SOL_NN_ASSIGN(float alpha, call.attributes.real("alpha", 1.702f));
  return runRows(context, in, out,
                 [alpha](float x) { return swish(x, alpha); });
}

} // namespace

void registerGeluKernels() {
  registerKernel({"onnx.microsoft.BiasGelu", nullptr, inferBias, runExact});
  registerKernel({"onnx.microsoft.Gelu", nullptr, inferPlain, runExact});
  registerKernel({"onnx.microsoft.FastGelu", nullptr, infer, runTanh});
  registerKernel({"onnx.microsoft.QuickGelu", nullptr, inferPlain, runSigmoid});
}

} // namespace sol::nn
