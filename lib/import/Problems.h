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
#include "llvm/ADT/DenseSet.h"

#include <string>
#include <vector>

namespace sol {

/// Errors of one import.
class Problems {
public:
  /// Number of errors shown in full.
  static constexpr unsigned shown = 20;

  /// Starts the next error.
  mlir::InFlightDiagnostic error(mlir::Location location) {
    mlir::InFlightDiagnostic diagnostic = mlir::emitError(location);
    complained.insert(location);
    if (++count > shown)
      diagnostic.abandon();
    return diagnostic;
  }

  /// An error that a later stage will find too if it still matters then. It is
  /// told here only if there are others, none of them at the same location, so
  /// that nobody mends a model only to meet the next refusal.
  void errorAmongOthers(mlir::Location location, std::string text) {
    others.emplace_back(location, std::move(text));
  }

  /// False if the text of another one of those would not be seen.
  bool showsMoreOthers() const { return others.size() < shown; }

  bool any() const { return count != 0; }

  /// True if the text of another error would not be seen.
  bool isFull() const { return count >= shown; }

  /// Tells the errors that come only with others, and says how many were not
  /// shown, if any.
  void finish(mlir::Location location) {
    if (any())
      for (const auto &[where, text] : others)
        if (!complained.contains(where))
          error(where) << text;
    if (count > shown)
      mlir::emitError(location) << "and " << count - shown << " more errors";
  }

private:
  unsigned count = 0;
  llvm::DenseSet<mlir::Location> complained;
  std::vector<std::pair<mlir::Location, std::string>> others;
};

} // namespace sol

#endif // SOL_LIB_IMPORT_PROBLEMS_H
