//===- KeyMask.h - masks from numbers of keys -----------------------------===//
//
// What operators say by integers about the keys that take part: masks and
// positions from them.
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

/// A mask that lets only as many keys of a row take part as `counts` (int64,
/// batch) says, and of those what `mask` does (of booleans or numbers to add,
/// broadcastable to batch x heads x step x keys; null if there is none). Sizes
/// of `key` must be known. Null if the mask's aren't.
mlir::Value createCountMask(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value counts, mlir::Value key,
                            mlir::Value mask);

/// int64 of batch: the position of the first of a step's queries, of which the
/// last stands at the last key that `counts` (int64, batch) counts. The step of
/// `query` (batch x heads x step x size) must be known.
mlir::Value createStepOffsets(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value counts, mlir::Value query);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_KEYMASK_H
