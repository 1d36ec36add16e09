//===- sol-lsp-server.cpp - IR in an editor -------------------------------===//
//
// The MLIR language server with Sol's dialects.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/Pipeline.h"
#include "sol/version.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &out) {
    out << sol::versionText("sol-lsp-server") << "\n";
  });
  mlir::DialectRegistry registry;
  sol::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
