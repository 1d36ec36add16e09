//===- StepReader.cpp - the steps of one function, operation by operation -===//
//
// See StepReader.h. Products, attention and experts are in StepKinds.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/place/graph/StepReader.h"

#include "dialects/nn/NnDialect.h"
#include "lib/nn/recognize/match/Match.h"
#include "lib/place/graph/WeightSource.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using sol::nn::recognize::intAttr;
using sol::nn::recognize::isOnnx;
using sol::nn::recognize::operandOrNull;

namespace sol::place {
namespace {

/// Operators that change where elements stand and nothing else: on a fabric the
/// order of columns is chosen so that they need not move. A Cast is one too:
/// formats are the target's.
bool isMovement(StringRef name) {
  static const llvm::StringSet<> names = {
      "Reshape", "Transpose", "Unsqueeze", "Squeeze",  "Slice",
      "Split",   "Concat",    "Identity",  "Flatten",  "Cast",
      "Gather",  "Expand",    "CastLike",  "GatherND", "Dropout"};
  return names.contains(name);
}

/// Operators on each element by itself.
bool isElementwise(StringRef name) {
  static const llvm::StringSet<> names = {"Add",
                                          "Sub",
                                          "Mul",
                                          "Div",
                                          "Pow",
                                          "Sqrt",
                                          "Neg",
                                          "Exp",
                                          "Tanh",
                                          "Sigmoid",
                                          "Relu",
                                          "Erf",
                                          "Clip",
                                          "Min",
                                          "Max",
                                          "Where",
                                          "Gelu",
                                          "Softplus",
                                          "HardSwish",
                                          "Abs",
                                          "LeakyRelu",
                                          "Swish",
                                          "Elu",
                                          "Mish",
                                          "Reciprocal",
                                          "Log",
                                          "Softsign",
                                          "DequantizeLinear",
                                          "QuantizeLinear",
                                          "ReduceSum"};
  return names.contains(name);
}

/// Operators on each element by itself, of com.microsoft.
bool isMicrosoftElementwise(StringRef name) {
  static const llvm::StringSet<> names = {
      "microsoft.Gelu", "microsoft.FastGelu", "microsoft.QuickGelu",
      "microsoft.BiasGelu"};
  return names.contains(name);
}

StringRef roleOf(func::FuncOp function, unsigned argument) {
  auto role = function.getArgAttrOfType<StringAttr>(argument, "nn.role");
  return role ? role.getValue() : StringRef();
}

std::string nodeOf(Operation *op) {
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    return name.getName().str();
  return op->getName().getStringRef().str();
}

} // namespace

LogicalResult StepReader::refuse(Operation *op, const Twine &why) const {
  return op->emitOpError() << "has no place on a fabric: " << why;
}

std::optional<int64_t> StepReader::elementsOf(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size)) {
      if (size < 1 || elements > INT64_MAX / size)
        return std::nullopt;
      elements *= size;
    }
  // Graphs of a fixed step length count all its tokens.
  return elements % tokensPerRun == 0 ? elements / tokensPerRun : elements;
}

std::vector<int> StepReader::inputsOf(Operation *op) const {
  std::vector<int> inputs;
  for (Value operand : op->getOperands()) {
    auto known = producers.find(operand);
    if (known == producers.end())
      continue;
    for (int step : known->second)
      if (std::find(inputs.begin(), inputs.end(), step) == inputs.end())
        inputs.push_back(step);
  }
  return inputs;
}

int StepReader::addStep(Operation *op, Step step, std::vector<int> inputs) {
  step.node = nodeOf(op);
  step.inputs = std::move(inputs);
  list.steps.push_back(std::move(step));
  int index = static_cast<int>(list.steps.size()) - 1;
  list.stepOf[op] = index;
  return index;
}

LogicalResult StepReader::findTokens() {
  for (BlockArgument argument : function.getArguments())
    if (roleOf(function, argument.getArgNumber()) == "tokens") {
      tokenIds[argument] = true;
      if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
        for (int64_t size : type.getShape())
          if (!ShapedType::isDynamic(size) && size > 0)
            tokensPerRun *= size;
    }
  if (tokenIds.empty())
    return function.emitOpError()
           << "has no input of tokens: only decoders of text are placed";
  return success();
}

