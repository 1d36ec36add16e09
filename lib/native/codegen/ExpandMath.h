//===- ExpandMath.h - elementary functions in plain arithmetic ------------===//
//
// No compiled loop may call a library, nor may results depend on the host's: so
// `math.exp`, `math.tanh` and `math.erf` become the arithmetic of
// runtime/cpu/elementary.h, operation for operation, and the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_CODEGEN_EXPANDMATH_H
#define SOL_LIB_NATIVE_CODEGEN_EXPANDMATH_H

#include "mlir/IR/Operation.h"

namespace sol::native {

/// Replaces these functions of f32, scalar or vector, everywhere inside `root`.
void expandMath(mlir::Operation *root);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_CODEGEN_EXPANDMATH_H
