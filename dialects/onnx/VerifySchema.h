//===- VerifySchema.h - checks an operation against its schema ------------===//
//
// The verifier shared by all operators of the table.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_ONNX_VERIFYSCHEMA_H
#define SOL_DIALECTS_ONNX_VERIFYSCHEMA_H

#include "dialects/onnx/OnnxSchema.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sol::onnx {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Checks numbers and element types of operands against `schema`: arity,
/// allowed types, one type for each type variable. Used before an operation
/// exists too.
mlir::LogicalResult verifyOperands(const OpSchema &schema,
                                   mlir::TypeRange operands, EmitError error);

/// Checks that attributes are known, of the right kind, and that the required
/// ones are there. Names with a dot belong to dialects and are not looked at;
/// graphs are regions and are not looked for.
mlir::LogicalResult verifyAttributes(const OpSchema &schema,
                                     llvm::ArrayRef<mlir::NamedAttribute> given,
                                     EmitError error);

/// Everything about an operation but its regions.
mlir::LogicalResult verifySchema(mlir::Operation *op, const OpSchema &schema);

/// One region for each graph attribute, of one block that ends in `onnx.yield`.
mlir::LogicalResult verifyRegions(mlir::Operation *op, const OpSchema &schema);

} // namespace sol::onnx

#endif // SOL_DIALECTS_ONNX_VERIFYSCHEMA_H
