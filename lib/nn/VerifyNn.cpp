//===- VerifyNn.cpp - check what the nn stage promises --------------------===//
//
// Read-only. Constraints are numbered in the pass's description.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/shape/Facts.h"

#include "dialects/nn/NnDialect.h"
#include "lib/support/NodeText.h"
#include "lib/support/Refusal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_VERIFYNNPASS
#include "lib/nn/Passes.h.inc"

namespace {
/// (N1)
LogicalResult verifyComputed(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  StringRef name = op->getName().getStringRef();
  if (dialect == "nn" || dialect == "func" ||
      (dialect == "onnx" && isComputed(name)))
    return success();
  return op->emitError(nodeText(op)) << ": " << notComputedText << " (N1)";
}

/// (N2)
LogicalResult verifyBound(Operation *op, Type type) {
  std::optional<Sizes> sizes = sizesOf(type);
  if (!sizes)
    return success();
  for (auto [axis, size] : llvm::enumerate(*sizes))
    if (!size.isKnown())
      return op->emitError("axis ")
             << axis << " of " << type
             << " has no symbolic size (N2): run nn-infer-shapes";
  return success();
}

/// Whether a condition decides which of the two runs.
bool areAlternatives(Operation *a, Operation *b) {
  for (Region *region = a->getParentRegion(); region;
       region = region->getParentRegion()) {
    Operation *branches = region->getParentOp();
    if (branches->getName().getStringRef() != "onnx.If" ||
        !branches->isAncestor(b))
      continue;
    return !region->isAncestor(b->getParentRegion());
  }
  return false;
}

/// (N3)
LogicalResult verifyUsedOnce(Value cache) {
  SmallVector<Operation *> changes;
  for (Operation *user : cache.getUsers()) {
    if (!isa<CacheAppendOp, CacheFillOp, CacheWriteOp>(user))
      continue;
    for (Operation *changed : changes) {
      if (areAlternatives(changed, user))
        continue;
      InFlightDiagnostic error =
          user->emitError("changes a cache that another operator changes (N3)");
      error.attachNote(changed->getLoc()) << "the other one";
      return error;
    }
    changes.push_back(user);
  }
  return success();
}

/// (N2), (N3)
LogicalResult verifyValues(Operation *op) {
  LogicalResult result = success();
  for (Value value : op->getResults()) {
    if (failed(verifyBound(op, value.getType())))
      result = failure();
    if (isa<CacheType>(value.getType()) && failed(verifyUsedOnce(value)))
      result = failure();
  }
  return result;
}

struct VerifyNnPass : impl::VerifyNnPassBase<VerifyNnPass> {
  void runOnOperation() override {
    // The model's fault, and a fault of the passes before.
    bool isUnsupported = false, isBroken = false;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      for (BlockArgument argument : function.getArguments()) {
        isBroken |= failed(verifyBound(function, argument.getType()));
        if (isa<CacheType>(argument.getType()))
          isBroken |= failed(verifyUsedOnce(argument));
      }
      function.walk([&](Operation *op) {
        if (op == function)
          return;
        isUnsupported |= failed(verifyComputed(op));
        isBroken |= failed(verifyValues(op));
      });
    }
    if (isUnsupported && !isBroken)
      markRefused(getOperation());
    if (isUnsupported || isBroken)
      signalPassFailure();
  }
};
} // namespace

LogicalResult verifyComputed(ModuleOp module) {
  LogicalResult result = success();
  module.walk([&](Operation *op) {
    bool isUsed = op->getNumResults() == 0 || !op->use_empty();
    if (op != module && isUsed && failed(verifyComputed(op)))
      result = failure();
  });
  return result;
}

} // namespace sol::nn
