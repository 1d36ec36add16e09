//===- ElementwiseRules.cpp - shapes of elementwise operators -------------===//
//
// Operators whose result has the shape of an operand or of the broadcast of all
// operands; and integer arithmetic on followed elements.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/rules/Rules.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace sol::nn {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

using ElementFunction = SymbolicSize (*)(ArrayRef<SymbolicSize> operands);

/// Position in an operand of shape `from` of the element at `index` (row-major)
/// of a result of shape `to`.
static int64_t broadcastIndex(int64_t index, ArrayRef<int64_t> to,
                              ArrayRef<int64_t> from) {
  int64_t position = 0, stride = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    int64_t coordinate = index % to[to.size() - 1 - i];
    index /= to[to.size() - 1 - i];
    if (i >= from.size())
      continue;
    int64_t size = from[from.size() - 1 - i];
    position += size == 1 ? 0 : coordinate * stride;
    stride *= size;
  }
  return position;
}

/// Applies `function` to followed elements; result 0 must have its sizes.
static void computeElements(Node &node, ElementFunction function) {
  const std::optional<Sizes> &result = node.resultSizes(0);
  std::optional<SmallVector<int64_t>> shape =
      result ? staticSizes(*result) : std::nullopt;
  SymbolicSize count = result ? elementCount(*result) : SymbolicSize();
  if (!shape || !count.constant() || *count.constant() > maxTrackedElements)
    return;
  unsigned operands = node.operandCount();
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<const Elements *> known;
  bool any = false;
  for (unsigned i = 0; i < operands; ++i) {
    std::optional<Sizes> sizes = node.operandSizes(i);
    std::optional<SmallVector<int64_t>> numbers =
        sizes ? staticSizes(*sizes) : std::nullopt;
    if (!numbers)
      return;
    shapes.push_back(*numbers);
    known.push_back(node.operandElements(i));
    any |= known.back() != nullptr;
  }
  if (!any)
    return;
  Elements elements;
  for (int64_t index = 0; index < *count.constant(); ++index) {
    SmallVector<SymbolicSize, 3> arguments(operands);
    for (unsigned i = 0; i < operands; ++i)
      if (known[i])
        arguments[i] = (*known[i])[broadcastIndex(index, *shape, shapes[i])];
    elements.push_back(function(arguments));
  }
  node.setElements(0, std::move(elements));
}

/// ONNX division rounds towards 0.
static SymbolicSize divide(ArrayRef<SymbolicSize> x) {
  if (x[0].constant() && x[1].constant()) {
    int64_t a = *x[0].constant(), b = *x[1].constant();
    bool overflows = b == -1 && a == INT64_MIN;
    return b == 0 || overflows ? SymbolicSize() : SymbolicSize(a / b);
  }
  SymbolicSize exact = x[0].exactDiv(x[1]);
  if (exact.isKnown())
    return exact;
  return x[0].isNonNegative() && x[1].isNonNegative()
             ? SymbolicSize::floorDiv(x[0], x[1])
             : SymbolicSize();
}

/// 1, 0 or unknown for a comparison given what is known of a - b.
static SymbolicSize isZero(const SymbolicSize &difference) {
  if (difference.isConstant(0))
    return 1;
  if (difference.lowerBound().value_or(0) > 0 ||
      difference.upperBound().value_or(0) < 0)
    return 0;
  return {};
}

static SymbolicSize isNegative(const SymbolicSize &difference) {
  if (difference.upperBound().value_or(0) < 0)
    return 1;
  return difference.isNonNegative() ? SymbolicSize(0) : SymbolicSize();
}

/// Not: of 0, 1 or unknown.
static SymbolicSize negate(const SymbolicSize &truth) {
  std::optional<int64_t> value = truth.constant();
  return value ? SymbolicSize(*value == 0) : SymbolicSize();
}

using In = ArrayRef<SymbolicSize>;
using ElementFunctions = llvm::StringMap<ElementFunction>;

