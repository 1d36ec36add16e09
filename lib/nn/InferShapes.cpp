//===- InferShapes.cpp - give every value its most precise type -----------===//
//
// The pass around lib/nn/shape.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/shape/Inference.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNINFERSHAPESPASS
#include "lib/nn/Passes.h.inc"

namespace {
struct NnInferShapesPass : impl::NnInferShapesPassBase<NnInferShapesPass> {
  void runOnOperation() override {
    bool failed = false;
    getOperation().walk([&](func::FuncOp function) {
      ElementFacts elements;
      failed |= mlir::failed(inferShapes(function, elements));
    });
    if (failed)
      signalPassFailure();
  }
};
} // namespace
} // namespace sol::nn
