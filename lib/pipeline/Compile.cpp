//===- Compile.cpp - from ONNX files to a plan ----------------------------===//
//
// Runs the stages over all models of a plan; see include/sol/compile.h.
//
//===----------------------------------------------------------------------===//
#include "sol/compile.h"

#include "dialects/nn/NnDialect.h"
#include "lib/emit/Emit.h"
#include "lib/import/Import.h"
#include "lib/nn/Passes.h"
#include "lib/pipeline/EmbeddedFiles.h"
#include "lib/pipeline/Pipeline.h"
#include "lib/pipeline/PlaceModel.h"
#include "lib/pipeline/PrintDiagnostics.h"
#include "lib/pipeline/Reproducer.h"
#include "lib/place/Passes.h"
#include "lib/support/ElementTypes.h"
#include "lib/support/ModelFiles.h"
#include "lib/support/Refusal.h"
#include "sol/version.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

#include <filesystem>
#include <mutex>

using namespace mlir;

namespace sol {
namespace {

/// Module attribute that names the last finished stage.
constexpr llvm::StringLiteral stageAttr = "sol.stage";
/// Module attribute that holds the folder which weights' spans are relative to.
/// It never reaches a plan.
constexpr llvm::StringLiteral folderAttr = "sol.model_folder";

/// Bytes of weights that may have been read since their pages were last
/// dropped.
constexpr int64_t mostBytesKept = 64 << 20;

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

class Compilation {
public:
  explicit Compilation(const CompileOptions &options)
      : options(options), context(makeRegistry()),
        diagnostics(context, options.remarks) {
    context.loadAllAvailableDialects();
    if (!options.remarks)
      return;
    remark::RemarkCategories all;
    all.all = ".*";
    // No streamer: remarks become diagnostics, which `diagnostics` prints. This
    // fails only for a pattern that is no regular expression.
    (void)remark::enableOptimizationRemarks(
        context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
        all, /*printAsEmitRemarks=*/true);
  }

  LogicalResult run() {
    bool isLoaded = true;
    // One model's faults are told with the other's.
    for (const CompileInput &input : options.inputs)
      isLoaded &= succeeded(loadInput(input));
    if (!isLoaded)
      return failure();
    if (!resumed) {
      (*module)->setAttr(folderAttr, StringAttr::get(&context, folder));
      if (failed(finish(Stage::Import)))
        return failure();
    }
    if (options.stopAfter == stageName(Stage::Import))
      return writeIr(options.output.empty() ? "-" : options.output);
    for (Stage stage : {Stage::Nn, Stage::Native}) {
      // The host's program has no place on wafers.
      if (stage == Stage::Native)
        place::detachPlans(*module);
      if (stage > finished && failed(runStage(stage)))
        return failure();
      if (options.stopAfter == stageName(stage))
        return writeIr(options.output.empty() ? "-" : options.output);
      if (stage != Stage::Nn || options.place.target.empty())
        continue;
      if (failed(place()))
        return failure();
      if (options.stopAfter == "place")
        return writeIr(options.output.empty() ? "-" : options.output);
      // A report needs nothing that comes behind.
      if (options.output.empty())
        return success();
    }
    return emit();
  }

private:
  LogicalResult error(const Twine &text) {
    return mlir::emitError(UnknownLoc::get(&context)) << text;
  }

  LogicalResult loadInput(const CompileInput &input) {
    report("reading " + input.path);
    if (StringRef(input.path).ends_with(".mlir"))
      return loadIr(input.path);
    ImportOptions importOptions;
    importOptions.functionName = input.function;
    importOptions.weightless = options.weightless;
    auto imported = importOnnx(input.path, context, importOptions);
    if (failed(imported))
      return failure();
    std::error_code failure;
    std::filesystem::path from = std::filesystem::absolute(input.path, failure);
    std::string inputFolder = from.parent_path().lexically_normal().string();
    if (!module) {
      module = std::move(*imported);
      folder = inputFolder;
      return success();
    }
    return merge(**imported, inputFolder);
  }

  /// Moves the functions of another model into the module. Its weights become
  /// relative to the first model's folder.
  LogicalResult merge(ModuleOp other, StringRef otherFolder) {
    std::string prefix = std::filesystem::path(otherFolder.str())
                             .lexically_relative(folder)
                             .string();
    if (StringRef(prefix).starts_with(".."))
      return error("models of one plan must lie in the folder of the first one "
                   "or below it: " +
                   otherFolder + " is outside of " + folder);
    if (prefix != ".")
      other.walk([&](nn::WeightOp weight) {
        nn::SpanAttr span = weight.getSpan();
        auto file =
            StringAttr::get(&context, prefix + "/" + span.getFile().str());
        weight.setSpanAttr(nn::SpanAttr::get(
            &context, file, span.getOffset(), span.getLength(),
            span.getIsProto(), span.getHash()));
      });
    for (func::FuncOp func :
         llvm::make_early_inc_range(other.getOps<func::FuncOp>())) {
      if (module->lookupSymbol(func.getName()))
        return error("two models are called `" + func.getName() +
                     "`; name one with --function NAME=FILE");
      func->moveBefore(module->getBody(), module->getBody()->end());
    }
    return success();
  }

  /// Reads IR that a stage left and goes on behind that stage.
  LogicalResult loadIr(StringRef path) {
    if (module)
      return error(path + ": IR can't be compiled together with other files");
    module = parseSourceFile<ModuleOp>(path, &context);
    if (!module)
      return failure();
    auto stage = (*module)->getAttrOfType<StringAttr>(stageAttr);
    auto where = (*module)->getAttrOfType<StringAttr>(folderAttr);
    std::optional<Stage> known =
        stage ? stageNamed(stage.getValue()) : std::nullopt;
    if (!known || !where)
      return error(path + ": lacks the module attributes `" + stageAttr +
                   "` and `" + folderAttr +
                   "` that --dump-ir and --stop-after write");
    finished = *known;
    folder = where.str();
    resumed = true;
    return success();
  }