bool StepReader::visitLookup(Operation *op) {
  bool isGather = isOnnx(op, "Gather") && intAttr(op, "axis", 0) == 0;
  if (!isGather && !isOnnx(op, "microsoft.GatherBlockQuantized"))
    return false;
  if (!tokenIds.contains(op->getOperand(1)) ||
      !isKnownBeforeRun(op->getOperand(0)))
    return false;
  auto table = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  std::optional<int64_t> width = elementsOf(op->getResult(0));
  if (!table || table.getRank() != 2 || !width)
    return false;
  Step step;
  step.kind = StepKind::Lookup;
  step.k = table.getDimSize(0);
  step.n = *width;
  if (failed(setMatrix(op, op->getOperand(0), step)))
    return false;
  producers[op->getResult(0)] = {addStep(op, step, {})};
  return true;
}

void StepReader::carryRows(Value from, Value to) {
  auto known = rowsAToken.find(from);
  if (known == rowsAToken.end())
    return;
  // A reshape may have put the rows where the type counts them.
  std::optional<int64_t> before = elementsOf(from), after = elementsOf(to);
  int64_t rows = known->second;
  if (before && after && *after == *before * rows)
    return;
  rowsAToken[to] = rows;
}

void StepReader::visitMovement(Operation *op) {
  std::vector<int> inputs = inputsOf(op);
  for (Value result : op->getResults()) {
    producers[result] = Producers(inputs.begin(), inputs.end());
    if (auto known = chosen.find(op->getOperand(0)); known != chosen.end()) {
      int64_t count = known->second;
      chosen[result] = count;
    }
    carryRows(op->getOperand(0), result);
  }
  list.stepOf[op] = inputs.back();
}

LogicalResult StepReader::visitLocal(Operation *op, int64_t passes) {
  Step step;
  step.kind = StepKind::Local;
  step.passes = passes;
  std::optional<int64_t> elements = elementsOf(op->getResult(0));
  if (!elements)
    return refuse(op, "the size of its result is not known");
  step.n = *elements;
  for (Value operand : op->getOperands()) {
    carryRows(operand, op->getResult(0));
    if (isActive(operand))
      continue;
    // A row of a table of positions needs the table.
    Operation *gather = operand.getDefiningOp();
    if (gather && isOnnx(gather, "Gather"))
      operand = gather->getOperand(0);
    if (std::optional<WeightSource> source = weightSource(operand))
      step.vectorBytes += source->bytes + source->otherBytes;
  }
  if (auto rows = rowsAToken.find(op->getResult(0)); rows != rowsAToken.end())
    step.n *= rows->second;
  producers[op->getResult(0)] = {addStep(op, step, inputsOf(op))};
  return success();
}

LogicalResult StepReader::visitNorm(Operation *op, int64_t words) {
  Step step;
  step.kind = StepKind::Norm;
  step.words = words;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  std::optional<int64_t> elements = elementsOf(op->getOperand(0));
  if (!type || !elements || type.getRank() == 0 ||
      ShapedType::isDynamic(type.getShape().back()))
    return refuse(op, "the size of what it normalises is not known");
  step.n = *elements;
  step.groups = *elements / type.getShape().back();
  for (Value operand : op->getOperands().drop_front())
    if (std::optional<WeightSource> source = weightSource(operand))
      step.vectorBytes += source->bytes + source->otherBytes;
  producers[op->getResult(0)] = {addStep(op, step, inputsOf(op))};
  return success();
}

LogicalResult StepReader::visitSkipNorm(Operation *op, int64_t words) {
  Step sum;
  sum.kind = StepKind::Local;
  std::optional<int64_t> elements = elementsOf(op->getOperand(0));
  if (!elements)
    return refuse(op, "the size of what it normalises is not known");
  sum.n = *elements;
  int sumIndex = addStep(op, sum, inputsOf(op));
  Step norm;
  norm.kind = StepKind::Norm;
  norm.n = *elements;
  norm.words = words;
  for (Value operand : op->getOperands().drop_front(2))
    if (std::optional<WeightSource> source = weightSource(operand))
      norm.vectorBytes += source->bytes + source->otherBytes;
  int normIndex = addStep(op, norm, {sumIndex});
  producers[op->getResult(0)] = {normIndex};
  for (Value result : op->getResults().drop_front())
    producers[result] = {sumIndex};
  return success();
}

