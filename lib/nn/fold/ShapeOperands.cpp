//===- ShapeOperands.cpp - shapes that operators take as operands ---------===//
//
// Exporters compute shapes with dozens of small operators. Where every element
// is known as an expression over the sizes of the arguments, the operand
// becomes a constant (Reshape knows 0 and -1) or the shortest code for the
// expression, and what computed it before dies.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/fold/Rewrites.h"
#include "lib/nn/fold/SizeCode.h"

#include "dialects/nn/NnDialect.h"

using namespace mlir;

namespace sol::nn {

/// The constant target that gives Reshape the sizes `result`, if there is one:
/// numbers, 0 where an axis is copied, and -1 for at most one other.
static std::optional<SmallVector<int64_t>>
constantTarget(ArrayRef<SymbolicSize> operand, ArrayRef<SymbolicSize> result) {
  SmallVector<int64_t> target;
  std::optional<size_t> open;
  bool copiesBehindFirst = false;
  for (auto [axis, size] : llvm::enumerate(result)) {
    std::optional<int64_t> number = size.constant();
    bool isCopy = axis < operand.size() && operand[axis] == size;
    if (number && *number > 0) {
      target.push_back(*number);
    } else if (isCopy) {
      target.push_back(0);
      copiesBehindFirst |= axis > 0;
    } else if (!open && !number) {
      open = axis;
      target.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  // -1 can't be told where the rest is empty, as a past of no positions is.
  if (open && copiesBehindFirst)
    return std::nullopt;
  return target;
}

static void setIntegers(Operation *op, unsigned index,
                        ArrayRef<int64_t> values) {
  OpBuilder builder(op);
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getI64Type());
  op->setOperand(index,
                 ConstantOp::create(builder, op->getLoc(), type,
                                    DenseElementsAttr::get(type, values)));
}

/// Gives a Reshape whose result is known a constant target.
static void simplifyReshape(Operation *op) {
  if (auto constant = op->getOperand(1).getDefiningOp<ConstantOp>()) {
    // Without a 0 the attribute means nothing.
    std::optional<Elements> target = nn::elementsOf(constant.getValue());
    if (target && llvm::none_of(*target, [](const auto &size) {
          return size.isConstant(0);
        }))
      op->removeAttr("allowzero");
    return;
  }
  std::optional<Sizes> operand = sizesOf(op->getOperand(0).getType());
  std::optional<Sizes> result = sizesOf(op->getResult(0).getType());
  if (!operand || !result || result->empty())
    return;
  std::optional<SmallVector<int64_t>> target =
      constantTarget(*operand, *result);
  if (!target)
    return;
  // A 0 is a number under allowzero, so the attribute goes unless one is meant;
  // constantTarget never gives a 0 that is a number.
  op->removeAttr("allowzero");
  setIntegers(op, 1, *target);
}

/// True if `op` only computes elements that are known anyway.
static bool isShapeCode(Operation *op, const ElementFacts &facts) {
  return op->getNumResults() > 0 &&
         llvm::all_of(op->getResults(), [&](Value result) {
           auto it = facts.find(result);
           return it != facts.end() &&
                  llvm::all_of(it->second,
                               [](const auto &e) { return e.isKnown(); });
         });
}

void simplifyShapeOperands(func::FuncOp function, const ElementFacts &facts) {
  SmallVector<OpOperand *> uses;
  function.walk([&](Operation *op) {
    if (op->getName().getStringRef() == "onnx.Reshape")
      simplifyReshape(op);
    if (isShapeCode(op, facts) || isa<FoldedOp>(op->getParentOp()))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *maker = operand.get().getDefiningOp();
      if (maker && !isa<ConstantOp>(maker) &&
          !maker->hasAttr(SizeCode::marker) && facts.contains(operand.get()))
        uses.push_back(&operand);
    }
  });
  if (uses.empty())
    return;
  SizeCode code(function);
  for (OpOperand *use : uses) {
    auto it = facts.find(use->get());
    if (it == facts.end())
      continue;
    auto type = cast<RankedTensorType>(use->get().getType());
    if (type.getElementType().isInteger(1))
      continue;
    if (Value value = code.create(it->second, type))
      use->set(value);
  }
}

} // namespace sol::nn
