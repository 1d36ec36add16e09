//===- AssignSlots.cpp - memory for every computed value ------------------===//
//
// A scan over each list of steps in order: a value takes a free slot when it is
// made and gives it back after its last use. Views live in the slot of what
// they view, so a slot is free when the last of its views is. Sizes are
// symbolic, so the choice among free slots is by an estimate; the runtime sizes
// the slots.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NnDialect.h"
#include "lib/native/Passes.h"
#include "lib/native/loops/LoopNest.h"
#include "runtime/cpu/kernel.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace sol::native {
#define GEN_PASS_DEF_ASSIGNSLOTSPASS
#include "lib/native/Passes.h.inc"
} // namespace sol::native

using namespace mlir;

namespace {

/// What a size that is known at run time only is taken for when slots are
/// chosen.
constexpr int64_t assumedSize = 256;

int64_t estimatedBytes(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped)
    return assumedSize * assumedSize;
  int64_t bits = shaped.getElementType().getIntOrFloatBitWidth();
  int64_t count = 1;
  for (int64_t size : shaped.getShape())
    count *= ShapedType::isDynamic(size) ? assumedSize : size;
  return count * bits / 8;
}

/// True if two values of this type surely have the same size.
bool hasKnownSize(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  return ranked && (ranked.hasStaticShape() ||
                    isa_and_present<sol::nn::DimsAttr>(ranked.getEncoding()));
}

class SlotAssignment {
public:
  explicit SlotAssignment(func::FuncOp func) : func(func) {}

  void run() {
    for (Block &block : func.getBody())
      assign(block);
    func->setAttr(sol::cpu::CpuDialect::slotsAttr,
                  Builder(func.getContext()).getI64IntegerAttr(slotCount));
  }

private:
  struct FreeSlot {
    int64_t slot;
    int64_t bytes;
  };

  /// The value whose memory `value` lies in.
  Value rootOf(Value value) const {
    auto found = viewed.find(value);
    return found == viewed.end() ? value : found->second;
  }

