//===- KeyMask.h - the integer masks of com.microsoft's attentions --------===//
//
// Numbers to add to scores from what those operators take as a mask.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_KEYMASK_H
#define SOL_LIB_NN_RECOGNIZE_KEYMASK_H

#include "lib/nn/recognize/match/Match.h"

namespace sol::nn::recognize {

/// 0 where `mask` lets a key take part and `filter` elsewhere: batch x 1 x 1 or
/// step x keys, in the element type of `query` (batch x heads x step x size).
/// `mask` holds, for each row of the batch, the number of its keys (`key`:
/// batch x heads x keys x size), or a number above 0 for each key that takes
/// part: batch x keys, or batch x step x keys. Null if it has another shape.
mlir::Value createKeyMask(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value mask, mlir::Value query, mlir::Value key,
                          double filter);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_KEYMASK_H
