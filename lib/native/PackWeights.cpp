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
    inside =
        mapping.lookup(inner.getBody().front().getTerminator()->getOperand(0));
  } else {
    inside = builder.clone(*source)->getResult(0);
  }
  auto panels = sol::nn::PackPanelsOp::create(builder, source->getLoc(), packed,
                                              inside, transposed);
  sol::nn::YieldOp::create(builder, source->getLoc(),
                           ValueRange(panels.getResult()));
  return folded.getResult();
}

/// A constant matrix as a view of one weight of the model.
struct WeightView {
  sol::nn::SpanAttr span; ///< null if the constant is anything else
  bool transposed = false;
  bool operator==(const WeightView &other) const {
    return span && span == other.span && transposed == other.transposed;
  }
};

/// Sees through a transposition that was folded into the constant.
WeightView viewOf(Value constant) {
  Operation *source = constant.getDefiningOp();
  if (auto weight = dyn_cast_or_null<sol::nn::WeightOp>(source))
    return {weight.getSpan(), false};
  auto folded = dyn_cast_or_null<sol::nn::FoldedOp>(source);
  if (!folded)
    return {};
  Block &body = folded.getBody().front();
  Operation *last = body.getTerminator()->getOperand(0).getDefiningOp();
  auto order = last && last->getName().getStringRef() == "onnx.Transpose"
                   ? last->getAttrOfType<DenseI64ArrayAttr>("perm")
                   : DenseI64ArrayAttr();
  if (!order || order.asArrayRef() != ArrayRef<int64_t>{1, 0})
    return {};
  WeightView view = viewOf(last->getOperand(0));
  view.transposed = !view.transposed;
  return view;
}

/// Looks rows up in the panels of a product with the transposed table instead
/// of in a second copy of it.
void lookUpInPanels(func::FuncOp func, WeightView table, Value panels,
                    int64_t rows) {
  SmallVector<Operation *> lookups;
  func.walk([&](Operation *op) {
    if (op->getName().getStringRef() == "onnx.Gather" &&
        viewOf(op->getOperand(0)) == table)
      lookups.push_back(op);
  });
  for (Operation *op : lookups) {
    auto axis = op->getAttrOfType<IntegerAttr>("axis");
    if (axis && axis.getInt() != 0 && axis.getInt() != -2)
      continue;
    OpBuilder builder(op);
    if (panels.getDefiningOp()->getBlock() == op->getBlock() &&
        op->isBeforeInBlock(panels.getDefiningOp()))
      panels.getDefiningOp()->moveBefore(op);
    auto embedding = sol::nn::EmbeddingOp::create(
        builder, op->getLoc(), op->getResult(0).getType(), panels,
        op->getOperand(1), builder.getI64IntegerAttr(rows));
    op->replaceAllUsesWith(embedding);
    op->erase();
  }
}

struct PackWeightsPass
    : sol::native::impl::PackWeightsPassBase<PackWeightsPass> {
  void runOnOperation() override {
    llvm::DenseMap<std::pair<Value, int>, Value> packed;
    tables.clear();
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
      WeightView table = viewOf(matrix);
      table.transposed ^= !transposed;
      tables.push_back(
          {table, panels, static_cast<int64_t>(*linear.getColumns())});
    });
    for (const Table &table : tables)
      if (table.view.span)
        lookUpInPanels(getOperation(), table.view, table.panels, table.rows);
  }

private:
  /// What a product's panels are as a table of rows.
  struct Table {
    WeightView view;
    Value panels;
    int64_t rows;
  };
  SmallVector<Table> tables;
};

} // namespace
