//===- Fold.cpp - compute what does not depend on the run -----------------===//
//
// The pass around lib/nn/fold.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/fold/Rewrites.h"
#include "lib/nn/shape/Inference.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNFOLDPASS
#include "lib/nn/Passes.h.inc"

namespace {
/// A replaced result may have a more precise type.
void updateFunctionType(func::FuncOp function) {
  Operation *end = function.getBody().back().getTerminator();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     end->getOperandTypes()));
}

LogicalResult fold(func::FuncOp function) {
  if (function.isExternal())
    return success();
  replaceScans(function);
  ElementFacts facts;
  if (failed(inferShapes(function, facts)))
    return failure();
  // Facts hold for the values they were found for, so these come first.
  replaceKnownValues(function, facts);
  simplifyShapeOperands(function, facts);
  simplifyStructure(function);
  evaluateOperators(function);
  inlineKnownConditions(function);
  eraseUnused(function);
  // Last, so that small results are constants already.
  formFolded(function);
  eraseUnused(function);
  updateFunctionType(function);
  return success();
}

struct NnFoldPass : impl::NnFoldPassBase<NnFoldPass> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (failed(fold(function)))
        return signalPassFailure();
  }
};
} // namespace
} // namespace sol::nn
