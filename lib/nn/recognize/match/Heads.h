//===- Heads.h - heads as an axis and heads side by side ------------------===//
//
// Moves between the two arrangements of a tensor with heads.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_HEADS_H
#define SOL_LIB_NN_RECOGNIZE_HEADS_H

#include "lib/nn/recognize/match/Match.h"

namespace sol::nn::recognize {

/// batch x step x (heads * size) to batch x heads x step x size; null if the
/// last axis doesn't divide by `heads` or a size is not known.
mlir::Value splitHeads(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, int64_t heads);

/// batch x heads x step x size to batch x step x (heads * size), of type
/// `type`.
mlir::Value mergeHeads(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, mlir::Type type);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_HEADS_H
