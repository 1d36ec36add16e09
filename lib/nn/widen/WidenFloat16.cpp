//===- WidenFloat16.cpp - compute 16-bit floats in float32 ----------------===//
//
// Values that an operator computes keep float32 until something asks for what
// the graph's types say: a conversion that the graph has, a result, a cache, an
// operator that means 16-bit values. What the graph gives out it also goes on
// with, rounded: a present that is read in the run that makes it has the bits
// that the next run gets as its past.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/widen/Float16Operators.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/onnx/OnnxSchema.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNWIDENFLOAT16PASS
#include "lib/nn/Passes.h.inc"

namespace {

/// `onnx.Cast` of `value` to the element type of `type`.
Value createCast(OpBuilder &builder, Location loc, Value value, Type type) {
  OperationState state(loc, "onnx.Cast");
  state.addOperands(value);
  state.addTypes(type);
  state.addAttribute("to", builder.getI64IntegerAttr(onnx::elementTypeNumber(
                               getElementTypeOrSelf(type))));
  return builder.create(state)->getResult(0);
}

/// The float32 numbers of a small constant in the IR, null if they would be
/// too many for the IR.
Value widenNumbers(OpBuilder &builder, ConstantOp constant) {
  auto numbers = dyn_cast<DenseFPElementsAttr>(constant.getValue());
  constexpr int64_t maxNumbers = 256; // nn.constant holds 1 KiB
  if (!numbers || numbers.getNumElements() > maxNumbers)
    return {};
  auto wide = numbers.mapValues(
      Float32Type::get(constant.getContext()), [](const APFloat &number) {
        APFloat converted = number;
        bool isLossy = false;
        converted.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                          &isLossy);
        return converted.bitcastToAPInt();
      });
  return ConstantOp::create(builder, constant.getLoc(), wide.getType(), wide);
}

/// An expression that widens a constant of the model when the plan is written.
Value widenWhenWritten(OpBuilder &builder, Value value) {
  Operation *source = value.getDefiningOp();
  Type wide = withFloat32(value.getType());
  auto folded = FoldedOp::create(builder, source->getLoc(), wide);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&folded.getBody());
  Value inside;
  if (auto inner = dyn_cast<FoldedOp>(source)) {
    // One expression, not an expression in another.
    IRMapping mapping;
    Block &body = inner.getBody().front();
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    inside = mapping.lookup(body.getTerminator()->getOperand(0));
  } else {
    inside = builder.clone(*source)->getResult(0);
  }
  Value result = createCast(builder, source->getLoc(), inside, wide);
  YieldOp::create(builder, source->getLoc(), result);
  return folded.getResult();
}

class Widening {
public:
  explicit Widening(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  void run();

private:
  /// Marks the values that the graph gives out, or moves to where it does.
  void findGivenOut(ArrayRef<Operation *> operations);
  void visit(Operation *op);
  void visitCast(Operation *op);
  void visitComputing(Operation *op);
  void visitFollowing(Operation *op);
  void keep(Operation *op);
  /// Gives results float32 elements, those given out rounded at once.
  void widenResults(Operation *op);

  bool isGivenOut(Operation *op) const {
    return llvm::any_of(op->getResults(),
                        [&](Value value) { return givenOut.contains(value); });
  }
  /// `value` with float32 elements if it has 16-bit ones, for `user`.
  Value wide(Value value, Operation *user);
  /// `value` with the elements that the graph gives it.
  Value narrow(Value value);

  func::FuncOp function;
  OpBuilder builder;
  llvm::DenseSet<Value> givenOut;
  /// Values that were widened, with the types that they had.
  llvm::DenseMap<Value, Type> declared;
  llvm::DenseMap<Value, Value> wideForms, narrowForms;
  SmallVector<Operation *> changeNothing;
};

void Widening::run() {
  SmallVector<Operation *> operations;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ConstantOp, WeightOp, FoldedOp>(op))
      return WalkResult::skip();
    if (op != function)
      operations.push_back(op);
    return WalkResult::advance();
  });
  findGivenOut(operations);
  for (Operation *op : operations)
    visit(op);
  // Only now: until then the types told who wants the value that was computed
  // and who wants it rounded.
  for (Operation *op : changeNothing) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  }
}

