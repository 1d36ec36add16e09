//===- Structure.cpp - operators that change nothing ----------------------===//
//
// Removes operators whose result is an operand, and joins chains of movements.
// Only what is exact for every value of every element type: a Cast to another
// type stays, as does an addition of +0, which turns -0 into +0.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/fold/Rewrites.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace sol::nn {

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

static bool isOnnx(Operation *op, StringRef name) {
  return op && op->getName().getStringRef() == ("onnx." + name).str();
}

static Type elementType(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type ? type.getElementType() : Type();
}

/// Whether both are tensors of provably the same shape and the same type.
static bool haveSameType(Value a, Value b) {
  std::optional<Sizes> x = sizesOf(a.getType()), y = sizesOf(b.getType());
  return elementType(a) && elementType(a) == elementType(b) && x && y &&
         x->size() == y->size() && llvm::equal(*x, *y);
}

static std::optional<SmallVector<int64_t>> integersOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  std::optional<Elements> elements =
      constant ? elementsOf(constant.getValue()) : std::nullopt;
  return elements ? staticSizes(*elements) : std::nullopt;
}

static bool allAre(Value value, int64_t number) {
  std::optional<SmallVector<int64_t>> values = integersOf(value);
  return values &&
         llvm::all_of(*values, [&](int64_t v) { return v == number; });
}

/// Whether a constant holds only `number`, with the sign of zero; `number` is a
/// small integer, not negative unless the constant is of floats.
static bool isSplatOf(Value value, double number) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType())) {
    APFloat splat = dense.getSplatValue<APFloat>();
    APFloat wanted(number);
    bool inexact;
    wanted.convert(splat.getSemantics(), APFloat::rmNearestTiesToEven,
                   &inexact);
    return splat.bitwiseIsEqual(wanted);
  }
  if (!dense.getElementType().isSignlessInteger() &&
      !dense.getElementType().isUnsignedInteger())
    return false;
  APInt splat = dense.getSplatValue<APInt>();
  return splat.getActiveBits() <= 32 &&
         splat.getZExtValue() == static_cast<uint64_t>(number);
}

static std::optional<SmallVector<int64_t>> permOf(Operation *op) {
  std::optional<Sizes> sizes = sizesOf(op->getOperand(0).getType());
  if (auto perm = op->getAttrOfType<DenseI64ArrayAttr>("perm"))
    return SmallVector<int64_t>(perm.asArrayRef());
  if (!sizes)
    return std::nullopt;
  SmallVector<int64_t> reversed;
  for (size_t i = sizes->size(); i > 0; --i)
    reversed.push_back(static_cast<int64_t>(i - 1));
  return reversed;
}

//===----------------------------------------------------------------------===//
// Operators whose result is an operand
//===----------------------------------------------------------------------===//

/// x op neutral, in one or both orders.
static Value withoutNeutral(Operation *op) {
  StringRef name = op->getName().stripDialect();
  Value a = op->getOperand(0), b = op->getOperand(1), result = op->getResult(0);
  auto isNeutral = [&](Value value) {
    if (name == "Mul" || name == "Div")
      return isSplatOf(value, 1);
    if (name == "And")
      return isSplatOf(value, 1);
    if (name == "Or")
      return isSplatOf(value, 0);
    // x - 0 is x, and so is x + -0, but -0 + 0 is 0.
    bool isFloat = isa<FloatType>(elementType(value));
    return isSplatOf(value, isFloat && name == "Add" ? -0.0 : 0.0);
  };
  if (isNeutral(b) && haveSameType(a, result))
    return a;
  bool commutes = name != "Div" && name != "Sub";
  if (commutes && isNeutral(a) && haveSameType(b, result))
    return b;
  return {};
}

