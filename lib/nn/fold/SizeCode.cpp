//===- SizeCode.cpp - operators that compute symbolic sizes ---------------===//
//
// Sums, products and the other functions of sizes, over Shape of arguments.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/fold/SizeCode.h"

#include "dialects/nn/NnDialect.h"

using namespace mlir;

namespace sol::nn {

SizeCode::SizeCode(func::FuncOp function)
    : builder(function.getContext()), location(function.getLoc()) {
  builder.setInsertionPointToStart(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    for (auto [axis, size] : llvm::enumerate(*sizesOf(type))) {
      if (!size.isKnown() || size.constant())
        continue;
      // Of several, the one of lowest rank: inputs rather than caches.
      auto [it, isNew] = bound.try_emplace(size.text(), argument, axis);
      auto other = cast<RankedTensorType>(it->second.first.getType());
      if (!isNew && type.getRank() < other.getRank())
        it->second = {argument, axis};
    }
  }
}

Value SizeCode::operation(StringRef name, ValueRange operands,
                          ArrayRef<int64_t> shape, Type element,
                          ArrayRef<NamedAttribute> attributes) {
  OperationState state(location, ("onnx." + name).str());
  state.addOperands(operands);
  state.addTypes(RankedTensorType::get(shape, element));
  state.addAttributes(attributes);
  state.addAttribute(marker, builder.getUnitAttr());
  return builder.create(state)->getResult(0);
}

Value SizeCode::constant(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getI64Type());
  return ConstantOp::create(builder, location, type,
                            DenseElementsAttr::get(type, values));
}

Value SizeCode::single(const SymbolicSize &size) {
  std::string text = size.text();
  if (Value known = made.lookup(text))
    return known;
  Value value = compute(size);
  if (value)
    made[text] = value;
  return value;
}

static StringRef binaryOperator(SizeStep::Kind kind) {
  switch (kind) {
  case SizeStep::Add:
    return "Add";
  case SizeStep::Mul:
    return "Mul";
  case SizeStep::FloorDiv:
    return "Div";
  case SizeStep::Mod:
    return "Mod";
  case SizeStep::Max:
    return "Max";
  case SizeStep::Min:
    return "Min";
  default:
    return "";
  }
}

Value SizeCode::compute(const SymbolicSize &size) {
  if (std::optional<int64_t> number = size.constant())
    return constant(*number);
  Type i64 = builder.getI64Type();
  if (auto it = bound.find(size.text()); it != bound.end()) {
    auto [argument, axis] = it->second;
    return operation(
        "Shape", argument, {1}, i64,
        {builder.getNamedAttr("start", builder.getI64IntegerAttr(axis)),
         builder.getNamedAttr("end", builder.getI64IntegerAttr(axis + 1))});
  }
  if (size.asSymbol())
    return {};
  SmallVector<Value> stack;
  // ONNX division rounds towards 0, which is floor for numbers >= 0 only; all
  // intermediate results are checked by the sign of the whole and of symbols.
  for (const SizeStep &step : size.postfix()) {
    if (step.kind == SizeStep::Constant) {
      stack.push_back(single(step.value));
    } else if (step.kind == SizeStep::Symbol) {
      stack.push_back(single(SymbolicSize::symbol(step.symbol)));
    } else {
      StringRef name = binaryOperator(step.kind);
      if (name.empty())
        return {};
      Value right = stack.pop_back_val(), left = stack.pop_back_val();
      stack.push_back(operation(name, {left, right}, {1}, i64));
    }
    if (!stack.back())
      return {};
  }
  return stack.empty() ? Value() : stack.back();
}

/// True if every symbol is an argument's and no operator could round otherwise.
static bool isComputable(const SymbolicSize &size,
                         llvm::function_ref<bool(StringRef)> isBound) {
  if (!size.isKnown())
    return false;
  if (isBound(size.text()))
    return true;
  bool allBound = true;
  size.forEachSymbol([&](StringRef name) {
    allBound &= isBound(SymbolicSize::symbol(name).text());
  });
  for (const SizeStep &step : size.postfix())
    allBound &= step.kind != SizeStep::CeilDiv && step.kind != SizeStep::Mod &&
                step.kind != SizeStep::FloorDiv;
  return allBound;
}

Value SizeCode::create(const Elements &elements, RankedTensorType type) {
  auto isBound = [&](StringRef text) { return bound.contains(text); };
  if (!type.hasStaticShape() || type.getRank() > 1 || elements.empty())
    return {};
  std::string text;
  for (const SymbolicSize &element : elements) {
    if (!element.constant() && !isComputable(element, isBound))
      return {};
    text += element.text() + ";";
  }
  Type element = type.getElementType();
  std::string key = text + (element.isInteger(32) ? "i32" : "i64") +
                    std::to_string(type.getRank());
  if (Value known = made.lookup(key))
    return known;
  // Neighbouring numbers are one constant.
  SmallVector<Value> pieces;
  SmallVector<int64_t> numbers;
  auto flush = [&] {
    if (!numbers.empty())
      pieces.push_back(constant(numbers));
    numbers.clear();
  };
  for (const SymbolicSize &size : elements) {
    if (std::optional<int64_t> number = size.constant()) {
      numbers.push_back(*number);
      continue;
    }
    flush();
    pieces.push_back(single(size));
  }
  flush();
  Type i64 = builder.getI64Type();
  int64_t count = static_cast<int64_t>(elements.size());
  Value value = pieces[0];
  if (pieces.size() > 1)
    value =
        operation("Concat", pieces, {count}, i64,
                  builder.getNamedAttr("axis", builder.getI64IntegerAttr(0)));
  if (element.isInteger(32))
    value = operation("Cast", value, {count}, element,
                      builder.getNamedAttr("to", builder.getI64IntegerAttr(6)));
  if (type.getRank() == 0)
    value = operation("Squeeze", {value, constant(0)}, {}, element);
  return made[key] = value;
}

} // namespace sol::nn
