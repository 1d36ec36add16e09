//===- Refusal.h - whose fault a failed pass is ---------------------------===//
//
// A pass fails for one of two reasons: the model asks for what can't be done,
// which is told and ends there, or Sol is at fault, and then whoever mends it
// wants the IR (lib/pipeline/Reproducer.h). Passes that refuse models say so
// here; any other failure is Sol's.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SUPPORT_REFUSAL_H
#define SOL_LIB_SUPPORT_REFUSAL_H

#include "mlir/IR/BuiltinOps.h"

namespace sol {

/// Attribute of a module that a pass has refused.
inline constexpr llvm::StringLiteral refusedAttr = "sol.refused";

/// Says that the pass that is about to fail on `module` has told what is wrong
/// with the model.
inline void markRefused(mlir::ModuleOp module) {
  module->setAttr(refusedAttr, mlir::UnitAttr::get(module.getContext()));
}

inline bool isRefused(mlir::ModuleOp module) {
  return module->hasAttr(refusedAttr);
}

} // namespace sol

#endif // SOL_LIB_SUPPORT_REFUSAL_H
