//===- Pipeline.h - the stages as pass pipelines --------------------------===//
//
// Stages.def lists the stages and their passes; this builds them.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PIPELINE_PIPELINE_H
#define SOL_LIB_PIPELINE_PIPELINE_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <optional>

namespace sol {

enum class Stage {
#define SOL_STAGE(name, text) name,
#define SOL_PASS(pipeline, recognition)
#include "lib/pipeline/Stages.def"
};

/// The stage's name on command lines.
llvm::StringRef stageName(Stage stage);
/// The stage of that name.
std::optional<Stage> stageNamed(llvm::StringRef name);

/// What a stage leaves out.
struct StageOptions {
  bool recognition = true; ///< without it everything takes the generic path
  bool nativeCode = true;  ///< without it every operator runs by a kernel
};

/// The passes of `stage` in order, as textual pipelines for a module.
std::vector<std::string> stagePipelines(Stage stage,
                                        const StageOptions &options);

/// Registers Sol's dialects, and those of upstream that Sol uses.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers every pass of Sol and of upstream that a pipeline names, and each
/// stage as a pipeline `--<stage>-stage`.
void registerPasses();

} // namespace sol

#endif // SOL_LIB_PIPELINE_PIPELINE_H
