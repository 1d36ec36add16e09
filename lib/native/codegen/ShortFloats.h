//===- ShortFloats.h - 16-bit floats in plain arithmetic ------------------===//
//
// Processors of the plainest level can't convert float16, and none converts
// bfloat16 as needed; a library must not be called. So 16-bit floats are
// carried as their bits, and conversions are integer arithmetic, rounding to
// nearest, ties to even, as IEEE 754 says.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_CODEGEN_SHORTFLOATS_H
#define SOL_LIB_NATIVE_CODEGEN_SHORTFLOATS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sol::native {

/// True for f16 and bf16.
bool isShortFloat(mlir::Type type);

/// The f32 values of i16 `bits` (scalar or vector) that are floats of `type`.
mlir::Value widenShortFloat(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value bits, mlir::Type type);

/// The i16 bits of f32 `values` (scalar or vector) rounded to `type`.
mlir::Value narrowToShortFloat(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value values, mlir::Type type);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_CODEGEN_SHORTFLOATS_H
