//===- Pipeline.cpp - the stages as pass pipelines ------------------------===//
//
// See Pipeline.h.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/Pipeline.h"

#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/place/PlaceDialect.h"
#include "lib/native/Passes.h"
#include "lib/nn/Passes.h"
#include "lib/place/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace sol {
namespace {

struct PassEntry {
  Stage stage;
  const char *pipeline;
  bool recognition = false; ///< left out by --no-recognition
  bool nativeCode = false;  ///< left out by --native=none
};

/// Every pass of Stages.def with the stage that it stands under.
std::vector<PassEntry> listPasses() {
  std::vector<PassEntry> entries;
  Stage stage = Stage::Import;
#define SOL_STAGE(name, text) stage = Stage::name;
#define SOL_PASS(pipeline, recognition)                                        \
  entries.push_back({stage, pipeline, recognition, false});
#define SOL_NATIVE_CODE_PASS(pipeline)                                         \
  entries.push_back({stage, pipeline, false, true});
#include "lib/pipeline/Stages.def"
  return entries;
}

constexpr const char *stageNames[] = {
#define SOL_STAGE(name, text) text,
#define SOL_PASS(pipeline, recognition)
#include "lib/pipeline/Stages.def"
};

} // namespace

StringRef stageName(Stage stage) { return stageNames[static_cast<int>(stage)]; }

std::optional<Stage> stageNamed(StringRef name) {
  for (auto [i, candidate] : llvm::enumerate(stageNames))
    if (name == candidate)
      return static_cast<Stage>(i);
  return std::nullopt;
}

std::vector<std::string> stagePipelines(Stage stage,
                                        const StageOptions &options) {
  std::vector<std::string> pipelines;
  for (const PassEntry &entry : listPasses())
    if (entry.stage == stage && (options.recognition || !entry.recognition) &&
        (options.nativeCode || !entry.nativeCode))
      pipelines.push_back(entry.pipeline);
  return pipelines;
}

void registerDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, cpu::CpuDialect, func::FuncDialect,
              linalg::LinalgDialect, math::MathDialect, nn::NnDialect,
              onnx::OnnxDialect, place::PlaceDialect, tensor::TensorDialect>();
}

void registerPasses() {
  nn::registerNnPasses();
  native::registerNativePasses();
  place::registerPlacePasses();
  registerTransformsPasses();
  for (Stage stage : {Stage::Nn, Stage::Native}) {
    std::string name = stageName(stage).str() + "-stage";
    std::string text =
        "The passes of the stage `" + stageName(stage).str() + "`";
    PassPipelineRegistration<>(name, text, [stage](OpPassManager &passes) {
      // Every name in Stages.def is registered above, so this can't fail.
      for (const std::string &pipeline : stagePipelines(stage, StageOptions()))
        (void)parsePassPipeline(pipeline, passes);
    });
  }
}

} // namespace sol
