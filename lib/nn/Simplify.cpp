//===- Simplify.cpp - infer shapes and fold until nothing changes ---------===//
//
// Each helps the other: a constant makes a shape known, a shape makes
// constants.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNSIMPLIFYPASS
#include "lib/nn/Passes.h.inc"

namespace {
struct NnSimplifyPass : impl::NnSimplifyPassBase<NnSimplifyPass> {
  using NnSimplifyPassBase::NnSimplifyPassBase;

  void runOnOperation() override {
    OpPassManager round(ModuleOp::getOperationName());
    round.addPass(createNnFoldPass());
    round.addPass(createCSEPass());
    OpPassManager end(ModuleOp::getOperationName());
    end.addPass(createNnInferShapesPass());
    for (int64_t i = 0; i < maxRounds; ++i) {
      OperationFingerPrint before(getOperation());
      if (failed(runPipeline(round, getOperation())))
        return signalPassFailure();
      if (before == OperationFingerPrint(getOperation()))
        break;
    }
    if (failed(runPipeline(end, getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace sol::nn
