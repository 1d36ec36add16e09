//===- VerifyNative.cpp - is the function a complete program? -------------===//
//
// The contract at the end of the native stage; the plan reader checks the same
// of a file again, as a file can come from anywhere.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NnDialect.h"
#include "lib/native/Passes.h"
#include "lib/native/loops/LoopNest.h"
#include "runtime/cpu/kernel.h"

namespace sol::native {
#define GEN_PASS_DEF_VERIFYNATIVEPASS
#include "lib/native/Passes.h.inc"
} // namespace sol::native

using namespace mlir;

namespace {

struct VerifyNativePass
    : sol::native::impl::VerifyNativePassBase<VerifyNativePass> {
  void runOnOperation() override {
    sol::registerAllKernels();
    func::FuncOp func = getOperation();
    if (!func->hasAttr(sol::cpu::CpuDialect::slotsAttr)) {
      func.emitError("has no `") << sol::cpu::CpuDialect::slotsAttr
                                 << "`; native-assign-slots should have set it";
      return signalPassFailure();
    }
    bool failed = false;
    func.walk([&](Operation *op) {
      if (op == func || isa<sol::nn::FoldedOp>(op->getParentOp()) ||
          op->getParentOfType<sol::cpu::NativeOp>())
        return;
      failed |= !check(op);
    });
    if (failed)
      signalPassFailure();
  }

  bool check(Operation *op) {
    if (isa<sol::nn::ConstantOp, sol::nn::WeightOp, sol::nn::FoldedOp,
            func::ReturnOp, sol::cpu::NoneOp, sol::cpu::YieldOp>(op))
      return true;
    if (!isa<sol::cpu::CpuDialect>(op->getDialect())) {
      op->emitError("is no step of a program for the host; native-lower-to-cpu "
                    "should have replaced it");
      return false;
    }
    if (auto kernel = dyn_cast<sol::cpu::KernelOp>(op))
      if (!sol::findKernel(std::string_view(kernel.getName()))) {
        op->emitError("calls kernel `")
            << kernel.getName() << "`, which the runtime lacks";
        return false;
      }
    if (auto loop = dyn_cast<sol::cpu::NativeOp>(op))
      if (llvm::failed(sol::native::LoopNest::of(loop)))
        return false;
    auto slots = op->getAttrOfType<DenseI64ArrayAttr>("slots");
    if (op->getNumResults() > 0 &&
        (!slots || slots.size() != static_cast<int64_t>(op->getNumResults()))) {
      op->emitError("lacks a slot for each of its ")
          << op->getNumResults() << " results";
      return false;
    }
    return true;
  }
};

} // namespace