static ElementFunctions arithmetic() {
  return {{"Add", [](In x) { return x[0] + x[1]; }},
          {"Sub", [](In x) { return x[0] - x[1]; }},
          {"Mul",
           [](In x) {
             bool isZero = x[0].isConstant(0) || x[1].isConstant(0);
             return isZero ? SymbolicSize(0) : x[0] * x[1];
           }},
          {"Div", divide},
          {"Mod",
           [](In x) {
             // Both meanings of the sign agree on numbers that are not
             // negative.
             return x[0].isNonNegative() && x[1].isPositive()
                        ? SymbolicSize::mod(x[0], x[1])
                        : SymbolicSize();
           }},
          {"Neg", [](In x) { return -x[0]; }},
          {"Abs",
           [](In x) {
             if (x[0].isNonNegative())
               return x[0];
             return x[0].upperBound().value_or(1) <= 0 ? -x[0] : SymbolicSize();
           }},
          {"Identity", [](In x) { return x[0]; }}};
}

/// Results are 1, 0 or unknown.
static ElementFunctions comparisons() {
  return {
      {"Equal", [](In x) { return isZero(x[0] - x[1]); }},
      {"Less", [](In x) { return isNegative(x[0] - x[1]); }},
      {"Greater", [](In x) { return isNegative(x[1] - x[0]); }},
      {"LessOrEqual", [](In x) { return negate(isNegative(x[1] - x[0])); }},
      {"GreaterOrEqual", [](In x) { return negate(isNegative(x[0] - x[1])); }},
      {"Not", [](In x) { return negate(x[0]); }},
      {"And",
       [](In x) {
         if (x[0].isConstant(0) || x[1].isConstant(0))
           return SymbolicSize(0);
         return x[0].isConstant(1)   ? x[1]
                : x[1].isConstant(1) ? x[0]
                                     : SymbolicSize();
       }},
      {"Or", [](In x) {
         if (x[0].isConstant(1) || x[1].isConstant(1))
           return SymbolicSize(1);
         return x[0].isConstant(0)   ? x[1]
                : x[1].isConstant(0) ? x[0]
                                     : SymbolicSize();
       }}};
}

static ElementFunctions choices() {
  return {{"Where",
           [](In x) {
             if (std::optional<int64_t> condition = x[0].constant())
               return *condition ? x[1] : x[2];
             return x[1] == x[2] ? x[1] : SymbolicSize();
           }},
          {"Max",
           [](In x) {
             SymbolicSize size = x[0];
             for (const SymbolicSize &other : x.drop_front())
               size = SymbolicSize::max(size, other);
             return size;
           }},
          {"Min",
           [](In x) {
             SymbolicSize size = x[0];
             for (const SymbolicSize &other : x.drop_front())
               size = SymbolicSize::min(size, other);
             return size;
           }},
          {"Sum", [](In x) {
             SymbolicSize size = 0;
             for (const SymbolicSize &other : x)
               size = size + other;
             return size;
           }}};
}

