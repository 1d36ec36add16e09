//===- Upgrade.h - nodes of older operator versions -----------------------===//
//
// Rewrites a node of an older version of its operator to the newest version's
// form and meaning, step by step as the table lists them.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_UPGRADE_UPGRADE_H
#define SOL_LIB_IMPORT_UPGRADE_UPGRADE_H

#include "dialects/onnx/OnnxSchema.h"
#include "dialects/onnx/VerifySchema.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <functional>
#include <optional>
#include <string>

namespace sol {

/// A node on its way to the newest version. Upgrades change it in place and may
/// create operations before it with `builder`.
struct NodeVersion {
  std::string opType;
  int version;
  llvm::SmallVector<mlir::Value> inputs;
  mlir::NamedAttrList attributes;
  unsigned numOutputs;
  mlir::OpBuilder &builder;
  mlir::Location location;
  onnx::EmitError error;
  /// Makes the node's first result from that of the rewritten operation.
  std::function<mlir::Value(mlir::Value)> finish;

  /// Input `index`, null if it is not given.
  mlir::Value input(unsigned index) const;
  /// Sets input `index`; the ones before it that are not there become none.
  void setInput(unsigned index, mlir::Value value);
  /// Removes an attribute and gives its value; the default if it is not there.
  int64_t takeInt(llvm::StringRef name, int64_t otherwise);
  std::optional<double> takeFloat(llvm::StringRef name);
  std::optional<llvm::SmallVector<int64_t>> takeInts(llvm::StringRef name);
  /// Removes the integers `name` and makes them input `index`; false if they
  /// are not there.
  bool intsToInput(llvm::StringRef name, unsigned index);
};

/// Rewrites a node whose `version` is one of the operator's; says why it cannot
/// be otherwise. `opType` may change where an operator was replaced by another.
mlir::LogicalResult upgradeToNewest(NodeVersion &node);

/// Operator that took the place of a removed one (Upsample, Scatter), or
/// `opType` itself.
llvm::StringRef replacementOf(llvm::StringRef opType);

/// Versions of a removed operator, ascending; empty for all others.
llvm::ArrayRef<int> removedVersions(llvm::StringRef opType);

/// The rewrite to `version` from the one before; null if there is none.
using Upgrade = mlir::LogicalResult (*)(NodeVersion &);
Upgrade findUpgrade(llvm::StringRef opType, int version);

// The rewrites, by family.
mlir::LogicalResult upgradeAxesToInput(NodeVersion &node);
mlir::LogicalResult upgradeSlice(NodeVersion &node);
mlir::LogicalResult upgradeSplitToInput(NodeVersion &node);
mlir::LogicalResult upgradeSplitCount(NodeVersion &node);
mlir::LogicalResult upgradePad(NodeVersion &node);
mlir::LogicalResult upgradeTopK(NodeVersion &node);
mlir::LogicalResult upgradeDft(NodeVersion &node);
mlir::LogicalResult upgradeFlattenedSoftmax(NodeVersion &node);
mlir::LogicalResult upgradeClip(NodeVersion &node);
mlir::LogicalResult upgradeDropout(NodeVersion &node);
mlir::LogicalResult upgradeBatchNormSpatial(NodeVersion &node);
mlir::LogicalResult upgradeBatchNormOutputs(NodeVersion &node);
mlir::LogicalResult upgradeResizeToModes(NodeVersion &node);
mlir::LogicalResult upgradeResizeEmptyInputs(NodeVersion &node);
mlir::LogicalResult upgradeUpsample(NodeVersion &node);
mlir::LogicalResult upgradeRoiAlign(NodeVersion &node);
mlir::LogicalResult upgradeGridSample(NodeVersion &node);

} // namespace sol

#endif // SOL_LIB_IMPORT_UPGRADE_UPGRADE_H
