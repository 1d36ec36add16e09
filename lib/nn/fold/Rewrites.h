//===- Rewrites.h - the parts of folding ----------------------------------===//
//
// Each function rewrites a function once, with what shape inference found
// before; the pass repeats them until nothing changes. All keep the values of
// every run that succeeds, bit for bit.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_FOLD_REWRITES_H
#define SOL_LIB_NN_FOLD_REWRITES_H

#include "lib/nn/shape/Facts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sol::nn {

/// Largest constant that is kept in the IR, in bytes.
inline constexpr int64_t maxConstantBytes = 1024;

/// Bytes of a tensor of static shape; -1 if it is not static or beyond int64.
int64_t byteSize(mlir::Type type);

/// Scans.cpp: a Scan becomes a Loop, which the host runs. Wants types inferred.
void replaceScans(mlir::func::FuncOp function);

/// KnownValues.cpp: values whose elements are all numbers become constants.
void replaceKnownValues(mlir::func::FuncOp function, const ElementFacts &facts);

/// ShapeOperands.cpp: shapes that operators take as operands become constants
/// where they can be written so, and otherwise short code at the function's
/// start that reads sizes of arguments.
void simplifyShapeOperands(mlir::func::FuncOp function,
                           const ElementFacts &facts);

/// Structure.cpp: operators that change nothing, and chains of movements.
void simplifyStructure(mlir::func::FuncOp function);

/// Conditions.cpp: an If with a known condition becomes its branch.
void inlineKnownConditions(mlir::func::FuncOp function);

/// EvaluateOperators.cpp: operators on constants become constants.
void evaluateOperators(mlir::func::FuncOp function);

/// FormFolded.cpp: operators on weights become nn.folded.
void formFolded(mlir::func::FuncOp function);

/// Conditions.cpp: erases operators without use or effect.
void eraseUnused(mlir::func::FuncOp function);

} // namespace sol::nn

#endif // SOL_LIB_NN_FOLD_REWRITES_H