/// Slice that takes everything in order, Expand and Tile that repeat nothing.
static bool changesNothing(Operation *op) {
  StringRef name = op->getName().stripDialect();
  bool same = haveSameType(op->getOperand(0), op->getResult(0));
  if (name == "Reshape" || name == "Flatten" || name == "Squeeze" ||
      name == "Unsqueeze" || name == "Expand")
    return same;
  if (name == "Slice")
    return same && (op->getNumOperands() < 5 || allAre(op->getOperand(4), 1));
  if (name == "Tile")
    return same && allAre(op->getOperand(1), 1);
  if (name == "Pad")
    return same && allAre(op->getOperand(1), 0);
  if (name == "Cast")
    return elementType(op->getOperand(0)) == elementType(op->getResult(0));
  if (name == "Transpose") {
    std::optional<SmallVector<int64_t>> perm = permOf(op);
    return perm && llvm::is_sorted(*perm);
  }
  return name == "Identity";
}

/// Dropout does nothing unless it trains.
static bool isInferenceDropout(Operation *op) {
  return op->getNumOperands() < 3 ||
         isa<NoneType>(op->getOperand(2).getType()) ||
         allAre(op->getOperand(2), 0);
}

/// What result 0 of `op` is, if it is another value; else null.
static Value sameValue(Operation *op) {
  StringRef name = op->getName().stripDialect();
  unsigned operands = op->getNumOperands();
  if (operands == 0)
    return {};
  if (changesNothing(op))
    return op->getOperand(0);
  if (operands == 1 &&
      llvm::is_contained({"Concat", "Max", "Min", "Sum", "Mean"}, name))
    return op->getOperand(0);
  if (name == "Split" && op->getNumResults() == 1)
    return haveSameType(op->getOperand(0), op->getResult(0)) ? op->getOperand(0)
                                                             : Value();
  if (name == "Dropout" && isInferenceDropout(op))
    return op->getOperand(0);
  if (operands == 2 &&
      llvm::is_contained({"Mul", "Div", "Add", "Sub", "And", "Or"}, name))
    return withoutNeutral(op);
  if (name == "Where") {
    Value chosen;
    if (isSplatOf(op->getOperand(0), 0))
      chosen = op->getOperand(2);
    else if (isSplatOf(op->getOperand(0), 1))
      chosen = op->getOperand(1);
    return chosen && haveSameType(chosen, op->getResult(0)) ? chosen : Value();
  }
  if (name == "Not" && isOnnx(op->getOperand(0).getDefiningOp(), "Not"))
    return op->getOperand(0).getDefiningOp()->getOperand(0);
  return {};
}

//===----------------------------------------------------------------------===//
// Chains of movements
//===----------------------------------------------------------------------===//

/// A Transpose of `operand` in place of `op`.
static void replaceByTranspose(Operation *op, Value operand,
                               ArrayRef<int64_t> perm) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), "onnx.Transpose");
  state.addOperands(operand);
  state.addTypes(op->getResult(0).getType());
  state.addAttribute("perm", builder.getDenseI64ArrayAttr(perm));
  op->getResult(0).replaceAllUsesWith(builder.create(state)->getResult(0));
}

static void joinTransposes(Operation *op) {
  Operation *inner = op->getOperand(0).getDefiningOp();
  if (!isOnnx(inner, "Transpose"))
    return;
  std::optional<SmallVector<int64_t>> outerPerm = permOf(op),
                                      innerPerm = permOf(inner);
  if (!outerPerm || !innerPerm || outerPerm->size() != innerPerm->size())
    return;
  SmallVector<int64_t> joined;
  for (int64_t axis : *outerPerm)
    joined.push_back((*innerPerm)[axis]);
  if (llvm::is_sorted(joined))
    op->getResult(0).replaceAllUsesWith(inner->getOperand(0));
  else
    replaceByTranspose(op, inner->getOperand(0), joined);
}

