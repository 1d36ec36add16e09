//===- LoopBody.h - builds the body of a compiled loop --------------------===//
//
// The body of a `cpu.native` is `linalg` on tensors over one space of elements.
// Its axes are those of the largest tensors; the last one runs along rows. What
// is computed for each element has the whole space as its shape; what is
// computed for each row lacks the last axis.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_LOOPS_LOOPBODY_H
#define SOL_LIB_NATIVE_LOOPS_LOOPBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace sol::native {

/// The size of one axis: its number, or the text of its expression, so that
/// equal sizes have equal texts (see `#nn.dims`). Empty if it is not known.
std::string sizeText(mlir::RankedTensorType type, int64_t axis);

/// The sizes of a space, one text for each axis.
using LoopSpace = llvm::SmallVector<std::string>;

/// The sizes of a type's axes.
LoopSpace spaceOf(mlir::RankedTensorType type);

/// For each axis of an operand the axis of the space that runs along it, -1 for
/// an axis of size 1 that is repeated; none if the operand can't be proved to
/// broadcast to the space.
std::optional<llvm::SmallVector<int64_t>>
axesInSpace(mlir::RankedTensorType operand, const LoopSpace &space);

enum class LoopLevel { Elements, Rows };

/// A value inside the body: a tensor and how the space reads it, or a constant.
struct LoopValue {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> index;
  mlir::TypedAttr constant;
};

/// Builds scalar code of one element.
using ScalarBuilder =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

class LoopBody {
public:
  /// Builds at `builder`'s place, for a space of `space`'s sizes.
  LoopBody(mlir::OpBuilder &builder, LoopSpace space)
      : builder(builder), space(std::move(space)) {}

  /// Takes an argument of the body: `tensor` of `axes` as `axesInSpace` gives
  /// them. All arguments come before anything is computed.
  LoopValue addOperand(mlir::Value tensor, llvm::ArrayRef<int64_t> axes);

  /// A new tensor of elements of `type`, computed from one element of each
  /// input.
  LoopValue compute(mlir::Location loc, LoopLevel level, mlir::Type type,
                    llvm::ArrayRef<LoopValue> inputs, ScalarBuilder build);

  /// Joins the elements of each row, starting from `nothing`; `join` takes what
  /// has been joined and the next one.
  LoopValue reduce(mlir::Location loc, LoopValue input, mlir::TypedAttr nothing,
                   ScalarBuilder join);

  /// The number of elements of a row as f32.
  mlir::Value rowLength(mlir::Location loc);

  unsigned rank() const { return space.size(); }

private:
  mlir::AffineMap mapOf(const LoopValue &value, unsigned loops);
  mlir::Value sizeOf(mlir::Location loc, unsigned axis);
  mlir::Value empty(mlir::Location loc, LoopLevel level, mlir::Type type);

  mlir::OpBuilder &builder;
  LoopSpace space;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> carriers;
  llvm::SmallVector<mlir::Value> sizes; ///< of the axes, once asked for
};

} // namespace sol::native

#endif // SOL_LIB_NATIVE_LOOPS_LOOPBODY_H
