//===- Passes.h - the passes of the nn stage ------------------------------===//
//
// Declarations generated from Passes.td, and the stage's registration.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_PASSES_H
#define SOL_LIB_NN_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace sol::nn {

#define GEN_PASS_DECL
#include "lib/nn/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/nn/Passes.h.inc"

} // namespace sol::nn

#endif // SOL_LIB_NN_PASSES_H