/// Reshape of a Reshape, Squeeze, Unsqueeze or Flatten: the elements' order is
/// that of the innermost operand.
static void joinReshapes(Operation *op) {
  Operation *inner = op->getOperand(0).getDefiningOp();
  if (!isOnnx(inner, "Reshape") && !isOnnx(inner, "Squeeze") &&
      !isOnnx(inner, "Unsqueeze") && !isOnnx(inner, "Flatten"))
    return;
  std::optional<SmallVector<int64_t>> target = integersOf(op->getOperand(1));
  Value source = inner->getOperand(0);
  std::optional<Sizes> from = sizesOf(source.getType());
  std::optional<Sizes> between = sizesOf(inner->getResult(0).getType());
  if (!target || op->hasAttr("allowzero"))
    return;
  // A copied axis must be the same one of the innermost operand.
  for (auto [axis, size] : llvm::enumerate(*target))
    if (size == 0 &&
        (!from || !between || axis >= from->size() || axis >= between->size() ||
         (*from)[axis] != (*between)[axis]))
      return;
  op->setOperand(0, source);
}

/// [.., s, d] to [n, s, d], transposed to [n, d, s], to [.., d, s]: one
/// Transpose, as exporters write keys.
static void joinTransposeIn3d(Operation *op) {
  Operation *transpose = op->getOperand(0).getDefiningOp();
  if (!isOnnx(transpose, "Transpose"))
    return;
  std::optional<SmallVector<int64_t>> perm = permOf(transpose);
  Operation *first = transpose->getOperand(0).getDefiningOp();
  if (!perm || *perm != SmallVector<int64_t>{0, 2, 1} ||
      !isOnnx(first, "Reshape"))
    return;
  Value source = first->getOperand(0);
  std::optional<Sizes> from = sizesOf(source.getType()),
                       flat = sizesOf(first->getResult(0).getType()),
                       to = sizesOf(op->getResult(0).getType());
  if (!from || !flat || !to || flat->size() != 3 || from->size() < 3 ||
      from->size() != to->size())
    return;
  size_t rank = from->size();
  bool fits = (*from)[rank - 2] == (*flat)[1] &&
              (*from)[rank - 1] == (*flat)[2] &&
              (*to)[rank - 2] == (*flat)[2] && (*to)[rank - 1] == (*flat)[1];
  for (size_t axis = 0; axis + 2 < rank && fits; ++axis)
    fits = (*from)[axis] == (*to)[axis];
  if (!fits)
    return;
  SmallVector<int64_t> order;
  for (size_t axis = 0; axis < rank; ++axis)
    order.push_back(static_cast<int64_t>(axis));
  std::swap(order[rank - 1], order[rank - 2]);
  replaceByTranspose(op, source, order);
}

/// Drops operands that add nothing on the joined axis.
static void dropEmptyOperands(Operation *op) {
  auto attribute = op->getAttrOfType<IntegerAttr>("axis");
  std::optional<Sizes> result = sizesOf(op->getResult(0).getType());
  if (!attribute || !result)
    return;
  int64_t axis = attribute.getInt();
  axis = axis < 0 ? axis + static_cast<int64_t>(result->size()) : axis;
  SmallVector<Value> kept;
  for (Value operand : op->getOperands()) {
    std::optional<Sizes> sizes = sizesOf(operand.getType());
    if (!sizes || !(*sizes)[axis].isConstant(0))
      kept.push_back(operand);
  }
  if (!kept.empty() && kept.size() < op->getNumOperands())
    op->setOperands(kept);
}

void simplifyStructure(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<FoldedOp>(op))
      return WalkResult::skip();
    if (op->getName().getDialectNamespace() != "onnx" ||
        op->getNumResults() == 0 || op->use_empty())
      return WalkResult::advance();
    if (Value same = sameValue(op)) {
      op->getResult(0).replaceAllUsesWith(same);
      return WalkResult::advance();
    }
    if (isOnnx(op, "Transpose"))
      joinTransposes(op);
    else if (isOnnx(op, "Concat"))
      dropEmptyOperands(op);
    else if (isOnnx(op, "Reshape")) {
      joinTransposeIn3d(op);
      joinReshapes(op);
    }
    return WalkResult::advance();
  });
}

} // namespace sol::nn
