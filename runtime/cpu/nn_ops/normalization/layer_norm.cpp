//===- layer_norm.cpp - layer and RMS norms -------------------------------===//
//
// Statistics in float32 (float64 for float64 operands), lane sums. The
// standardized row is rounded to its type before it is scaled, as the text
// says.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/normalization/families.h"
#include "runtime/cpu/nn_ops/normalization/norm_row.h"
#include "runtime/cpu/nn_ops/normalization/rows.h"

namespace sol::nn {
namespace {

struct NormCall {
  int64_t axis = 0, rows = 1, length = 1;
  float epsilon = 0;
  bool isRms = false;
  DType statistics = DType::F32;
  StretchedRow scale, bias;
};

absl::StatusOr<NormCall> describe(const KernelCall &call, Inputs in,
                                  bool isRms) {
  NormCall norm;
  norm.isRms = isRms;
  SOL_NN_TRY(checkCount(in, 2, isRms ? 2 : 3));
  SOL_NN_TRY(checkFloat(in[0], "X"));
  SOL_NN_TRY(checkFloat(in[1], "scale"));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));
  SOL_NN_ASSIGN(norm.axis, frontAxis(axis, in[0].rank()));
  SOL_NN_ASSIGN(norm.epsilon, call.attributes.real("epsilon", 1e-5f));
  SOL_NN_ASSIGN(int64_t stash, call.attributes.integer("stash_type", 1));
  if (stash != 1 && stash != 10 && stash != 11 && stash != 16)
    return invalid("attribute `stash_type` is ", stash,
                   ", must be 1 (float32), 10, 11 or 16");
  norm.statistics = stash == 16                               ? DType::BF16
                    : in[0].type == DType::F64 && stash == 11 ? DType::F64
                                                              : DType::F32;
  norm.rows = product(in[0].dims, 0, norm.axis);
  norm.length = product(in[0].dims, norm.axis, in[0].dims.size());
  SOL_NN_ASSIGN(norm.scale,
                StretchedRow::create(&in[1], "scale", in[0].dims, norm.axis));
  const Tensor *bias = operandAt(in, 2);
  if (bias)
    SOL_NN_TRY(checkFloat(*bias, "B"));
  SOL_NN_ASSIGN(norm.bias,
                StretchedRow::create(bias, "B", in[0].dims, norm.axis));
  return norm;
}

absl::Status inferNorm(const KernelCall &call, Inputs in, Outputs out,
                       bool isRms, DType outType) {
  SOL_NN_ASSIGN(NormCall norm, describe(call, in, isRms));
  SOL_NN_TRY(setOutput(out, 0, outType, in[0].dims));
  Dims reduced = in[0].dims;
  std::fill(reduced.begin() + norm.axis, reduced.end(), 1);
  for (size_t i : {1, 2})
    SOL_NN_TRY(setOutput(out, i, norm.statistics, reduced));
  return absl::OkStatus();
}

template <typename T>
absl::Status runNorm(const NormCall &norm, KernelContext &context, Inputs in,
                     Outputs out) {
  int64_t length = norm.length;
  T *scaleRowShared = nullptr, *biasRowShared = nullptr;
  auto setup = [&](T *shared) {
    scaleRowShared = shared;
    biasRowShared = shared + norm.scale.size();
    norm.scale.load(scaleRowShared);
    norm.bias.load(biasRowShared);
  };
  auto body = [&](int64_t row, T *own) {
    loadRow(in[0], row * length, length, own);
    RowMoments<T> moments = norm.isRms
                                ? rmsNormalizeRow(own, length, T(norm.epsilon))
                                : standardizeRow(own, length, T(norm.epsilon));
    const T *scale = norm.scale.row(row, scaleRowShared, own + length);
    const T *bias = norm.bias.present()
                        ? norm.bias.row(row, biasRowShared, own + 2 * length)
                        : nullptr;
    scaleRow(in[0].type, own, length, scale, bias);
    storeRow(own, length, out[0], row * length);
    // RMS norms have no mean: their second output is the inverse as well.
    if (Tensor *mean = outputAt(out, 1))
      storeRow(norm.isRms ? &moments.inverseDeviation : &moments.mean, 1, *mean,
               row);
    if (Tensor *inverse = outputAt(out, 2))
      storeRow(&moments.inverseDeviation, 1, *inverse, row);
  };
  return forRows<T>(context, norm.rows, 3 * length,
                    norm.scale.size() + norm.bias.size(), setup, body);
}

absl::Status run(const KernelCall &call, KernelContext &context, Inputs in,
                 Outputs out, bool isRms) {
  SOL_NN_ASSIGN(NormCall norm, describe(call, in, isRms));
  if (in[0].type == DType::F64)
    return runNorm<double>(norm, context, in, out);
  return runNorm<float>(norm, context, in, out);
}

absl::Status inferLayerNorm(const KernelCall &call, Inputs in, Outputs out) {
  return inferNorm(call, in, out, false, in.empty() ? DType::None : in[0].type);
}
absl::Status runLayerNorm(const KernelCall &call, KernelContext &context,
                          Inputs in, Outputs out) {
  return run(call, context, in, out, false);
}
/// The result has the scale's type, as RMSNormalization's text allows both.
absl::Status inferRmsNorm(const KernelCall &call, Inputs in, Outputs out) {
  return inferNorm(call, in, out, true,
                   in.size() < 2 ? DType::None : in[1].type);
}
absl::Status runRmsNorm(const KernelCall &call, KernelContext &context,
                        Inputs in, Outputs out) {
  return run(call, context, in, out, true);
}

} // namespace

void registerLayerNormKernels() {
  registerKernel(
      {"onnx.LayerNormalization", nullptr, inferLayerNorm, runLayerNorm});
  registerKernel({"onnx.RMSNormalization", nullptr, inferRmsNorm, runRmsNorm});
  registerKernel({"onnx.microsoft.SimplifiedLayerNormalization", nullptr,
                  inferRmsNorm, runRmsNorm});
}

} // namespace sol::nn
