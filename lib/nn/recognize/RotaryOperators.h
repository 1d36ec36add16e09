//===- RotaryOperators.h - operators that are a rotary embedding ----------===//
//
// Patterns for the operators of ONNX and com.microsoft.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_ROTARYOPERATORS_H
#define SOL_LIB_NN_RECOGNIZE_ROTARYOPERATORS_H

#include "lib/nn/recognize/match/Match.h"

namespace sol::nn::recognize {

/// Adds the patterns that turn both domains' RotaryEmbedding into nn.rotary.
void populateRotaryOperators(mlir::RewritePatternSet &patterns);

/// Rows of `table` (positions x R) at `positions` (batch x step, int64), with
/// an axis for heads: batch x 1 x step x R. Null if a size is not known.
mlir::Value createRows(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value table, mlir::Value positions);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_ROTARYOPERATORS_H
