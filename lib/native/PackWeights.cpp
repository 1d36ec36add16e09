//===- PackWeights.cpp - constant matrices in the order of their reading --===//
//
// The packing itself is the kernel nn.pack_panels, evaluated when the plan is
// written.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NnDialect.h"
#include "lib/native/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace sol::native {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "lib/native/Passes.h.inc"
} // namespace sol::native

using namespace mlir;

namespace {

/// Columns of a panel; NnOps.td says how panels lie.
constexpr int64_t panelColumns = 16;

/// The packed form of `matrix`, a constant of the model.
Value packPanels(OpBuilder &builder, Value matrix, bool transposed) {
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t depth = type.getDimSize(transposed ? 1 : 0);
  int64_t columns = type.getDimSize(transposed ? 0 : 1);
  auto packed = RankedTensorType::get(
      {llvm::divideCeilSigned(columns, panelColumns), depth, panelColumns},
      type.getElementType());
  Operation *source = matrix.getDefiningOp();
  builder.setInsertionPointAfter(source);
  auto folded = sol::nn::FoldedOp::create(builder, source->getLoc(), packed);
  Block &body = folded.getBody().emplaceBlock();
  builder.setInsertionPointToStart(&body);
  Value inside;
  if (auto inner = dyn_cast<sol::nn::FoldedOp>(source)) {
    // One expression, not an expression in another.
    IRMapping mapping;
    for (Operation &op : inner.getBody().front().without_terminator())
      builder.clone(op, mapping);
    inside = mapping.lookup(
        inner.getBody().front().getTerminator()->getOperand(0));
  } else {
    inside = builder.clone(*source)->getResult(0);
  }
  auto panels = sol::nn::PackPanelsOp::create(builder, source->getLoc(), packed,
                                              inside, transposed);
  sol::nn::YieldOp::create(builder, source->getLoc(),
                           ValueRange(panels.getResult()));
  return folded.getResult();
}

struct PackWeightsPass
    : sol::native::impl::PackWeightsPassBase<PackWeightsPass> {
  void runOnOperation() override {
    llvm::DenseMap<std::pair<Value, int>, Value> packed;
    OpBuilder builder(&getContext());
    getOperation().walk([&](sol::nn::LinearOp linear) {
      Value matrix = linear.getWeight();
      Operation *source = matrix.getDefiningOp();
      if (linear.getPacked() || !source ||
          !isa<sol::nn::WeightOp, sol::nn::FoldedOp, sol::nn::ConstantOp>(
              source))
        return;
      bool transposed = linear.getTransposed();
      Value &panels = packed[{matrix, int(transposed)}];
      if (!panels)
        panels = packPanels(builder, matrix, transposed);
      auto type = cast<RankedTensorType>(matrix.getType());
      linear.setColumns(type.getDimSize(transposed ? 0 : 1));
      linear.getWeightMutable().assign(panels);
      linear.setTransposed(false);
      linear.setPacked(true);
    });
  }
};

} // namespace
