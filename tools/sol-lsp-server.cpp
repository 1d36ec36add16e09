//===- sol-lsp-server.cpp - IR in an editor -------------------------------===//
//
// The MLIR language server with Sol's dialects.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/Pipeline.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  sol::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
