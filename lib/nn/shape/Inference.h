//===- Inference.h - shapes and elements of all values of a function ------===//
//
// Applies the rules to every operation in order and sets the types of all
// values.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_SHAPE_INFERENCE_H
#define SOL_LIB_NN_SHAPE_INFERENCE_H

#include "lib/nn/shape/Facts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sol::nn {

/// Sets the type of every value of `function` to what can be proved, and the
/// function's type with them. Arguments are taken at their word: their symbols
/// are bound by them, and a size without a name gets a symbol of its own.
/// `elements` gets what is known of the elements of small integer tensors
/// (bool, int32, int64); it is valid until the IR changes. Fails after
/// reporting every contradiction.
mlir::LogicalResult inferShapes(mlir::func::FuncOp function,
                                ElementFacts &elements);

} // namespace sol::nn

#endif // SOL_LIB_NN_SHAPE_INFERENCE_H
