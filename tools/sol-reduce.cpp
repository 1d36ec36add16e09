//===- sol-reduce.cpp - make a failing example smaller --------------------===//
//
// mlir-reduce with Sol's dialects and passes.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/Pipeline.h"
#include "sol/version.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &out) {
    out << sol::versionText("sol-reduce") << "\n";
  });
  mlir::DialectRegistry registry;
  sol::registerDialects(registry);
  sol::registerPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
