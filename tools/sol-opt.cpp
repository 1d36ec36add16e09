//===- sol-opt.cpp - run passes on IR -------------------------------------===//
//
// mlir-opt with Sol's dialects, passes and pipelines.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/Pipeline.h"
#include "sol/version.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &out) {
    out << sol::versionText("sol-opt") << "\n";
  });
  mlir::DialectRegistry registry;
  sol::registerDialects(registry);
  sol::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Sol's pass driver\n", registry));
}
