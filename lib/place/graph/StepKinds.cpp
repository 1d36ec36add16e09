//===- StepKinds.cpp - products, attention and experts as steps -----------===//
//
// The part of StepReader.h that knows about matrices and caches.
//
//===----------------------------------------------------------------------===//
#include "lib/place/graph/StepReader.h"

#include "dialects/nn/NnDialect.h"
#include "lib/nn/recognize/match/Match.h"
#include "lib/place/graph/WeightSource.h"

using namespace mlir;
using sol::nn::recognize::intAttr;
using sol::nn::recognize::isOnnx;
using sol::nn::recognize::operandOrNull;

namespace sol::place {

LogicalResult StepReader::setMatrix(Operation *op, Value matrix, Step &step) {
  std::optional<WeightSource> source = weightSource(matrix);
  if (!source)
    return refuse(op, "its matrix is not known before the run, or has elements "
                      "that are neither floats nor integers of 8 or 4 bits");
  step.format = source->format;
  step.table = source->key;
  step.scaleBytesPerElement = source->otherBytes / source->elements;
  return success();
}

LogicalResult StepReader::visitProduct(Operation *op, Value matrix, int64_t k,
                                       int64_t n, Value bias) {
  Step step;
  step.kind = StepKind::Product;
  step.k = k;
  step.n = n;
  step.parts = {n};
  if (failed(setMatrix(op, matrix, step)))
    return failure();
  if (bias && !isa<NoneType>(bias.getType()))
    if (std::optional<WeightSource> source = weightSource(bias))
      step.vectorBytes = source->bytes;
  producers[op->getResult(0)] = {addStep(op, step, inputsOf(op))};
  return success();
}

LogicalResult StepReader::visitTopK(Operation *op) {
  std::optional<int64_t> scores = elementsOf(op->getOperand(0));
  std::optional<int64_t> count = elementsOf(op->getResult(0));
  if (!scores || !count)
    return refuse(op, "how many it chooses is not known");
  Step step;
  step.kind = StepKind::Gather;
  step.n = *scores;
  step.passes = *count;
  int index = addStep(op, step, inputsOf(op));
  for (Value result : op->getResults()) {
    producers[result] = {index};
    chosen[result] = *count;
  }
  return success();
}

bool StepReader::visitExpertGather(Operation *op) {
  if (!isOnnx(op, "GatherND") && !isOnnx(op, "Gather"))
    return false;
  Value data = op->getOperand(0), which = op->getOperand(1);
  auto type = dyn_cast<RankedTensorType>(data.getType());
  auto count = chosen.find(which);
  if (!type || type.getRank() != 3 || !type.hasStaticShape() ||
      count == chosen.end() || !isKnownBeforeRun(data) ||
      intAttr(op, "axis", 0) != 0)
    return false;
  int64_t rows = count->second;
  producers[op->getResult(0)] = producers[which];
  expertMatrices[op->getResult(0)] = data;
  rowsAToken[op->getResult(0)] = rows;
  return true;
}

/// The chosen experts' matrices times a vector for each. A second product, of
/// what a first one gave, is summed over the experts: their weights may as well
/// be applied before it.
LogicalResult StepReader::visitExpertProduct(Operation *op, bool isLeft) {
  Value matrix = op->getOperand(isLeft ? 0 : 1);
  Value vector = op->getOperand(isLeft ? 1 : 0);
  auto type = cast<RankedTensorType>(expertMatrices.lookup(matrix).getType());
  Step step;
  step.kind = StepKind::Product;
  step.k = type.getDimSize(isLeft ? 2 : 1);
  step.n = type.getDimSize(isLeft ? 1 : 2);
  step.parts = {step.n};
  step.experts = type.getDimSize(0);
  step.active = std::min(rowsAToken.lookup(matrix), step.experts);
  step.sumsExperts = rowsAToken.contains(vector);
  if (failed(setMatrix(op, expertMatrices.lookup(matrix), step)))
    return failure();
  std::vector<int> inputs;
  for (Value operand : {vector, matrix})
    if (auto known = producers.find(operand); known != producers.end())
      for (int input : known->second)
        if (std::find(inputs.begin(), inputs.end(), input) == inputs.end())
          inputs.push_back(input);
  producers[op->getResult(0)] = {addStep(op, step, inputs)};
  if (!step.sumsExperts)
    rowsAToken[op->getResult(0)] = step.active;
  return success();
}

LogicalResult StepReader::visitMatMul(Operation *op) {
  for (bool isLeft : {true, false})
    if (expertMatrices.contains(op->getOperand(isLeft ? 0 : 1)))
      return visitExpertProduct(op, isLeft);
  Value matrix = op->getOperand(1);
  auto type = dyn_cast<RankedTensorType>(matrix.getType());
  if (isActive(matrix) || !type || type.getRank() != 2 ||
      !type.hasStaticShape())
    return refuse(op, "it is a product of two values that depend on the "
                      "tokens, and was not recognised as part of an attention");
  bool isTransposed = isOnnx(op, "Gemm") && intAttr(op, "transB", 0) != 0;
  Value bias = isOnnx(op, "Gemm") ? operandOrNull(op, 2) : Value();
  return visitProduct(op, matrix, type.getDimSize(isTransposed),
                      type.getDimSize(!isTransposed), bias);
}

/// com.microsoft.MatMulNBits: codes of a few bits, scales for each block.
LogicalResult StepReader::visitBlockProduct(Operation *op) {
  Step step;
  step.kind = StepKind::Product;
  step.k = intAttr(op, "K", 0);
  step.n = intAttr(op, "N", 0);
  step.parts = {step.n};
  int64_t bits = intAttr(op, "bits", 4);
  if (step.k < 1 || step.n < 1 || (bits != 4 && bits != 8))
    return refuse(op, "its matrix has " + Twine(bits) + " bits an element");
  std::optional<WeightSource> codes = weightSource(op->getOperand(1));
  if (!codes)
    return refuse(op, "its matrix is not known before the run");
  step.format = bits == 4 ? Format::Int4 : Format::Int8;
  step.table = codes->key;
  double other = 0;
  for (unsigned operand : {2u, 3u})
    if (Value value = operandOrNull(op, operand))
      if (std::optional<WeightSource> source = weightSource(value))
        other += source->bytes;
  step.scaleBytesPerElement =
      other / (static_cast<double>(step.k) * static_cast<double>(step.n));
  producers[op->getResult(0)] = {addStep(op, step, inputsOf(op))};
  return success();
}

LogicalResult StepReader::visitAttention(Operation *op) {
  auto attention = cast<nn::AttentionOp>(op);
  auto key = dyn_cast<nn::CacheType>(attention.getKey().getType());
  auto value = dyn_cast<nn::CacheType>(attention.getValue().getType());
  auto query = dyn_cast<RankedTensorType>(attention.getQuery().getType());
  if (!key || !value)
    return refuse(op, "it reads no cache of past positions, so it is no "
                      "decoder's step");
  if (!query || query.getRank() != 4)
    return refuse(op, "its query has no known shape");
  Step step;
  step.kind = StepKind::Attention;
  step.heads = query.getDimSize(1);
  step.kvHeads = key.getTensor().getDimSize(1);
  step.keySize = key.getTensor().getDimSize(3);
  step.valueSize = value.getTensor().getDimSize(3);
  for (int64_t size : {step.heads, step.kvHeads, step.keySize, step.valueSize})
    if (ShapedType::isDynamic(size))
      return refuse(op, "its heads are not known");
  step.n = step.heads * step.valueSize;
  step.window = attention.getWindow().value_or(0);
  // What is appended in this step is read in this step.
  producers[op->getResult(0)] = {addStep(op, step, inputsOf(op))};
  return success();
}

namespace {

/// What the attributes and types of an operator of experts say.
struct ExpertSizes {
  int64_t width = 0, scores = 0; ///< of a token, and of the router
  int64_t outputs = 0;           ///< of an expert's first matrix
  int64_t inner = 0;             ///< what its second matrix takes
  int64_t active = 1;
  bool isGated = false; ///< the first matrix holds gate and up
};

} // namespace

LogicalResult StepReader::setExperts(Operation *op, unsigned matrix,
                                     bool quantized, Step &step) {
  if (failed(setMatrix(op, op->getOperand(matrix), step)))
    return failure();
  if (!quantized)
    return success();
  step.format =
      intAttr(op, "expert_weight_bits", 4) == 8 ? Format::Int8 : Format::Int4;
  // Scales follow their matrix.
  Value scales = operandOrNull(op, matrix + 1);
  std::optional<WeightSource> source =
      scales ? weightSource(scales) : std::nullopt;
  step.scaleBytesPerElement =
      source ? source->bytes /
                   (static_cast<double>(step.k) * static_cast<double>(step.n) *
                    static_cast<double>(step.experts))
             : 0;
  return success();
}

/// com.microsoft.MoE and QMoE become: the choice among the router's scores, the
/// first products of the chosen experts, their gates, and the second products,
/// whose sums over experts are one sum.
LogicalResult StepReader::visitExperts(Operation *op, bool quantized) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(2).getType());
  std::optional<int64_t> width = elementsOf(op->getResult(0));
  std::optional<int64_t> scores = elementsOf(op->getOperand(1));
  if (!type || type.getRank() != 3 || !type.hasStaticShape() || !width ||
      !scores)
    return refuse(op, "the shapes of its experts are not known");
  Value third = operandOrNull(op, quantized ? 8 : 6);
  ExpertSizes sizes{*width, *scores, type.getDimSize(1), type.getDimSize(1)};
  sizes.isGated = intAttr(op, "swiglu_fusion", 0) != 0;
  sizes.inner = sizes.isGated ? sizes.outputs / 2 : sizes.outputs;
  sizes.active = std::clamp<int64_t>(intAttr(op, "k", 1), 1, *scores);
  auto inputsOfValue = [&](Value value) {
    auto known = producers.find(value);
    return known == producers.end()
               ? std::vector<int>()
               : std::vector<int>(known->second.begin(), known->second.end());
  };
  Step choice;
  choice.kind = StepKind::Gather;
  choice.n = sizes.scores;
  choice.passes = sizes.active;
  int choiceIndex = addStep(op, choice, inputsOfValue(op->getOperand(1)));

  Step up;
  up.kind = StepKind::Product;
  up.k = sizes.width;
  up.n = sizes.outputs + (third ? sizes.inner : 0);
  up.parts = third           ? std::vector<int64_t>{sizes.outputs, sizes.inner}
             : sizes.isGated ? std::vector<int64_t>{sizes.inner, sizes.inner}
                             : std::vector<int64_t>{sizes.outputs};
  up.experts = sizes.scores;
  up.active = sizes.active;
  if (failed(setExperts(op, 2, quantized, up)))
    return failure();
  std::vector<int> inputs = inputsOfValue(op->getOperand(0));
  inputs.push_back(choiceIndex);
  int upIndex = addStep(op, up, inputs);

  Step gate;
  gate.kind = StepKind::Local;
  gate.n = sizes.inner * sizes.active;
  gate.passes = 4; // the activation, its gate, and the expert's weight
  int gateIndex = addStep(op, gate, {upIndex});

  Step down = up;
  down.k = sizes.inner;
  down.n = sizes.width;
  down.parts = {sizes.width};
  down.sumsExperts = true;
  if (failed(setExperts(op, quantized ? 5 : 4, quantized, down)))
    return failure();
  producers[op->getResult(0)] = {addStep(op, down, {gateIndex})};
  return success();
}

} // namespace sol::place
