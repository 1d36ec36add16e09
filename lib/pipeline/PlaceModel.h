//===- PlaceModel.h - a compiled model's place on wafers ------------------===//
//
// Runs the place stage on what the nn stage left, prints its figures and writes
// the report.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PIPELINE_PLACEMODEL_H
#define SOL_LIB_PIPELINE_PLACEMODEL_H

#include "sol/compile.h"

#include "mlir/IR/BuiltinOps.h"

namespace sol {

/// Places the one function of `module` as `options.place` asks. `contextLimit`
/// is the model's own, 0 if it has none; `options.context` goes first. The
/// summary goes to standard output, or to standard error where that is for IR.
/// The module then holds the placement in the `place` dialect, verified.
mlir::LogicalResult placeModel(mlir::ModuleOp module,
                               const CompileOptions &options,
                               int64_t contextLimit);

} // namespace sol

#endif // SOL_LIB_PIPELINE_PLACEMODEL_H
