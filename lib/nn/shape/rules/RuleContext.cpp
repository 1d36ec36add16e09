//===- RuleContext.cpp - what rules read and state ------------------------===//
//
// Access to a node's operands and attributes, and the checks that many
// operators share.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/rules/Rules.h"

#include "lib/support/NodeText.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace sol::nn {

const RuleTable &allRules() {
  static const RuleTable table = [] {
    RuleTable rules;
    addElementwiseRules(rules);
    addReductionRules(rules);
    addMovementRules(rules);
    addIndexingRules(rules);
    addProductRules(rules);
    addAttentionRules(rules);
    addNnRules(rules);
    return rules;
  }();
  return table;
}

bool Node::hasOperand(unsigned index) const {
  return index < op->getNumOperands() &&
         !isa<NoneType>(op->getOperand(index).getType());
}

bool Node::hasResult(unsigned index) const {
  return index < op->getNumResults() &&
         !isa<NoneType>(op->getResult(index).getType());
}

std::optional<Sizes> Node::operandSizes(unsigned index) const {
  if (!hasOperand(index))
    return std::nullopt;
  return sizesOf(op->getOperand(index).getType());
}

const Elements *Node::operandElements(unsigned index) const {
  if (!hasOperand(index))
    return nullptr;
  auto it = facts.find(op->getOperand(index));
  return it == facts.end() ? nullptr : &it->second;
}

std::optional<SmallVector<int64_t>> Node::operandNumbers(unsigned index) const {
  const Elements *known = operandElements(index);
  return known ? staticSizes(*known) : std::nullopt;
}

std::optional<int64_t> Node::operandLength(unsigned index) const {
  std::optional<Sizes> known = operandSizes(index);
  if (!known || known->size() != 1)
    return std::nullopt;
  std::optional<int64_t> length = (*known)[0].constant();
  return length && *length <= maxTrackedElements ? length : std::nullopt;
}

int64_t Node::integer(StringRef name, int64_t fallback) const {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : fallback;
}

std::optional<ArrayRef<int64_t>> Node::integers(StringRef name) const {
  auto attribute = op->getAttrOfType<DenseI64ArrayAttr>(name);
  if (!attribute)
    return std::nullopt;
  return attribute.asArrayRef();
}

StringRef Node::text(StringRef name, StringRef fallback) const {
  auto attribute = op->getAttrOfType<StringAttr>(name);
  return attribute ? attribute.getValue() : fallback;
}

void Node::setSizes(unsigned index, std::optional<Sizes> value) {
  if (hasResult(index))
    sizes[index] = std::move(value);
}

void Node::setElements(unsigned index, Elements value) {
  if (hasResult(index))
    elements[index] = std::move(value);
}

InFlightDiagnostic Node::error() {
  failed = true;
  return op->emitError(nodeText(op)) << ": ";
}

std::optional<int64_t> Node::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  if (rank == 0)
    error() << "has axis " << axis << ", but its operand is a scalar";
  else
    error() << "has axis " << axis << ", but the axes of an operand of rank "
            << rank << " are " << -rank << " to " << rank - 1;
  return std::nullopt;
}

bool Node::requireRank(unsigned index, int64_t rank) {
  std::optional<Sizes> known = operandSizes(index);
  if (!known || static_cast<int64_t>(known->size()) == rank)
    return true;
  error() << "needs an operand " << index << " of rank " << rank
          << ", but it has shape " << sizesText(*known);
  return false;
}

int precisionOf(const SymbolicSize &size) {
  if (!size.isKnown())
    return 0;
  if (size.constant())
    return 3;
  bool dependsOnData = false;
  size.forEachSymbol(
      [&](StringRef name) { dependsOnData |= name.starts_with("@"); });
  return dependsOnData ? 1 : 2;
}

SymbolicSize Node::agree(const SymbolicSize &a, const SymbolicSize &b,
                         StringRef what) {
  std::optional<int64_t> first = a.constant(), second = b.constant();
  if (first && second && *first != *second)
    error() << what << " must be equal, got " << *first << " and " << *second;
  return precisionOf(b) > precisionOf(a) ? b : a;
}

/// Whether `a` is min(b, c, ..) with all others above 1. Then a broadcast of
/// both gives b: where they differ, `a` is neither 1 nor b, and the run refuses
/// it (a table of positions that is cut to the sequence's length).
static bool isCutOf(const SymbolicSize &a, const SymbolicSize &b) {
  std::vector<SymbolicSize> operands = a.minimumOf();
  return llvm::is_contained(operands, b) &&
         llvm::all_of(operands, [&](const SymbolicSize &other) {
           return other == b || other.lowerBound().value_or(0) > 1;
         });
}

SymbolicSize broadcastSize(const SymbolicSize &a, const SymbolicSize &b) {
  if (a == b || b.isConstant(1))
    return a;
  if (a.isConstant(1))
    return b;
  // A size that is never 1 is the result's: the other is 1 or the same.
  for (const SymbolicSize *size : {&a, &b})
    if (size->isKnown() &&
        (size->constant() || size->lowerBound().value_or(0) > 1))
      return *size;
  if (isCutOf(a, b))
    return b;
  if (isCutOf(b, a))
    return a;
  return {};
}

std::optional<Sizes> Node::broadcast(ArrayRef<SymbolicSize> a,
                                     ArrayRef<SymbolicSize> b) {
  Sizes result;
  size_t rank = std::max(a.size(), b.size());
  for (size_t axis = 0; axis < rank; ++axis) {
    auto at = [&](ArrayRef<SymbolicSize> sizes) {
      size_t missing = rank - sizes.size();
      return axis < missing ? SymbolicSize(1) : sizes[axis - missing];
    };
    SymbolicSize first = at(a), second = at(b);
    std::optional<int64_t> x = first.constant(), y = second.constant();
    if (x && y && *x != *y && *x != 1 && *y != 1) {
      error() << "has shapes " << sizesText(a) << " and " << sizesText(b)
              << " that do not broadcast: " << *x << " and " << *y
              << " on axis " << axis;
      return std::nullopt;
    }
    result.push_back(broadcastSize(first, second));
  }
  return result;
}

} // namespace sol::nn