  void assign(Block &block) {
    llvm::DenseMap<Value, Operation *> lastUses = findLastUses(block);
    for (Operation &op : block) {
      if (op.getDialect()->getNamespace() != "cpu")
        continue;
      SmallVector<int64_t> slots;
      for (OpResult result : op.getResults())
        slots.push_back(slotFor(result, lastUses));
      // The results of control flow are written while its regions' values live.
      if (!isa<sol::cpu::NativeOp>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            assignInner(op, inner);
      if (op.getNumResults() > 0)
        op.setAttr("slots", DenseI64ArrayAttr::get(op.getContext(), slots));
      release(block, op, lastUses);
    }
  }

  void assignInner(Operation &parent, Block &inner) {
    SmallVector<int64_t> slots;
    for (BlockArgument argument : inner.getArguments().drop_front(
             std::min<unsigned>(2, inner.getNumArguments()))) {
      slots.push_back(takeSlot(argument));
      slotOf[argument] = slots.back();
    }
    if (isa<sol::cpu::LoopOp>(parent))
      parent.setAttr("argument_slots",
                     DenseI64ArrayAttr::get(parent.getContext(), slots));
    assign(inner);
    // What left the block has been copied out: its slots are free again.
    for (Operation &op : inner)
      for (Value result : op.getResults())
        giveBack(result);
    for (BlockArgument argument : inner.getArguments())
      giveBack(argument);
  }

  /// For each value made in `block`, the last operation of the block that uses
  /// it or a view of it, in a region too; null if none does.
  llvm::DenseMap<Value, Operation *> findLastUses(Block &block) {
    llvm::DenseMap<Value, Operation *> lastUses;
    for (Operation &op : block) {
      if (auto kernel = dyn_cast<sol::cpu::KernelOp>(op))
        if (kernel.getView())
          viewed[op.getResult(0)] = rootOf(op.getOperand(0));
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          lastUses[rootOf(operand)] = &op;
          lastUses[operand] = &op;
        }
      });
    }
    return lastUses;
  }

  int64_t slotFor(OpResult result,
                  const llvm::DenseMap<Value, Operation *> &lastUses) {
    if (!isa<TensorType>(result.getType()) || viewed.contains(result))
      return -1;
    int64_t slot = slotInPlace(result, lastUses);
    if (slot < 0)
      slot = takeSlot(result);
    slotOf[result] = slot;
    return slot;
  }

  /// The operands that a step may overwrite with `result`, if they are of its
  /// type. A compiled loop reads an element before it writes it, unless it goes
  /// along a row several times.
  static SmallVector<unsigned> overwritable(OpResult result) {
    Operation *step = result.getOwner();
    if (auto kernelStep = dyn_cast<sol::cpu::KernelOp>(step)) {
      const sol::KernelDefinition *kernel =
          sol::findKernel(std::string_view(kernelStep.getName()));
      if (kernel && kernel->inPlace >= 0 && result.getResultNumber() == 0 &&
          kernel->inPlace < static_cast<int>(step->getNumOperands()))
        return {static_cast<unsigned>(kernel->inPlace)};
    }
    if (auto loop = dyn_cast<sol::cpu::NativeOp>(step)) {
      auto nest = sol::native::LoopNest::of(loop);
      if (succeeded(nest) && !nest->byRows)
        return llvm::to_vector(llvm::seq(step->getNumOperands()));
    }
    return {};
  }

  /// The slot of an operand that the step may overwrite, or -1.
  int64_t slotInPlace(OpResult result,
                      const llvm::DenseMap<Value, Operation *> &lastUses) {
    if (!hasKnownSize(result.getType()))
      return -1;
    for (unsigned operand : overwritable(result)) {
      int64_t slot = takeFromOperand(result, operand, lastUses);
      if (slot >= 0)
        return slot;
    }
    return -1;
  }

  /// The slot of the operand if it dies in the step and is of the result's
  /// type; it is no longer the operand's then. -1 otherwise.
  int64_t takeFromOperand(OpResult result, unsigned number,
                          const llvm::DenseMap<Value, Operation *> &lastUses) {
    Operation *step = result.getOwner();
    Value operand = step->getOperand(number);
    Value root = rootOf(operand);
    auto slot = slotOf.find(root);
    if (slot == slotOf.end() || lastUses.lookup(root) != step ||
        root.getParentBlock() != step->getBlock() ||
        operand.getType() != result.getType())
      return -1;
    for (auto [i, other] : llvm::enumerate(step->getOperands()))
      if (i != number && rootOf(other) == root)
        return -1;
    int64_t taken = slot->second;
    slotOf.erase(slot);
    return taken;
  }

  int64_t takeSlot(Value value) {
    int64_t bytes = estimatedBytes(value.getType());
    bytesOf[value] = bytes;
    // The smallest that is large enough, else the largest, which will grow.
    auto best = free.end();
    for (auto slot = free.begin(); slot != free.end(); ++slot) {
      if (best == free.end()) {
        best = slot;
        continue;
      }
      bool fits = slot->bytes >= bytes, bestFits = best->bytes >= bytes;
      if (fits ? !bestFits || slot->bytes < best->bytes
               : !bestFits && slot->bytes > best->bytes)
        best = slot;
    }
    if (best == free.end())
      return slotCount++;
    int64_t slot = best->slot;
    bytesOf[value] = std::max(bytes, best->bytes);
    free.erase(best);
    return slot;
  }

  void giveBack(Value value) {
    auto slot = slotOf.find(value);
    if (slot == slotOf.end())
      return;
    free.push_back({slot->second, bytesOf.lookup(value)});
    slotOf.erase(slot);
  }

  /// Frees what `op` used for the last time, and results that nobody uses.
  void release(Block &block, Operation &op,
               const llvm::DenseMap<Value, Operation *> &lastUses) {
    SmallVector<Value> dead;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Value root = rootOf(operand);
        if (root.getParentBlock() == &block && lastUses.lookup(root) == &op)
          dead.push_back(root);
      }
    });
    for (Value result : op.getResults())
      if (!lastUses.contains(result))
        dead.push_back(result);
    for (Value value : dead)
      giveBack(value);
  }

  func::FuncOp func;
  int64_t slotCount = 0;
  SmallVector<FreeSlot> free;
  llvm::DenseMap<Value, Value> viewed;
  llvm::DenseMap<Value, int64_t> slotOf, bytesOf;
};

struct AssignSlotsPass
    : sol::native::impl::AssignSlotsPassBase<AssignSlotsPass> {
  void runOnOperation() override {
    sol::registerAllKernels();
    SlotAssignment(getOperation()).run();
  }
};

} // namespace
