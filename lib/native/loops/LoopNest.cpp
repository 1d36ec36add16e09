//===- LoopNest.cpp - what the body of a cpu.native amounts to ------------===//
//
// See LoopNest.h.
//
//===----------------------------------------------------------------------===//
#include "lib/native/loops/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace sol::native {
namespace {

/// Reads a body into a LoopNest.
class NestReader {
public:
  explicit NestReader(cpu::NativeOp op) : op(op), body(op.getBody().front()) {}

  FailureOr<LoopNest> read() {
    if (failed(readGenerics()) || failed(readOperands()) ||
        failed(readResults()))
      return failure();
    groupAxes();
    return std::move(nest);
  }

private:
  LogicalResult readGenerics() {
    for (Operation &inner : body.without_terminator()) {
      if (auto generic = dyn_cast<linalg::GenericOp>(inner)) {
        generics.push_back(generic);
        nest.rank = std::max(nest.rank, generic.getNumLoops());
        nest.byRows |= joinsRows(generic);
      } else if (!isa<linalg::FillOp, tensor::EmptyOp, tensor::DimOp>(inner) &&
                 !isa<arith::ArithDialect>(inner.getDialect())) {
        return inner.emitError("is no part of a compiled loop");
      }
    }
    if (nest.rank == 0)
      return op.emitOpError("computes nothing along an axis");
    for (linalg::GenericOp generic : generics)
      if (failed(check(generic)))
        return failure();
    return success();
  }

  LogicalResult check(linalg::GenericOp generic) {
    unsigned loops = generic.getNumLoops();
    unsigned joined = generic.getNumReductionLoops();
    bool fits = generic.getNumResults() == 1 &&
                ((loops == nest.rank && joined == 0) ||
                 (loops + 1 == nest.rank && joined == 0) ||
                 (loops == nest.rank && joinsRows(generic)));
    if (!fits)
      return generic.emitError("does not run over the space of its loop");
    return success();
  }

  LogicalResult readOperands() {
    for (BlockArgument argument : body.getArguments()) {
      std::optional<TensorAxes> axes;
      for (OpOperand &use : argument.getUses())
        if (auto generic = dyn_cast<linalg::GenericOp>(use.getOwner())) {
          std::optional<TensorAxes> here =
              axesOf(generic.getMatchingIndexingMap(&use));
          if (!here || (axes && *axes != *here))
            return generic.emitError("reads argument ")
                   << argument.getArgNumber()
                   << " in another way than one element at its place";
          axes = here;
        }
      if (!axes)
        return op.emitOpError("does not use its argument ")
               << argument.getArgNumber();
      nest.operands.push_back(*axes);
    }
    return success();
  }

  /// Axes in order, constant zeros for axes of size 1.
  static std::optional<TensorAxes> axesOf(AffineMap map) {
    TensorAxes axes;
    int64_t last = -1;
    for (AffineExpr expression : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
        if (dim.getPosition() <= last)
          return std::nullopt;
        last = dim.getPosition();
        axes.push_back(last);
      } else {
        auto constant = dyn_cast<AffineConstantExpr>(expression);
        if (!constant || constant.getValue() != 0)
          return std::nullopt;
        axes.push_back(-1);
      }
    }
    return axes;
  }

  LogicalResult readResults() {
    for (Value value : body.getTerminator()->getOperands()) {
      auto generic = value.getDefiningOp<linalg::GenericOp>();
      if (!generic)
        return op.emitOpError("yields what no generic computes");
      TensorAxes axes;
      bool perRow = joinsRows(generic) || generic.getNumLoops() < nest.rank;
      for (int64_t axis = 0; axis < nest.rank; ++axis)
        axes.push_back(perRow && axis + 1 == nest.rank ? -1 : axis);
      nest.results.push_back(axes);
    }
    return success();
  }

  /// Can the two neighbours be one size for this tensor?
  static bool areOne(const TensorAxes &axes, int64_t axis) {
    const auto *first = llvm::find(axes, axis);
    const auto *second = llvm::find(axes, axis + 1);
    if (first == axes.end() || second == axes.end())
      return first == second;
    return second == first + 1;
  }

  void groupAxes() {
    int64_t group = 0;
    for (int64_t axis = 0; axis < nest.rank; ++axis) {
      nest.groups.push_back(group);
      bool isBeforeRow = axis + 2 == nest.rank && nest.byRows;
      auto one = [&](const TensorAxes &axes) { return areOne(axes, axis); };
      if (isBeforeRow || !llvm::all_of(nest.operands, one) ||
          !llvm::all_of(nest.results, one))
        ++group;
    }
    nest.sizes = nest.groups.back() + 1;
  }

  cpu::NativeOp op;
  Block &body;
  LoopNest nest;
  SmallVector<linalg::GenericOp> generics;
};

} // namespace

bool joinsRows(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  return op.getNumReductionLoops() == 1 &&
         iterators.back() == utils::IteratorType::reduction;
}

FailureOr<LoopNest> LoopNest::of(cpu::NativeOp op) {
  return NestReader(op).read();
}

} // namespace sol::native
