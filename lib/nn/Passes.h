//===- Passes.h - the passes of the nn stage ------------------------------===//
//
// Declarations generated from Passes.td, and the stage's registration.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_PASSES_H
#define SOL_LIB_NN_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace sol::nn {

#define GEN_PASS_DECL
#include "lib/nn/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/nn/Passes.h.inc"

/// (N1) of verify-nn alone: reports every operator that nothing computes and
/// whose results are used. For a stage that fails before verify-nn, so that
/// its errors are not mended only to meet these.
llvm::LogicalResult verifyComputed(mlir::ModuleOp module);

} // namespace sol::nn

#endif // SOL_LIB_NN_PASSES_H