LogicalResult StepReader::visitOnnx(Operation *op, StringRef name) {
  if (visitExpertGather(op))
    return success();
  if (isMovement(name)) {
    visitMovement(op);
    return success();
  }
  if (name == "TopK")
    return visitTopK(op);
  // Sizes are control, whatever they are sizes of.
  if (name == "Shape" || name == "Size")
    return success();
  if (isElementwise(name) || isMicrosoftElementwise(name))
    return visitLocal(op, 1);
  if (name == "MatMul" || name == "Gemm")
    return visitMatMul(op);
  if (name == "microsoft.MatMulNBits")
    return visitBlockProduct(op);
  if (name == "LayerNormalization")
    return visitNorm(op, 2);
  if (name == "RMSNormalization" || name == "SimplifiedLayerNormalization" ||
      name == "Softmax")
    return visitNorm(op, 1);
  if (name == "microsoft.SkipLayerNormalization")
    return visitSkipNorm(op, 2);
  if (name == "microsoft.SkipSimplifiedLayerNormalization")
    return visitSkipNorm(op, 1);
  if (name == "microsoft.MoE" || name == "microsoft.QMoE")
    return visitExperts(op, name == "microsoft.QMoE");
  return refuse(op, "nothing is known of how it would be spread over PEs");
}

LogicalResult StepReader::visit(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return success();
  StringRef name = op->getName().getStringRef();
  bool isOnnxOp = name.consume_front("onnx.");
  if (isOnnxOp && visitLookup(op))
    return success();
  if (isOnnxOp && isMovement(name) && op->getNumOperands() > 0 &&
      tokenIds.contains(op->getOperand(0)))
    for (Value result : op->getResults())
      tokenIds[result] = true;
  if (inputsOf(op).empty())
    return success();
  if (isOnnxOp)
    return visitOnnx(op, name);
  if (auto linear = dyn_cast<nn::LinearOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(linear.getWeight().getType());
    if (!type || type.getRank() != 2 || !type.hasStaticShape())
      return refuse(op, "its matrix has no fixed shape");
    bool isTransposed = linear.getTransposed();
    return visitProduct(op, linear.getWeight(), type.getDimSize(isTransposed),
                        type.getDimSize(!isTransposed), linear.getBias());
  }
  if (isa<nn::RmsNormOp>(op))
    return visitNorm(op, 1);
  if (isa<nn::GateOp, nn::RotaryOp>(op))
    return visitLocal(op, 3);
  if (isa<nn::AttentionOp>(op))
    return visitAttention(op);
  if (isa<nn::CacheAppendOp>(op)) {
    visitMovement(op);
    return success();
  }
  if (isa<nn::CacheLengthOp, nn::CacheShapeOp>(op))
    return success();
  return refuse(op, "nothing is known of how it would be spread over PEs");
}

LogicalResult StepReader::finishAtScores() {
  Operation *end = function.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    auto role = function.getResultAttrOfType<StringAttr>(index, "nn.role");
    if (!role || role.getValue() != "logits")
      continue;
    auto known = producers.find(value);
    std::optional<int64_t> scores = elementsOf(value);
    if (known == producers.end() || !scores)
      return end->emitOpError()
             << "gives scores that don't depend on the tokens";
    Step step;
    step.kind = StepKind::ArgMax;
    step.n = *scores;
    addStep(end, step,
            std::vector<int>(known->second.begin(), known->second.end()));
    return success();
  }
  return function.emitOpError()
         << "has no output of scores: only decoders of text are placed";
}

FailureOr<StepList> StepReader::read() {
  if (failed(findTokens()))
    return failure();
  for (Operation &op : function.getBody().front())
    if (failed(visit(&op)))
      return failure();
  if (failed(finishAtScores()))
    return failure();
  return std::move(list);
}

} // namespace sol::place
