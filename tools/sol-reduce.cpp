//===- sol-reduce.cpp - make a failing example smaller --------------------===//
//
// mlir-reduce with Sol's dialects and passes.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/Pipeline.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  sol::registerDialects(registry);
  sol::registerPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
