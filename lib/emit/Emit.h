//===- Emit.h - writes plan.bin -------------------------------------------===//
//
// The last stage of the compiler: a module of host programs to a plan file
// (docs/plan-format.md). Decides nothing about the program.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_EMIT_EMIT_H
#define SOL_LIB_EMIT_EMIT_H

#include "lib/support/EvaluateConstant.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>
#include <vector>

namespace sol {

struct EmitOptions {
  std::string output;   ///< path of the plan
  std::string compiler; ///< version text that the plan records
  int64_t context = 0;  ///< most positions of a sequence; 0 = not limited
  /// Instruction-set levels that compiled loops get machine code for.
  std::vector<std::string> nativeLevels;
  /// Files that travel in the plan: name, content.
  std::vector<std::pair<std::string, std::string>> resources;
};

/// Writes the plan under a temporary name and renames it when whole; on failure
/// reports an error and leaves nothing behind. Identical modules and options
/// give identical bytes.
llvm::LogicalResult emitPlan(mlir::ModuleOp module, WeightReader readWeight,
                             const EmitOptions &options);

} // namespace sol

#endif // SOL_LIB_EMIT_EMIT_H
