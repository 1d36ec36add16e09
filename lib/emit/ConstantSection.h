//===- ConstantSection.h - constants of all functions, each once ----------===//
//
// Evaluates the constants that a module's programs use and writes each of them
// once into the weights section, however many functions and steps use it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_EMIT_CONSTANTSECTION_H
#define SOL_LIB_EMIT_CONSTANTSECTION_H

#include "lib/emit/PlanFileWriter.h"
#include "lib/support/EvaluateConstant.h"

#include "llvm/ADT/StringMap.h"

namespace sol {

/// Where a constant lies in the plan.
struct PlacedConstant {
  DType type = DType::None;
  Dims dims;
  uint64_t offset = 0; ///< in the weights section
  uint64_t bytes = 0;
};

class ConstantSection {
public:
  ConstantSection(PlanFileWriter &writer, WeightReader readWeight);

  /// Writes the constant unless an equal one has been written already. Equal
  /// means the same reference or the same expression, not the same bytes: that
  /// is known without reading them.
  llvm::FailureOr<PlacedConstant> place(mlir::Value constant);

private:
  PlanFileWriter &writer;
  ConstantEvaluator evaluator;
  llvm::StringMap<PlacedConstant> placed;
};

} // namespace sol

#endif // SOL_LIB_EMIT_CONSTANTSECTION_H
