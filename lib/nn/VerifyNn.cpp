//===- VerifyNn.cpp - check what the nn stage promises --------------------===//
//
// Read-only. Constraints are numbered in the pass's description.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/shape/Facts.h"

#include "dialects/nn/NnDialect.h"
#include "runtime/cpu/kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_VERIFYNNPASS
#include "lib/nn/Passes.h.inc"

namespace {
/// Operators that the host's step interpreter runs itself.
bool isStructural(StringRef name) {
  return name == "onnx.If" || name == "onnx.Loop" || name == "onnx.Scan" ||
         name == "onnx.none" || name == "onnx.yield";
}

/// (N1)
LogicalResult verifyKnown(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  StringRef name = op->getName().getStringRef();
  if (dialect == "nn" || dialect == "func" || isStructural(name))
    return success();
  if (dialect == "onnx" && findKernel({name.data(), name.size()}))
    return success();
  return op->emitError("operator `")
         << name << "` has no kernel here (N1): express it by others";
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

/// (N3)
LogicalResult verifyUsedOnce(Value cache) {
  Operation *changed = nullptr;
  for (Operation *user : cache.getUsers()) {
    if (!isa<CacheAppendOp>(user))
      continue;
    if (changed) {
      InFlightDiagnostic error =
          user->emitError("changes a cache that another operator changes (N3)");
      error.attachNote(changed->getLoc()) << "the other one";
      return error;
    }
    changed = user;
  }
  return success();
}

LogicalResult verifyOperation(Operation *op) {
  LogicalResult result = verifyKnown(op);
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
    registerAllKernels();
    bool isBroken = false;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      for (BlockArgument argument : function.getArguments()) {
        isBroken |= failed(verifyBound(function, argument.getType()));
        if (isa<CacheType>(argument.getType()))
          isBroken |= failed(verifyUsedOnce(argument));
      }
      function.walk([&](Operation *op) {
        if (op != function)
          isBroken |= failed(verifyOperation(op));
      });
    }
    if (isBroken)
      signalPassFailure();
  }
};
} // namespace
} // namespace sol::nn
