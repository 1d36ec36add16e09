//===- Match.h - questions that recognisers ask about data flow -----------===//
//
// Small building blocks for matching ONNX operators by what flows where: which
// operator makes a value, which number a constant holds, which sizes are equal.
// Nothing here looks at names of nodes or values. A question that can't be
// answered for certain is answered with "no".
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_MATCH_H
#define SOL_LIB_NN_RECOGNIZE_MATCH_H

#include "dialects/nn/NnDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <optional>
#include <utility>

namespace sol::nn::recognize {

/// The ONNX operation `onnx.<name>` that makes `value`, after steps over
/// operators that change nothing (Identity, Cast to the same type); else null.
mlir::Operation *madeBy(mlir::Value value, llvm::StringRef name);
/// `value` before operators that change nothing.
mlir::Value skipNoOps(mlir::Value value);
/// Whether `op` is `onnx.<name>`.
bool isOnnx(mlir::Operation *op, llvm::StringRef name);
/// Operand `index` of `op`, null if it isn't there or is `onnx.none`.
mlir::Value operandOrNull(mlir::Operation *op, unsigned index);
/// Result `index` of `op`, null if it isn't there or has type none.
mlir::Value resultOrNull(mlir::Operation *op, unsigned index);

/// Attributes of an ONNX operation with the default for an absent one.
int64_t intAttr(mlir::Operation *op, llvm::StringRef name, int64_t byDefault);
double floatAttr(mlir::Operation *op, llvm::StringRef name, double byDefault);
/// Integers of an attribute of that name; empty if it is absent.
llvm::SmallVector<int64_t> intsAttr(mlir::Operation *op, llvm::StringRef name);

/// Whether the elements are float32, or a shorter float that kernels widen to
/// it.
bool isFloatStorage(mlir::Value value);
/// Whether the value is known before the run (constant, weight, folded).
bool isKnown(mlir::Value value);
/// The number that all elements of a small constant equal.
std::optional<double> uniformConstant(mlir::Value value);
/// As uniformConstant, for a constant of one element; broadcasting it against a
/// tensor of rank `rank` or more does not raise the rank.
std::optional<double> scalarConstant(mlir::Value value, int64_t rank);
/// The elements of a small integer constant.
std::optional<llvm::SmallVector<int64_t>> intConstant(mlir::Value value);

/// Ranked type of a value, null if it is unranked or no tensor.
mlir::RankedTensorType ranked(mlir::Value value);
int64_t rankOf(mlir::Value value); ///< -1 if unranked
/// Static size of an axis (negative: from the end), -1 if it is not static.
int64_t staticSize(mlir::Value value, int64_t axis);

/// Whether the only number in `axes` is the last axis of a tensor of `rank`.
bool isLastOf(const std::optional<llvm::SmallVector<int64_t>> &axes,
              int64_t rank);

/// The x of x[..., start::2], whose last axis is even; null if `value` is not
/// made so.
mlir::Value everySecond(mlir::Value value, int64_t start);
/// Text of the size of an axis: a number or a symbolic size; null if unknown.
mlir::StringAttr sizeText(mlir::RankedTensorType type, int64_t axis);
/// Whether two axes certainly have equal sizes.
bool sameSize(mlir::Value a, int64_t axisOfA, mlir::Value b, int64_t axisOfB);
/// Whether two tensors certainly have equal shapes.
bool sameShape(mlir::Value a, mlir::Value b);
/// `axis` counted from 0, for a tensor of rank `rank`.
inline int64_t fromStart(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}
/// The ranked type with these sizes; null if a size is null.
mlir::RankedTensorType typeOf(llvm::ArrayRef<mlir::StringAttr> sizes,
                              mlir::Type elementType);
/// `type` with the size of `axis` replaced by a number.
mlir::RankedTensorType withSize(mlir::RankedTensorType type, int64_t axis,
                                int64_t size);

/// The two operands of a commutative operator, in either order, such that
/// `accept(first, second)`; nullopt if neither order is accepted.
template <typename Accept>
std::optional<std::pair<mlir::Value, mlir::Value>>
inEitherOrder(mlir::Operation *op, Accept accept) {
  if (op->getNumOperands() != 2)
    return std::nullopt;
  mlir::Value a = op->getOperand(0), b = op->getOperand(1);
  if (accept(a, b))
    return std::pair(a, b);
  if (accept(b, a))
    return std::pair(b, a);
  return std::nullopt;
}

/// A run of entries along the last axis of `root`.
struct Piece {
  mlir::Value root;
  int64_t start = 0, size = 0;
};
/// `value` as entries of the last axis of another one, seen through Slice (of
/// step 1) and Split; the whole of itself if it is neither. Null root if the
/// last axis is not static.
Piece lastAxisPiece(mlir::Value value);

/// The operation `onnx.<name>` with one result.
mlir::Value createOnnx(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::StringRef name, mlir::ValueRange operands,
                       mlir::Type type,
                       llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
/// A one-dimensional int64 constant.
mlir::Value createInts(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<int64_t> values);
/// An operand that is not given.
mlir::Value createNone(mlir::OpBuilder &builder, mlir::Location loc);
/// The value itself, or entries `start` to `start + size` of its last axis.
mlir::Value createPiece(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, int64_t start, int64_t size);
/// `value` with its axes permuted.
mlir::Value createTranspose(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, llvm::ArrayRef<int64_t> perm);
/// `value` with an axis of size 1 inserted before `axis`.
mlir::Value createUnsqueeze(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, int64_t axis);

/// Says, to who listens to remarks of category "recognize", that `what` was
/// found at `op`, or nearly was and `why` not.
void remarkFound(mlir::Operation *op, llvm::StringRef what);
void remarkMissed(mlir::Operation *op, llvm::StringRef what,
                  llvm::StringRef why);

/// Applies patterns until none matches and removes operations whose results
/// nobody uses.
void applyRecognisers(mlir::Operation *root,
                      mlir::RewritePatternSet &&patterns);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_MATCH_H
