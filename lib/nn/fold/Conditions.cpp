//===- Conditions.cpp - branches that are decided before the run ----------===//
//
// Inlines the branch that a known condition chooses, and erases operators that
// nothing uses.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/fold/Rewrites.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sol::nn {

/// The value of a constant bool of one element.
static std::optional<bool> knownCondition(Value condition) {
  auto constant = condition.getDefiningOp<ConstantOp>();
  std::optional<Elements> elements =
      constant ? elementsOf(constant.getValue()) : std::nullopt;
  if (!elements || elements->size() != 1)
    return std::nullopt;
  return !(*elements)[0].isConstant(0);
}

void inlineKnownConditions(func::FuncOp function) {
  SmallVector<Operation *> decided;
  // Outer ones first: an inner one may lie in a branch that goes away.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getName().getStringRef() != "onnx.If" ||
        op->getNumOperands() != 1 || op->getNumRegions() != 2 ||
        !knownCondition(op->getOperand(0)))
      return WalkResult::advance();
    decided.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : decided) {
    Region &branch = op->getRegion(*knownCondition(op->getOperand(0)) ? 0 : 1);
    if (!branch.hasOneBlock())
      continue;
    Operation *yield = branch.front().getTerminator();
    if (yield->getNumOperands() != op->getNumResults())
      continue;
    op->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    op->getBlock()->getOperations().splice(Block::iterator(op),
                                           branch.front().getOperations());
    op->erase();
  }
}

/// Erases unused operators of a block and of the blocks inside, last first, so
/// that users go before what they use.
static void eraseUnusedIn(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseUnusedIn(inner);
  }
}

void eraseUnused(func::FuncOp function) {
  for (Block &block : function.getBody())
    eraseUnusedIn(block);
}

} // namespace sol::nn
