//===- Passes.h - passes of the place stage -------------------------------===//
//
// Declarations generated from Passes.td, where they are documented.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_PASSES_H
#define SOL_LIB_PLACE_PASSES_H

#include "lib/place/graph/ReadModel.h"
#include "lib/place/report/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace sol::place {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/place/Passes.h.inc"

/// Puts a `place.plan` for `function` behind it and marks its operators.
void attachPlan(mlir::func::FuncOp function, const ReadModel &model,
                const Plan &plan);

/// Removes what attachPlan put into a module.
void detachPlans(mlir::ModuleOp module);

} // namespace sol::place

#endif // SOL_LIB_PLACE_PASSES_H
