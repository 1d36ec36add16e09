//===- GroupQuery.h - com.microsoft.GroupQueryAttention taken apart -------===//
//
// Reads the operator and rebuilds what it does before its attention: queries,
// keys and values with heads as an axis, rotated.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_GROUPQUERY_H
#define SOL_LIB_NN_RECOGNIZE_GROUPQUERY_H

#include "lib/nn/recognize/attention/AttentionParts.h"

namespace sol::nn::recognize {

/// The operator's operands and attributes.
struct GroupQuery {
  mlir::Operation *op = nullptr;
  int64_t heads = 0, sharedHeads = 0, headSize = 0, window = 0;
  double scale = 0, softcap = 0;
  bool rotates = false, interleaved = false;
  mlir::Value pastKey, pastValue; ///< null if there is none
};

/// Reads `op`; `why` says what is in the way if it can't be taken apart.
std::optional<GroupQuery> readGroupQuery(mlir::Operation *op,
                                         llvm::StringRef &why);

/// What the operators of all layers compute alike, so that it is created once.
/// Layers must be visited in the order of their block.
struct SharedAcrossLayers {
  struct Offsets {
    mlir::Value lastIndices, totalLength;
    mlir::StringAttr batch, step;
    mlir::Value offsets;
  };
  struct Rows {
    mlir::Value table, positions, rows;
  };
  llvm::SmallVector<Offsets> offsets;
  llvm::SmallVector<Rows> rows;
};

/// int64 tensor of batch: the position of each row's first new token, which is
/// the row's total length minus the step, or 0 in a first prompt (where the
/// longest total equals the step and shorter rows are padded on the right).
mlir::Value createOffsets(const GroupQuery &group, SharedAcrossLayers &shared,
                          mlir::OpBuilder &builder);

/// Queries, keys and values of the step as batch x heads x step x size; queries
/// and keys are rotated at positions from `offsets` on (from 0 on if null), or
/// at the operator's own. Null queries if a size is not known.
AttentionParts createStep(const GroupQuery &group, mlir::Value offsets,
                          SharedAcrossLayers &shared, mlir::OpBuilder &builder);

/// nn.attention over all keys and values, and the operator's result from it.
mlir::Value createResult(const GroupQuery &group, const AttentionParts &parts,
                         mlir::Value offsets, mlir::OpBuilder &builder);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_GROUPQUERY_H
