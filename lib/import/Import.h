//===- Import.h - from an ONNX file to the onnx dialect -------------------===//
//
// The first stage: a model file becomes a module of `onnx` and `nn` operations.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_IMPORT_H
#define SOL_LIB_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace sol {

/// How to import a model.
struct ImportOptions {
  /// Name of the function that the graph becomes.
  std::string functionName = "main";
  /// Whether files of external data may be absent: their weights then refer to
  /// files that are not there.
  bool weightless = false;
};

/// Reads the model at `path` into a module with one function.
///
/// Arguments carry `nn.name` and, where their sizes are known by name,
/// `#nn.dims` of the names as the model writes them; results carry `nn.name`
/// and the declared type, `nn.declared`. Each operation has the newest
/// version's form and meaning and its node's name as location; each value has
/// an element type, few have a shape. Weights are spans relative to the model's
/// folder, which the module does not name (lib/support/ModelFiles.h finds
/// them).
///
/// All that is wrong with the model is reported through the context's
/// diagnostics; then the result is a failure.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(llvm::StringRef path, mlir::MLIRContext &context,
           const ImportOptions &options = {});

} // namespace sol

#endif // SOL_LIB_IMPORT_IMPORT_H
