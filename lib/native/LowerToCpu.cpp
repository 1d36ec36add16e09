//===- LowerToCpu.cpp - every operator becomes a step ---------------------===//
//
// Kernels are named like operators, so this knows none of them; only control
// flow and missing operands have steps of their own.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NnDialect.h"
#include "lib/native/Passes.h"
#include "runtime/cpu/kernel.h"

#include "mlir/IR/Builders.h"

namespace sol::native {
#define GEN_PASS_DEF_LOWERTOCPUPASS
#include "lib/native/Passes.h.inc"
} // namespace sol::native

using namespace mlir;

namespace {

bool isConstant(Operation *op) {
  return isa<sol::nn::ConstantOp, sol::nn::WeightOp, sol::nn::FoldedOp>(op);
}

/// The attributes that a kernel gets: all but notes of earlier stages, and
/// whether it is to read its operands as caches.
DictionaryAttr parametersOf(Operation *op) {
  SmallVector<NamedAttribute> parameters;
  if (!op->hasAttr("cached") &&
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<sol::nn::CacheType>))
    parameters.emplace_back(StringAttr::get(op->getContext(), "cached"),
                            UnitAttr::get(op->getContext()));
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().getValue().contains('.'))
      parameters.push_back(attribute);
  return DictionaryAttr::get(op->getContext(), parameters);
}

struct LowerToCpuPass : sol::native::impl::LowerToCpuPassBase<LowerToCpuPass> {
  void runOnOperation() override {
    sol::registerAllKernels();
    bool failed = false;
    // Collected first: lowering replaces operations while it goes.
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (isa<sol::nn::FoldedOp>(op->getParentOp()) ||
          op->getParentOfType<sol::cpu::NativeOp>())
        return;
      if (op != getOperation() && !isConstant(op) && !isa<func::ReturnOp>(op) &&
          !isa<sol::cpu::CpuDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      failed |= !lower(op);
    if (failed)
      signalPassFailure();
  }

  bool lower(Operation *op) {
    StringRef name = op->getName().getStringRef();
    OpBuilder builder(op);
    Operation *step = nullptr;
    if (name == "onnx.none")
      step =
          sol::cpu::NoneOp::create(builder, op->getLoc(), op->getResultTypes());
    else if (name == "onnx.yield")
      step =
          sol::cpu::YieldOp::create(builder, op->getLoc(), op->getOperands());
    else if (name == "onnx.If")
      step = sol::cpu::IfOp::create(builder, op->getLoc(), op->getResultTypes(),
                                    op->getOperand(0), nullptr);
    else if (name == "onnx.Loop")
      step =
          sol::cpu::LoopOp::create(builder, op->getLoc(), op->getResultTypes(),
                                   op->getOperands(), nullptr, nullptr);
    else
      step = lowerToKernel(builder, op, name);
    if (!step)
      return false;
    for (auto [from, to] : llvm::zip(op->getRegions(), step->getRegions()))
      to.takeBody(from);
    op->replaceAllUsesWith(step->getResults());
    op->erase();
    return true;
  }

  Operation *lowerToKernel(OpBuilder &builder, Operation *op, StringRef name) {
    const sol::KernelDefinition *kernel =
        sol::findKernel(std::string_view(name.data(), name.size()));
    if (!kernel || op->getNumRegions() > 0) {
      op->emitError("no kernel computes `")
          << name << "` on operands of types (" << op->getOperandTypes()
          << "); remove the operator or express it by others";
      return nullptr;
    }
    return sol::cpu::KernelOp::create(
        builder, op->getLoc(), op->getResultTypes(),
        builder.getStringAttr(name), op->getOperands(), parametersOf(op),
        kernel->isView ? builder.getUnitAttr() : UnitAttr(), nullptr);
  }
};

} // namespace
