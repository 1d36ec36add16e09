//===- sol-import.cpp - prints the import of an ONNX model ----------------===//
//
// The first stage alone: `sol-import [--weightless] [--quiet] MODEL` writes the
// module to standard output. For tests and for a look at what arrives.
//
//===----------------------------------------------------------------------===//
#include "lib/import/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  cl::opt<std::string> path(cl::Positional, cl::Required,
                            cl::desc("<model.onnx>"));
  cl::opt<bool> weightless("weightless",
                           cl::desc("allow files of weights to be absent"));
  cl::opt<bool> quiet("quiet", cl::desc("print nothing but errors"));
  cl::opt<bool> locations("locations", cl::desc("print locations"));
  cl::ParseCommandLineOptions(argc, argv, "Prints the import of a model.\n");

  mlir::MLIRContext context;
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
    llvm::errs() << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error
                         ? "error: "
                         : "note: ")
                 << diagnostic << "\n";
    return mlir::success();
  });
  sol::ImportOptions options;
  options.weightless = weightless;
  auto module = sol::importOnnx(path, context, options);
  if (failed(module))
    return 1;
  if (!quiet) {
    mlir::OpPrintingFlags flags;
    (*module)->print(llvm::outs(), flags.enableDebugInfo(locations));
    llvm::outs() << "\n";
  }
  return 0;
}
