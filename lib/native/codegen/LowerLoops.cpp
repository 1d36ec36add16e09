//===- LowerLoops.cpp - show what compiled loops become -------------------===//
//
// For those who look into the compiler: emit lowers loops in the same way, but
// keeps the result to itself.
//
//===----------------------------------------------------------------------===//
#include "lib/native/Passes.h"
#include "lib/native/codegen/NativeCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace sol::native {
#define GEN_PASS_DEF_LOWERLOOPSPASS
#include "lib/native/Passes.h.inc"

namespace {

struct LowerLoopsPass : impl::LowerLoopsPassBase<LowerLoopsPass> {
  void runOnOperation() override {
    NativeCode code({});
    mlir::WalkResult collected = getOperation().walk([&](cpu::NativeOp loop) {
      return failed(code.add(loop)) ? mlir::WalkResult::interrupt()
                                    : mlir::WalkResult::advance();
    });
    if (collected.wasInterrupted())
      return signalPassFailure();
    mlir::OwningOpRef<mlir::ModuleOp> lowered = code.lower(getContext());
    getOperation().getBodyRegion().takeBody(lowered->getBodyRegion());
  }
};

} // namespace
} // namespace sol::native