/// What an operator does to one element of each operand; null if not followed.
static ElementFunction elementFunction(StringRef name) {
  static const ElementFunctions tables[] = {arithmetic(), comparisons(),
                                            choices()};
  for (const ElementFunctions &table : tables)
    if (ElementFunction function = table.lookup(name))
      return function;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Results of the shape of the broadcast of all operands.
static void inferBroadcast(Node &node) {
  std::optional<Sizes> result = node.operandSizes(0);
  for (unsigned i = 1; i < node.operandCount() && result; ++i) {
    std::optional<Sizes> other = node.operandSizes(i);
    result = other ? node.broadcast(*result, *other) : std::nullopt;
  }
  node.setSizes(0, result);
  StringRef name = node->getName().stripDialect();
  if (ElementFunction function = elementFunction(name))
    computeElements(node, function);
}

/// All results have the shape of operand 0.
static void inferSame(Node &node) {
  for (unsigned i = 0; i < node->getNumResults(); ++i)
    node.setSizes(i, node.operandSizes(0));
}

/// As inferSame, with an axis that must be one of operand 0.
static void inferSameWithAxis(Node &node) {
  inferSame(node);
  if (std::optional<Sizes> sizes = node.operandSizes(0))
    if (!sizes->empty() || node.hasAttribute("axis"))
      node.axis(node.integer("axis", -1), static_cast<int64_t>(sizes->size()));
}

/// Same shape; operands after the first must broadcast into it.
static void inferUnidirectional(Node &node) {
  inferSame(node);
  std::optional<Sizes> sizes = node.operandSizes(0);
  for (unsigned i = 1; i < node.operandCount() && sizes; ++i)
    if (std::optional<Sizes> other = node.operandSizes(i)) {
      if (other->size() > sizes->size())
        node.error() << "has shape " << sizesText(*other)
                     << " to broadcast into " << sizesText(*sizes);
      else
        node.broadcast(*sizes, *other);
    }
}

static void inferCast(Node &node) {
  inferSame(node);
  auto tracked = [](Type type) {
    auto tensor = dyn_cast<ShapedType>(type);
    return tensor && isTrackedType(tensor.getElementType());
  };
  const Elements *known = node.operandElements(0);
  if (!known || !tracked(node->getResult(0).getType()))
    return;
  Elements elements = *known;
  auto type = cast<ShapedType>(node->getResult(0).getType());
  if (type.getElementType().isInteger(1))
    for (SymbolicSize &element : elements)
      element = negate(isZero(element));
  node.setElements(0, std::move(elements));
}

/// Results 0 as operand 0, the others rank-0 or as operand 0 (masks).
static void inferDynamicQuantize(Node &node) {
  node.setSizes(0, node.operandSizes(0));
  node.setSizes(1, Sizes{});
  node.setSizes(2, Sizes{});
}

static constexpr StringLiteral broadcastOperators[] = {
    "Add",       "Sub",         "Mul",      "Div",
    "Pow",       "Mod",         "And",      "Or",
    "Xor",       "Equal",       "Greater",  "GreaterOrEqual",
    "Less",      "LessOrEqual", "BitShift", "BitwiseAnd",
    "BitwiseOr", "BitwiseXor",  "Max",      "Min",
    "Sum",       "Mean",        "Where",    "Neg",
    "Abs",       "Identity",    "Not",      "microsoft.BiasGelu"};

static constexpr StringLiteral sameShapeOperators[] = {
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BitwiseNot",
    "Ceil",
    "Celu",
    "Cos",
    "Cosh",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "IsInf",
    "IsNaN",
    "LeakyRelu",
    "Log",
    "Mish",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "Clip",
    "ThresholdedRelu",
    "CastLike",
    "BitCast",
    "CumSum",
    "CumProd",
    "Trilu",
    "MeanVarianceNormalization",
    "LRN",
    "InstanceNormalization",
    "Dropout",
    "GroupNormalization",
    "Bernoulli",
    "RandomNormalLike",
    "EyeLike",
    "RandomUniformLike",
    "ReverseSequence",
    "ScatterElements",
    "ScatterND",
    "TensorScatter",
    "QuantizeLinear",
    "DequantizeLinear",
    "RMSNormalization",
    "microsoft.Gelu",
    "microsoft.FastGelu",
    "microsoft.QuickGelu",
    "microsoft.QuantizeLinear",
    "microsoft.DequantizeLinear",
    "RotaryEmbedding",
    "microsoft.RotaryEmbedding",
    "microsoft.QMoE",
    "microsoft.MoE"};

void addElementwiseRules(RuleTable &table) {
  for (StringRef name : broadcastOperators)
    table[("onnx." + name).str()] = inferBroadcast;
  for (StringRef name : sameShapeOperators)
    table[("onnx." + name).str()] = inferSame;
  for (StringRef name : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"})
    table[("onnx." + name).str()] = inferSameWithAxis;
  table["onnx.PRelu"] = inferUnidirectional;
  table["onnx.Cast"] = inferCast;
  table["onnx.DynamicQuantizeLinear"] = inferDynamicQuantize;
}

} // namespace sol::nn
