//===- ScalarOps.h - elementwise operators on one element -----------------===//
//
// What an elementwise ONNX operator computes for one element, in the `arith`
// and `math` dialects. The operations are those of the runtime's kernels in the
// same order (runtime/cpu/tensor_ops/elementwise), so that compiled loops and
// kernels give the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_LOOPS_SCALAROPS_H
#define SOL_LIB_NATIVE_LOOPS_SCALAROPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sol::native {

/// True for the element types that compiled loops compute with: f32, i64, i32
/// and i1. They also convert from and to f16 and bf16.
bool isLoopElementType(mlir::Type type);

/// True if `op` is an elementwise operator that `buildScalarOp` knows, with
/// operand and result types that it takes. Says nothing about shapes.
bool isScalarOp(mlir::Operation *op);

/// The operands of `op` that its loop reads, in the order in which
/// `buildScalarOp` takes their elements; leaves out missing ones, and exponents
/// that are known.
llvm::SmallVector<mlir::Value> scalarOperands(mlir::Operation *op);

/// Builds the result of `op` for one element of each of its scalar operands.
mlir::Value buildScalarOp(mlir::OpBuilder &builder, mlir::Operation *op,
                          mlir::ValueRange elements);

/// The one value of a constant of one element, if `value` is that and has an
/// element type of loops; null otherwise.
mlir::TypedAttr constantElement(mlir::Value value);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_LOOPS_SCALAROPS_H
