//===- RowStages.h - how often a loop goes along a row --------------------===//
//
// A value that needs a whole row joined first is computed in a later stage:
// each stage is one loop along the row. Values that a later stage reads again
// are kept in between, in a result's memory or in scratch memory.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_CODEGEN_ROWSTAGES_H
#define SOL_LIB_NATIVE_CODEGEN_ROWSTAGES_H

#include "lib/native/loops/LoopNest.h"

#include "llvm/ADT/DenseMap.h"

namespace sol::native {

class RowStages {
public:
  RowStages(cpu::NativeOp op, const LoopNest &nest);

  unsigned count() const { return stages; }
  /// The stage that computes an element of the generic, or joins it; for what
  /// is computed once for each row, the stage that it must be ready for.
  unsigned stageOf(mlir::linalg::GenericOp generic) const {
    return stage.lookup(generic);
  }
  /// True for what has one value for each row.
  bool isPerRow(mlir::linalg::GenericOp generic) const {
    return joinsRows(generic) || generic.getNumLoops() < rank;
  }
  /// True if a stage after its own reads the generic's elements.
  bool isReadLater(mlir::linalg::GenericOp generic) const {
    return later.contains(generic);
  }

private:
  /// The first stage in which a value that `generic` reads is at hand.
  unsigned readyFor(mlir::Value value) const;

  unsigned rank, stages = 1;
  llvm::DenseMap<mlir::Operation *, unsigned> stage;
  llvm::DenseSet<mlir::Operation *> later;
};

} // namespace sol::native

#endif // SOL_LIB_NATIVE_CODEGEN_ROWSTAGES_H
