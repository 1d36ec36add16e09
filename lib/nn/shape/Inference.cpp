//===- Inference.cpp - shapes and elements of all values of a function ----===//
//
// One walk in program order; If, Loop and Scan are handled in
// RegionInference.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/InferenceState.h"

#include "dialects/nn/NnDialect.h"
#include "lib/support/Refusal.h"

#include <limits>

using namespace mlir;

namespace sol::nn {

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// The node's name, or the operation's where it has none.
static std::string nameOf(Location location, StringRef fallback) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location inner : fused.getLocations())
      if (auto name = dyn_cast<NameLoc>(inner))
        return name.getName().str();
  return fallback.str();
}

void InferenceState::noteSymbols(Type type, Region *owner) {
  if (std::optional<Sizes> sizes = sizesOf(type))
    for (const SymbolicSize &size : *sizes)
      size.forEachSymbol(
          [&](StringRef name) { owners.try_emplace(name, owner); });
}

void InferenceState::noteAllSymbols(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    noteSymbols(argument.getType(), &function.getBody());
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return;
    for (Type type : op->getResultTypes())
      noteSymbols(type, op->getParentRegion());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          noteSymbols(type, &region);
  });
}

SymbolicSize InferenceState::freshSymbol(const std::string &base,
                                         Region *owner) {
  std::string name = base;
  for (int i = 2; !owners.try_emplace(name, owner).second; ++i)
    name = base + "#" + std::to_string(i);
  return SymbolicSize::symbol(name);
}

SymbolicSize InferenceState::visibleIn(const SymbolicSize &size,
                                       Region *region) const {
  bool visible = true;
  size.forEachSymbol([&](StringRef name) {
    auto it = owners.find(name);
    visible &= it != owners.end() && it->second->isAncestor(region);
  });
  return visible ? size : SymbolicSize();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void InferenceState::setType(Value value, const std::optional<Sizes> &sizes,
                             const std::string &base) {
  auto type = dyn_cast<TensorType>(value.getType());
  if (!type || !sizes)
    return;
  std::optional<Sizes> before = sizesOf(type);
  if (before && before->size() != sizes->size())
    before.reset();
  Sizes merged;
  for (auto [axis, size] : llvm::enumerate(*sizes)) {
    SymbolicSize known = size;
    // What was proved before stays proved.
    if (before && precisionOf((*before)[axis]) > precisionOf(size))
      known = (*before)[axis];
    if (!known.isKnown() || known.constant().value_or(0) < 0)
      known = freshSymbol(base + "." + std::to_string(axis),
                          value.getParentRegion());
    merged.push_back(known);
  }
  value.setType(tensorType(merged, type.getElementType()));
}

/// Whether a number is one of the type; other elements may be anything.
static bool fits(const SymbolicSize &element, Type type) {
  std::optional<int64_t> number = element.constant();
  if (!number || type.isInteger(64))
    return true;
  if (type.isInteger(1))
    return *number == 0 || *number == 1;
  return *number >= std::numeric_limits<int32_t>::min() &&
         *number <= std::numeric_limits<int32_t>::max();
}

void InferenceState::setElements(Value value,
                                 const std::optional<Elements> &known) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!known || !type || !type.hasStaticShape() ||
      !isTrackedType(type.getElementType()) ||
      type.getNumElements() != static_cast<int64_t>(known->size()) ||
      known->size() > maxTrackedElements)
    return;
  Elements list = *known;
  for (SymbolicSize &element : list)
    if (!fits(element, type.getElementType()))
      element = SymbolicSize();
  if (llvm::any_of(list, [](const auto &e) { return e.isKnown(); }))
    elements[value] = std::move(list);
}

std::string InferenceState::baseName(Operation *op, unsigned result) const {
  std::string name = "@" + nameOf(op->getLoc(), op->getName().stripDialect());
  return result == 0 ? name : name + ":" + std::to_string(result);
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

void InferenceState::inferOperation(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "onnx.If")
    return inferIf(op);
  if (name == "onnx.Loop")
    return inferLoop(op);
  if (name == "onnx.Scan")
    return inferScan(op);
  auto rule = allRules().find(name);
  if (rule == allRules().end())
    return;
  Node node(op, elements);
  rule->second(node);
  failed |= node.hasFailed();
  if (node.hasFailed())
    return;
  for (OpResult result : op->getResults()) {
    unsigned index = result.getResultNumber();
    setType(result, node.resultSizes(index), baseName(op, index));
    setElements(result, node.resultElements(index));
  }
}

void InferenceState::inferBlock(Block &block) {
  for (Operation &op : block)
    inferOperation(&op);
}

/// Writes sizes in canonical form and names those without a name.
void InferenceState::inferArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      NnDialect::nameAttr);
    std::string base = name ? name.getValue().str()
                            : "input" + std::to_string(argument.getArgNumber());
    Sizes sizes = *sizesOf(type);
    for (auto [axis, size] : llvm::enumerate(sizes))
      if (!size.isKnown() || size.constant().value_or(0) < 0)
        size =
            freshSymbol(base + "." + std::to_string(axis), &function.getBody());
    argument.setType(tensorType(sizes, type.getElementType()));
  }
}

/// Reports a result whose shape contradicts what the model declares.
static LogicalResult checkDeclared(func::FuncOp function, unsigned index,
                                   Value value) {
  auto attribute = function.getResultAttrOfType<TypeAttr>(index, "nn.declared");
  auto declared = attribute ? dyn_cast<RankedTensorType>(attribute.getValue())
                            : RankedTensorType();
  auto actual = dyn_cast<RankedTensorType>(value.getType());
  if (!declared || !actual)
    return success();
  bool agrees = declared.getRank() == actual.getRank() &&
                declared.getElementType() == actual.getElementType();
  for (int64_t axis = 0; agrees && axis < actual.getRank(); ++axis)
    agrees = declared.isDynamicDim(axis) || actual.isDynamicDim(axis) ||
             declared.getDimSize(axis) == actual.getDimSize(axis);
  if (agrees)
    return success();
  auto name =
      function.getResultAttrOfType<StringAttr>(index, NnDialect::nameAttr);
  return emitError(value.getLoc())
         << "output `" << (name ? name.getValue() : "?") << "` is declared as "
         << declared << " but is " << actual;
}

LogicalResult InferenceState::run(func::FuncOp function) {
  if (function.isExternal())
    return success();
  noteAllSymbols(function);
  inferArguments(function);
  for (Block &block : function.getBody())
    inferBlock(block);
  auto end =
      dyn_cast<func::ReturnOp>(function.getBody().back().getTerminator());
  if (!end)
    return success(!failed);
  for (auto [index, value] : llvm::enumerate(end.getOperands()))
    failed |= mlir::failed(checkDeclared(function, index, value));
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     end.getOperandTypes()));
  return success(!failed);
}

LogicalResult inferShapes(func::FuncOp function, ElementFacts &elements) {
  elements.clear();
  InferenceState state(elements);
  if (succeeded(state.run(function)))
    return success();
  // Contradictions are in the model.
  if (auto module = function->getParentOfType<ModuleOp>())
    markRefused(module);
  return failure();
}

} // namespace sol::nn