  void report(const Twine &text) const {
    if (options.progress)
      options.progress(text.str());
  }

  LogicalResult runStage(Stage stage) {
    report("stage " + stageName(stage));
    std::vector<std::string> pipelines = stagePipelines(
        stage, {options.recognition, !options.nativeLevels.empty()});
    std::optional<std::string> failedPass =
        runPipelines(*module, pipelines, options.output);
    if (!failedPass)
      return finish(stage);
    // A stage that refuses the model early has not looked at all of it.
    if (stage == Stage::Nn && isRefused(*module) && *failedPass != "verify-nn")
      (void)nn::verifyComputed(*module);
    return failure();
  }

  /// Marks the stage as finished and dumps its IR if asked to.
  LogicalResult finish(Stage stage) {
    finished = stage;
    (*module)->setAttr(stageAttr, StringAttr::get(&context, stageName(stage)));
    if (options.dumpIrFolder.empty())
      return success();
    if (std::error_code failed =
            llvm::sys::fs::create_directories(options.dumpIrFolder))
      return error(options.dumpIrFolder + ": " + failed.message());
    SmallString<128> path(options.dumpIrFolder);
    llvm::sys::path::append(path, Twine(static_cast<int>(stage)) + "-" +
                                      stageName(stage) + ".mlir");
    return writeIr(path);
  }

  /// Fills in the hashes of weights, so that whoever goes on from the IR
  /// notices when the model's files have changed.
  LogicalResult hashWeights() {
    ModelFiles files(folder);
    WalkResult result = module->walk([&](nn::WeightOp weight) {
      if (weight.getSpan().getHash() != 0)
        return WalkResult::advance();
      FailureOr<nn::SpanAttr> span =
          files.withHash(weight.getSpan(), [&] { return weight.emitError(); });
      if (failed(span))
        return WalkResult::interrupt();
      weight.setSpanAttr(*span);
      files.dropPages();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult writeIr(StringRef path) {
    if (!options.weightless && failed(hashWeights()))
      return failure();
    std::string reason;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &reason);
    if (!file)
      return error(reason);
    // Locations are the nodes' names: without them a resumed plan would differ.
    (*module)->print(file->os(), OpPrintingFlags().enableDebugInfo());
    file->os() << "\n";
    file->keep();
    return success();
  }

  LogicalResult place() {
    report("placing on " + options.place.target);
    NamedContents files;
    if (failed(embedFiles(folder, files)))
      return failure();
    if (failed(placeModel(*module, options, contextLimit(files))))
      return failure();
    if (options.dumpIrFolder.empty())
      return success();
    SmallString<128> path(options.dumpIrFolder);
    llvm::sys::path::append(path, "place.mlir");
    return writeIr(path);
  }

  LogicalResult emit() {
    ModelFiles files(folder);
    int64_t bytesRead = 0, bytesInAll = 0;
    auto readWeight = [&](nn::WeightOp weight) -> FailureOr<ConstantBytes> {
      FailureOr<ConstantBytes> result = readFrom(files, weight);
      // Pages that were read would pile up until the whole model is in memory.
      if (succeeded(result)) {
        bytesRead += result->tensor.bytes();
        bytesInAll += result->tensor.bytes();
        report("writing weights: " + Twine(bytesInAll >> 20) + " MiB");
      }
      if (bytesRead > mostBytesKept) {
        files.dropPages();
        bytesRead = 0;
      }
      return result;
    };
    EmitOptions emitOptions;
    emitOptions.output = options.output;
    emitOptions.compiler = versionText("sol-compile");
    emitOptions.nativeLevels = options.nativeLevels;
    if (failed(embedFiles(folder, emitOptions.resources)))
      return failure();
    emitOptions.context = options.context > 0
                              ? options.context
                              : contextLimit(emitOptions.resources);
    return emitPlan(*module, readWeight, emitOptions);
  }

  static FailureOr<ConstantBytes> readFrom(ModelFiles &files,
                                           nn::WeightOp weight) {
    auto type = cast<RankedTensorType>(weight.getType());
    auto emitError = [&] { return weight.emitError(); };
    if (weight.getSpan().getHash() != 0) {
      FailureOr<nn::SpanAttr> now = files.withHash(weight.getSpan(), emitError);
      if (failed(now))
        return failure();
      if (*now != weight.getSpan())
        return emitError() << "its bytes in `" << weight.getSpan().getFile()
                           << "` differ from their hash: the model changed "
                              "since the IR was written";
    }
    FailureOr<TensorData> data =
        files.read(weight.getSpan(), type, [&] { return weight.emitError(); });
    if (failed(data))
      return failure();
    ConstantBytes result;
    result.tensor.type = dtypeOf(type.getElementType());
    result.tensor.dims.assign(type.getShape().begin(), type.getShape().end());
    auto owner = std::make_shared<TensorData>(std::move(*data));
    // Kernels only read their inputs; the mapping is read-only.
    result.tensor.data = const_cast<char *>(owner->bytes.data());
    result.owner = std::move(owner);
    return result;
  }

  const CompileOptions &options;
  MLIRContext context;
  PrintDiagnostics diagnostics;
  OwningOpRef<ModuleOp> module;
  std::string folder;
  Stage finished = Stage::Import;
  bool resumed = false;
};

} // namespace

bool compile(const CompileOptions &options) {
  static std::once_flag registered;
  std::call_once(registered, registerPasses);
  return succeeded(Compilation(options).run());
}

} // namespace sol
