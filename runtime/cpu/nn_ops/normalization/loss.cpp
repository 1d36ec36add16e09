//===- loss.cpp - losses of classes' scores -------------------------------===//
//
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, which models carry
// that were exported with their loss. Computed in float64, stored once; sums
// run in the order of the targets.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/normalization/families.h"
#include "runtime/cpu/nn_ops/operands.h"

#include <limits>

namespace sol::nn {
namespace {

enum class Reduction { None, Sum, Mean };

/// Scores are batch x classes x places, targets batch x places.
struct LossCall {
  int64_t batch = 0, classes = 0, places = 0;
  Reduction reduction = Reduction::Mean;
  bool ignores = false;
  int64_t ignored = 0;
  Dims lossDims;
};

double numberAt(const Tensor &tensor, int64_t index) {
  double value;
  loadRow(tensor, index, 1, &value);
  return value;
}

void storeNumber(double value, Tensor &tensor, int64_t index) {
  if (tensor.type == DType::F64)
    return storeRow(&value, 1, tensor, index);
  float rounded = static_cast<float>(value);
  storeRow(&rounded, 1, tensor, index);
}

int64_t targetAt(const Tensor &targets, int64_t index) {
  return targets.type == DType::I32 ? targets.as<int32_t>()[index]
                                    : targets.as<int64_t>()[index];
}

absl::StatusOr<LossCall> describe(const KernelCall &call, Inputs in) {
  LossCall loss;
  SOL_NN_TRY(checkCount(in, 2, 3));
  SOL_NN_TRY(checkFloat(in[0], "scores"));
  SOL_NN_TRY(checkRank(in[0], "scores", 2, 16));
  SOL_NN_TRY(checkType(in[1], "target", {DType::I32, DType::I64}));
  loss.batch = in[0].dims[0];
  loss.classes = in[0].dims[1];
  loss.places = product(in[0].dims, 2, in[0].dims.size());
  Dims targets = in[0].dims;
  targets.erase(targets.begin() + 1);
  SOL_NN_TRY(checkDims(in[1], "target", targets));
  if (const Tensor *weights = operandAt(in, 2)) {
    SOL_NN_TRY(checkSameType(*weights, "weight", in[0].type));
    SOL_NN_TRY(checkDims(*weights, "weight", {loss.classes}));
  }
  SOL_NN_ASSIGN(std::string reduction,
                call.attributes.text("reduction", "mean"));
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return invalid("attribute `reduction` is `", reduction,
                   "`, must be `none`, `sum` or `mean`");
  loss.reduction = reduction == "none"  ? Reduction::None
                   : reduction == "sum" ? Reduction::Sum
                                        : Reduction::Mean;
  loss.ignores = call.attributes.has("ignore_index");
  SOL_NN_ASSIGN(loss.ignored, call.attributes.integer("ignore_index", 0));
  if (loss.reduction == Reduction::None)
    loss.lossDims = std::move(targets);
  return loss;
}

/// Output 1 is the logarithms of SoftmaxCrossEntropyLoss.
absl::Status infer(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(LossCall loss, describe(call, in));
  SOL_NN_TRY(setOutput(out, 0, in[0].type, loss.lossDims));
  return setOutput(out, 1, in[0].type, in[0].dims);
}

/// The loss (nowhere if the model doesn't use it), given the logarithm of a
/// probability at an index of the scores.
template <typename LogAt>
absl::Status reduceLoss(const LossCall &loss, Inputs in, Tensor *out,
                        LogAt logAt) {
  const Tensor *weights = operandAt(in, 2);
  double sum = 0, total = 0;
  for (int64_t i = 0; i < loss.batch * loss.places; ++i) {
    int64_t target = targetAt(in[1], i);
    double value = 0;
    if (!loss.ignores || target != loss.ignored) {
      if (target < 0 || target >= loss.classes)
        return outOfRange("operand `target` holds class ", target,
                          ", must lie in [0, ", loss.classes, ")");
      double weight = weights ? numberAt(*weights, target) : 1;
      int64_t first = i / loss.places * loss.classes * loss.places;
      value =
          -weight * logAt(first + target * loss.places + i % loss.places, i);
      total += weight;
    }
    if (out && loss.reduction == Reduction::None)
      storeNumber(value, *out, i);
    sum += value;
  }
  if (out && loss.reduction == Reduction::Sum)
    storeNumber(sum, *out, 0);
  if (out && loss.reduction == Reduction::Mean)
    storeNumber(total != 0 ? sum / total
                           : std::numeric_limits<double>::quiet_NaN(),
                *out, 0);
  return absl::OkStatus();
}

absl::Status runLikelihood(const KernelCall &call, KernelContext &, Inputs in,
                           Outputs out) {
  SOL_NN_ASSIGN(LossCall loss, describe(call, in));
  return reduceLoss(loss, in, outputAt(out, 0),
                    [&](int64_t at, int64_t) { return numberAt(in[0], at); });
}

/// The logarithm of the sum of exponentials over the classes of place `i`.
double logOfSum(const LossCall &loss, const Tensor &scores, int64_t i) {
  int64_t first =
      i / loss.places * loss.classes * loss.places + i % loss.places;
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t c = 0; c < loss.classes; ++c)
    most = std::max(most, numberAt(scores, first + c * loss.places));
  for (int64_t c = 0; c < loss.classes; ++c)
    sum += elementary::exp(numberAt(scores, first + c * loss.places) - most);
  return most + elementary::log(sum);
}

absl::Status runCrossEntropy(const KernelCall &call, KernelContext &context,
                             Inputs in, Outputs out) {
  SOL_NN_ASSIGN(LossCall loss, describe(call, in));
  int64_t count = loss.batch * loss.places;
  auto *logs = static_cast<double *>(
      context.scratch(sizeof(double) * static_cast<size_t>(count)));
  if (!logs)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", count, " sums"));
  Tensor *all = outputAt(out, 1);
  context.parallelFor(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      logs[i] = logOfSum(loss, in[0], i);
      int64_t first =
          i / loss.places * loss.classes * loss.places + i % loss.places;
      for (int64_t c = 0; all && c < loss.classes; ++c)
        storeNumber(numberAt(in[0], first + c * loss.places) - logs[i], *all,
                    first + c * loss.places);
    }
  });
  return reduceLoss(loss, in, outputAt(out, 0), [&](int64_t at, int64_t i) {
    return numberAt(in[0], at) - logs[i];
  });
}

} // namespace

void registerLossKernels() {
  registerKernel(
      {"onnx.NegativeLogLikelihoodLoss", nullptr, infer, runLikelihood});
  registerKernel(
      {"onnx.SoftmaxCrossEntropyLoss", nullptr, infer, runCrossEntropy});
}

} // namespace sol::nn
