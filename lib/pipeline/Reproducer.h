//===- Reproducer.h - a failed pass leaves what shows the failure ---------===//
//
// Runs pipelines of passes. When a pass fails through a fault of Sol, the IR
// before its pipeline is written to a file together with the pipeline, so that
// `sol-opt FILE --run-reproducer` fails alike. A model that is refused
// (lib/support/Refusal.h) leaves no file.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PIPELINE_REPRODUCER_H
#define SOL_LIB_PIPELINE_REPRODUCER_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace sol {

/// Runs `pipelines`, texts such as `func.func(cse)`, on `module` one after the
/// other. Gives the name of the pass that failed, after its errors, or nothing
/// if none did. A reproducer goes to `output` with `.reproducer.mlir` appended,
/// or to the folder for temporary files where `output` is no file; an error
/// names it.
std::optional<std::string> runPipelines(mlir::ModuleOp module,
                                        llvm::ArrayRef<std::string> pipelines,
                                        llvm::StringRef output);

} // namespace sol

#endif // SOL_LIB_PIPELINE_REPRODUCER_H