/// Users come behind what they use, so that one pass from the end sees all.
void Widening::findGivenOut(ArrayRef<Operation *> operations) {
  for (Operation *op : llvm::reverse(operations)) {
    bool givesOut =
        op->hasTrait<OpTrait::IsTerminator>() ||
        isa<CacheAppendOp, CacheWriteOp>(op) ||
        (isGivenOut(op) && float16KindOf(op) == Float16Kind::Follow);
    if (!givesOut)
      continue;
    for (Value operand : op->getOperands())
      if (isFloat16Tensor(operand.getType()))
        givenOut.insert(operand);
  }
}

void Widening::visit(Operation *op) {
  if (op->getName().getStringRef() == "onnx.Cast")
    return visitCast(op);
  bool has16Bits = llvm::any_of(op->getOperands(), [&](Value value) {
    return isFloat16Tensor(value.getType()) || declared.contains(value);
  });
  if (!has16Bits)
    return;
  switch (float16KindOf(op)) {
  case Float16Kind::Compute:
    return visitComputing(op);
  case Float16Kind::Follow:
    return visitFollowing(op);
  case Float16Kind::Keep:
    return keep(op);
  }
}

/// A conversion to another float takes what was computed; to float32 it is
/// nothing any more. Integers and bools are those of the 16-bit value.
void Widening::visitCast(Operation *op) {
  Value from = op->getOperand(0), to = op->getResult(0);
  Type element = getElementTypeOrSelf(to);
  if (isFloat16Tensor(from.getType()) && element.isF32() &&
      !isConstantOfModel(from)) {
    // The graph's own widening serves whoever comes behind it.
    Value &form = wideForms[from];
    if (!form && op->getBlock() == from.getParentBlock())
      form = to;
    from = form ? form : from;
  }
  if (from != to && from.getType() == to.getType()) {
    op->setOperand(0, from);
    changeNothing.push_back(op);
    return;
  }
  if (!element.isF16() && !element.isBF16() && !element.isF32() &&
      !element.isF64())
    keep(op);
}

void Widening::visitComputing(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (!readsFloat16(operand))
      operand.set(wide(operand.get(), op));
  widenResults(op);
}

void Widening::visitFollowing(Operation *op) {
  bool anyWide = llvm::any_of(op->getOperands(), [&](Value operand) {
    return declared.contains(operand);
  });
  if (isGivenOut(op) || !anyWide)
    return keep(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(wide(operand.get(), op));
  widenResults(op);
}

void Widening::keep(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    operand.set(narrow(operand.get()));
}

void Widening::widenResults(Operation *op) {
  for (Value result : op->getResults()) {
    Type type = result.getType();
    if (!isFloat16Tensor(type))
      continue;
    result.setType(withFloat32(type));
    if (!givenOut.contains(result)) {
      declared[result] = type;
      continue;
    }
    builder.setInsertionPointAfter(op);
    Value rounded = createCast(builder, op->getLoc(), result, type);
    result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
  }
}

Value Widening::wide(Value value, Operation *user) {
  if (!isFloat16Tensor(value.getType()))
    return value;
  if (isLargeConstant(value)) {
    // In front of each user: memory holds one of them at a time.
    builder.setInsertionPoint(user);
    return createCast(builder, user->getLoc(), value,
                      withFloat32(value.getType()));
  }
  Value &form = wideForms[value];
  if (form)
    return form;
  builder.setInsertionPointAfterValue(value);
  if (isConstantOfModel(value)) {
    if (auto constant = value.getDefiningOp<ConstantOp>())
      form = widenNumbers(builder, constant);
    return form = form ? form : widenWhenWritten(builder, value);
  }
  return form = createCast(builder, value.getLoc(), value,
                           withFloat32(value.getType()));
}

Value Widening::narrow(Value value) {
  auto type = declared.find(value);
  if (type == declared.end())
    return value;
  Value &form = narrowForms[value];
  if (form)
    return form;
  builder.setInsertionPointAfterValue(value);
  return form = createCast(builder, value.getLoc(), value, type->second);
}

struct NnWidenFloat16Pass : impl::NnWidenFloat16PassBase<NnWidenFloat16Pass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      Widening(function).run();
  }
};

} // namespace
} // namespace sol::nn
