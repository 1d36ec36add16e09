//===- FuseLoops.cpp - operators that run as one compiled loop ------------===//
//
// Replaces each group of LoopGroups.h by a `cpu.native` whose body says in
// `linalg` what the group computes.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NnDialect.h"
#include "lib/native/Passes.h"
#include "lib/native/loops/LoopGroups.h"
#include "lib/native/loops/RowOps.h"
#include "lib/native/loops/ScalarOps.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace sol::native {
#define GEN_PASS_DEF_FUSELOOPSPASS
#include "lib/native/Passes.h.inc"
} // namespace sol::native

using namespace mlir;

namespace sol::native {
namespace {

/// Builds the step that replaces one group.
class LoopStep {
public:
  explicit LoopStep(const LoopGroup &group) : group(group) {
    for (const LoopMember &member : group.members) {
      for (Value operand : loopOperands(member))
        if (!group.contains(operand.getDefiningOp()) &&
            !isHeldByLoop(member, operand))
          operands.insert(operand);
      if (llvm::any_of(member.op->getUsers(),
                       [&](Operation *user) { return !group.contains(user); }))
        results.push_back(member.op->getResult(0));
    }
  }

  /// Puts the step where the group's last operator is, and removes the group.
  void replace() {
    Operation *last = group.members.back().op;
    OpBuilder builder(last);
    SmallVector<Location> locations;
    for (const LoopMember &member : group.members)
      locations.push_back(member.op->getLoc());
    auto step = cpu::NativeOp::create(
        builder, builder.getFusedLoc(locations), TypeRange(ValueRange(results)),
        builder.getStringAttr(name()), operands.getArrayRef(), nullptr);
    build(step);
    for (auto [result, replacement] : llvm::zip(results, step.getResults()))
      result.replaceAllUsesWith(replacement);
    for (const LoopMember &member : llvm::reverse(group.members))
      member.op->erase();
  }

private:
  /// The operators' names, in their order.
  std::string name() const {
    std::string text;
    for (const LoopMember &member : group.members) {
      StringRef op = member.op->getName().getStringRef().rsplit('.').second;
      if (text.size() + op.size() > mostNameLength)
        return text + "+...";
      text += (text.empty() ? "" : "+") + op.str();
    }
    return text;
  }

  void build(cpu::NativeOp step) {
    Block &block = step.getBody().emplaceBlock();
    auto builder = OpBuilder::atBlockEnd(&block);
    LoopBody body(builder, group.space);
    for (Value operand : operands) {
      auto type = cast<RankedTensorType>(operand.getType());
      Value argument = block.addArgument(
          RankedTensorType::get(type.getShape(), type.getElementType()),
          operand.getLoc());
      values[operand] =
          body.addOperand(argument, *axesInSpace(type, group.space));
    }
    for (const LoopMember &member : group.members)
      values[member.op->getResult(0)] = buildMember(body, builder, member);
    SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(values[result].tensor);
    cpu::YieldOp::create(builder, step.getLoc(), yielded);
  }

  LoopValue buildMember(LoopBody &body, OpBuilder &builder,
                        const LoopMember &member) {
    SmallVector<LoopValue> inputs;
    for (Value operand : loopOperands(member))
      inputs.push_back(isHeldByLoop(member, operand)
                           ? LoopValue{{}, {}, constantElement(operand)}
                           : values.lookup(operand));
    if (member.alongRows)
      return buildRowOp(body, builder, member.op, inputs);
    return body.compute(member.op->getLoc(), member.level,
                        getElementTypeOrSelf(member.op->getResult(0).getType()),
                        inputs, [&](OpBuilder &inner, ValueRange elements) {
                          return buildScalarOp(inner, member.op, elements);
                        });
  }

  static constexpr size_t mostNameLength = 60;

  const LoopGroup &group;
  llvm::SetVector<Value> operands;
  SmallVector<Value> results;
  llvm::DenseMap<Value, LoopValue> values;
};

struct FuseLoopsPass : impl::FuseLoopsPassBase<FuseLoopsPass> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<nn::FoldedOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      SmallVector<LoopGroup> groups = findLoopGroups(*block);
      for (const LoopGroup &group : groups)
        LoopStep(group).replace();
      // A step stands where the last of its operators stood, which may be
      // behind a use of an earlier one.
      if (!groups.empty())
        sortTopologically(block);
    }
  }
};

} // namespace
} // namespace sol::native
