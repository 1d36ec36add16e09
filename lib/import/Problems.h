//===- Problems.h - what is wrong with a model, told all at once ----------===//
//
// Collects the errors of an import: the first ones are shown in full, the rest
// are counted.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_PROBLEMS_H
#define SOL_LIB_IMPORT_PROBLEMS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace sol {

/// Errors of one import.
class Problems {
public:
  /// Number of errors shown in full.
  static constexpr unsigned shown = 20;

  /// Starts the next error.
  mlir::InFlightDiagnostic error(mlir::Location location) {
    mlir::InFlightDiagnostic diagnostic = mlir::emitError(location);
    if (++count > shown)
      diagnostic.abandon();
    return diagnostic;
  }

  bool any() const { return count != 0; }

  /// Says how many errors were not shown, if any.
  void finish(mlir::Location location) const {
    if (count > shown)
      mlir::emitError(location) << "and " << count - shown << " more errors";
  }

private:
  unsigned count = 0;
};

} // namespace sol

#endif // SOL_LIB_IMPORT_PROBLEMS_H
