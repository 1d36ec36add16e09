//===- Reproducer.cpp - a failed pass leaves what shows the failure -------===//
//
// The IR is kept as a copy from before each pipeline: it is small, as weights
// are references, and a pass that fails leaves anything behind.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/Reproducer.h"

#include "lib/support/Refusal.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace mlir;

namespace sol {
namespace {

/// Remembers the first pass that failed: the innermost, where passes run
/// others.
class FailedPass : public PassInstrumentation {
public:
  explicit FailedPass(std::string &name) : name(name) {}

  void runAfterPassFailed(Pass *pass, Operation *) override {
    // Functions may be worked on at the same time.
    std::lock_guard<std::mutex> lock(mutex);
    if (name.empty())
      name = pass->getArgument().str();
  }

private:
  std::string &name;
  std::mutex mutex;
};

/// Makes the file for a reproducer; an error code if there is no place for it.
std::error_code openReproducer(StringRef output, SmallVectorImpl<char> &path,
                               int &file) {
  bool isFile = !output.empty() && output != "-" &&
                (!llvm::sys::fs::exists(output) ||
                 llvm::sys::fs::is_regular_file(output));
  (output + ".reproducer.mlir").toVector(path);
  if (isFile && !llvm::sys::fs::openFileForWrite(path, file))
    return {};
  path.clear();
  return llvm::sys::fs::createTemporaryFile("sol-reproducer", "mlir", file,
                                            path);
}

/// Writes `before` in the form that `--run-reproducer` reads.
void writeReproducer(ModuleOp before, StringRef pipeline, StringRef failedPass,
                     StringRef output) {
  InFlightDiagnostic error = emitError(UnknownLoc::get(before.getContext()));
  error << "pass `" << failedPass
        << "` failed, which is a fault of Sol and not of the model; ";
  SmallString<128> path;
  int file = -1;
  if (std::error_code code = openReproducer(output, path, file)) {
    error << "what shows it could not be written: " << code.message();
    return;
  }
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  // Locations are the nodes' names.
  AsmState state(before, OpPrintingFlags().enableDebugInfo());
  std::string whole = ("builtin.module(" + pipeline + ")").str();
  state.attachResourcePrinter("mlir_reproducer",
                              [&](Operation *, AsmResourceBuilder &builder) {
                                builder.buildString("pipeline", whole);
                                builder.buildBool("disable_threading", true);
                                builder.buildBool("verify_each", true);
                              });
  before->print(stream, state);
  stream << "\n";
  stream.close();
  if (stream.has_error()) {
    error << "what shows it could not be written to " << path << ": "
          << stream.error().message();
    stream.clear_error();
    return;
  }
  error << "please report it with " << path << ", on which `sol-opt " << path
        << " --run-reproducer` fails alike";
}

} // namespace

std::optional<std::string> runPipelines(ModuleOp module,
                                        ArrayRef<std::string> pipelines,
                                        StringRef output) {
  for (const std::string &pipeline : pipelines) {
    std::string failedPass;
    PassManager passes(module.getContext());
    if (failed(parsePassPipeline(pipeline, passes)))
      return pipeline;
    passes.addInstrumentation(std::make_unique<FailedPass>(failedPass));
    OwningOpRef<ModuleOp> before(cast<ModuleOp>(module->clone()));
    if (succeeded(passes.run(module)))
      continue;
    if (!isRefused(module))
      writeReproducer(*before, pipeline, failedPass, output);
    return failedPass;
  }
  return std::nullopt;
}

} // namespace sol
