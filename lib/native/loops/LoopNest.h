//===- LoopNest.h - what the body of a cpu.native amounts to --------------===//
//
// The space that a compiled loop runs over, and how operands and results lie in
// it. Code generation, the plan's description and the choice of slots read it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_LOOPS_LOOPNEST_H
#define SOL_LIB_NATIVE_LOOPS_LOOPNEST_H

#include "dialects/cpu/CpuDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sol::native {

/// For each axis of a tensor the axis of the space that runs along it, -1 for
/// an axis of size 1.
using TensorAxes = llvm::SmallVector<int64_t>;

struct LoopNest {
  /// Axes of the space.
  unsigned rank = 0;
  /// For each axis of the space, which of the code's sizes it multiplies into:
  /// neighbours that every tensor has side by side, or lacks, are one size.
  llvm::SmallVector<int64_t> groups;
  /// Number of the code's sizes.
  unsigned sizes = 1;
  llvm::SmallVector<TensorAxes> operands, results;
  /// True if elements of a row are joined: a row is then the least piece.
  bool byRows = false;

  /// Fails, with an error at `op`, for a body that is no loop over one space.
  static llvm::FailureOr<LoopNest> of(cpu::NativeOp op);

  /// True if the tensor has an element for each place along a row.
  bool runsAlongRows(const TensorAxes &axes) const {
    return llvm::is_contained(axes, static_cast<int64_t>(rank) - 1);
  }
};

/// True for the generics that join elements along rows.
bool joinsRows(mlir::linalg::GenericOp op);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_LOOPS_LOOPNEST_H
