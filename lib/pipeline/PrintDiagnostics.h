//===- PrintDiagnostics.h - diagnostics as a user reads them --------------===//
//
// Prints diagnostics to standard error as `error: node `name`: text`, instead
// of locations in a file that the user never wrote.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PIPELINE_PRINTDIAGNOSTICS_H
#define SOL_LIB_PIPELINE_PRINTDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace sol {

/// Handles a context's diagnostics while it lives.
class PrintDiagnostics {
public:
  /// `remarks` tells whether remarks are printed.
  PrintDiagnostics(mlir::MLIRContext &context, bool remarks);
  ~PrintDiagnostics();

private:
  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID handler;
};

} // namespace sol

#endif // SOL_LIB_PIPELINE_PRINTDIAGNOSTICS_H
