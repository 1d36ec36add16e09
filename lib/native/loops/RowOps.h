//===- RowOps.h - operators along the last axis ---------------------------===//
//
// Reductions, softmax and norms along rows, as loops. The sums are those of the
// runtime's kernels: eight lanes by index mod 8, joined in a fixed tree
// (docs/decisions/0005), which is what code generation makes of a reduction.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_LOOPS_ROWOPS_H
#define SOL_LIB_NATIVE_LOOPS_ROWOPS_H

#include "lib/native/loops/LoopBody.h"

namespace sol::native {

/// If `op` works along the last axis of its first operand and can be a loop:
/// whether its result has elements or one value for each row.
std::optional<LoopLevel> rowOpLevel(mlir::Operation *op);

/// The operands that the loop reads.
llvm::SmallVector<mlir::Value> rowOperands(mlir::Operation *op);

/// Builds the operator from its operands, in the order of `rowOperands`.
LoopValue buildRowOp(LoopBody &body, mlir::OpBuilder &builder,
                     mlir::Operation *op, llvm::ArrayRef<LoopValue> operands);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_LOOPS_ROWOPS_H
