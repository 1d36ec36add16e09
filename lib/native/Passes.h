//===- Passes.h - passes of the native stage ------------------------------===//
//
// Declarations generated from Passes.td, where they are documented.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_PASSES_H
#define SOL_LIB_NATIVE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sol::native {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/native/Passes.h.inc"
} // namespace sol::native

#endif // SOL_LIB_NATIVE_PASSES_H
