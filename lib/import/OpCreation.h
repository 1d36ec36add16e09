//===- OpCreation.h - makes operations of the onnx dialect ----------------===//
//
// Operations by schema, with result types from the table's rules.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_OPCREATION_H
#define SOL_LIB_IMPORT_OPCREATION_H

#include "dialects/onnx/OnnxSchema.h"

#include "mlir/IR/Builders.h"

namespace sol {

/// Types of `count` results of an operator, unranked; a null type where the
/// table gives none. For operators without regions.
llvm::SmallVector<mlir::Type> unrankedResultTypes(
    const onnx::OpSchema &schema, unsigned count, mlir::TypeRange operands,
    const mlir::NamedAttrList &attributes, mlir::MLIRContext *context);

/// Makes the operator `name` of the default domain with one result, whose type
/// the table must give; the caller knows that the operands fit.
mlir::Value createOnnx(mlir::OpBuilder &builder, mlir::Location location,
                       llvm::StringRef name, mlir::ValueRange operands,
                       const mlir::NamedAttrList &attributes = {});

/// A constant int64 vector, or scalar.
mlir::Value createInts(mlir::OpBuilder &builder, mlir::Location location,
                       llvm::ArrayRef<int64_t> values);
mlir::Value createInt(mlir::OpBuilder &builder, mlir::Location location,
                      int64_t value);
/// A constant scalar of a floating-point or integer element type; null for
/// others.
mlir::Value createScalar(mlir::OpBuilder &builder, mlir::Location location,
                         mlir::Type element, double value);
/// An operand that is not given.
mlir::Value createNone(mlir::OpBuilder &builder, mlir::Location location);

} // namespace sol

#endif // SOL_LIB_IMPORT_OPCREATION_H
