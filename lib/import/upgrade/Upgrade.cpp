//===- Upgrade.cpp - nodes of older operator versions ---------------------===//
//
// Walks a node through the versions of its operator. Steps that change nothing
// are in the operator table; the others have a rewrite here or are refused.
//
//===----------------------------------------------------------------------===//
#include "lib/import/upgrade/Upgrade.h"

#include "lib/import/OpCreation.h"

using namespace mlir;

namespace sol {

Value NodeVersion::input(unsigned index) const {
  if (index >= inputs.size() || isa<NoneType>(inputs[index].getType()))
    return {};
  return inputs[index];
}

void NodeVersion::setInput(unsigned index, Value value) {
  while (inputs.size() <= index)
    inputs.push_back(createNone(builder, location));
  inputs[index] = value;
}

int64_t NodeVersion::takeInt(StringRef name, int64_t otherwise) {
  auto value = dyn_cast_or_null<IntegerAttr>(attributes.erase(name));
  return value ? value.getInt() : otherwise;
}

std::optional<double> NodeVersion::takeFloat(StringRef name) {
  auto value = dyn_cast_or_null<FloatAttr>(attributes.erase(name));
  if (!value)
    return std::nullopt;
  return value.getValueAsDouble();
}

std::optional<SmallVector<int64_t>> NodeVersion::takeInts(StringRef name) {
  auto value = dyn_cast_or_null<DenseI64ArrayAttr>(attributes.erase(name));
  if (!value)
    return std::nullopt;
  return SmallVector<int64_t>(value.asArrayRef());
}

bool NodeVersion::intsToInput(StringRef name, unsigned index) {
  auto values = takeInts(name);
  if (!values)
    return false;
  setInput(index, createInts(builder, location, *values));
  return true;
}

namespace {
struct UpgradeRow {
  const char *opType;
  int version;
  Upgrade upgrade;
};

constexpr UpgradeRow upgrades[] = {
    {"BatchNormalization", 9, upgradeBatchNormSpatial},
    {"BatchNormalization", 14, upgradeBatchNormOutputs},
    {"Clip", 11, upgradeClip},
    {"DFT", 20, upgradeDft},
    {"Dropout", 12, upgradeDropout},
    {"GridSample", 20, upgradeGridSample},
    {"Hardmax", 13, upgradeFlattenedSoftmax},
    {"LogSoftmax", 13, upgradeFlattenedSoftmax},
    {"Pad", 11, upgradePad},
    {"ReduceL1", 18, upgradeAxesToInput},
    {"ReduceL2", 18, upgradeAxesToInput},
    {"ReduceLogSum", 18, upgradeAxesToInput},
    {"ReduceLogSumExp", 18, upgradeAxesToInput},
    {"ReduceMax", 18, upgradeAxesToInput},
    {"ReduceMean", 18, upgradeAxesToInput},
    {"ReduceMin", 18, upgradeAxesToInput},
    {"ReduceProd", 18, upgradeAxesToInput},
    {"ReduceSum", 13, upgradeAxesToInput},
    {"ReduceSumSquare", 18, upgradeAxesToInput},
    {"Resize", 11, upgradeResizeToModes},
    {"Resize", 13, upgradeResizeEmptyInputs},
    {"RoiAlign", 16, upgradeRoiAlign},
    {"Slice", 10, upgradeSlice},
    {"Softmax", 13, upgradeFlattenedSoftmax},
    {"Split", 13, upgradeSplitToInput},
    {"Split", 18, upgradeSplitCount},
    {"Squeeze", 13, upgradeAxesToInput},
    {"TopK", 10, upgradeTopK},
    {"Unsqueeze", 13, upgradeAxesToInput},
};

constexpr int scatterVersions[] = {9, 11};
constexpr int upsampleVersions[] = {7, 9, 10};
} // namespace

Upgrade findUpgrade(StringRef opType, int version) {
  for (const UpgradeRow &row : upgrades)
    if (opType == row.opType && row.version == version)
      return row.upgrade;
  return nullptr;
}

StringRef replacementOf(StringRef opType) {
  if (opType == "Upsample")
    return "Resize";
  if (opType == "Scatter")
    return "ScatterElements";
  return opType;
}

ArrayRef<int> removedVersions(StringRef opType) {
  if (opType == "Upsample")
    return upsampleVersions;
  if (opType == "Scatter")
    return scatterVersions;
  return {};
}

LogicalResult upgradeToNewest(NodeVersion &node) {
  if (node.opType == "Upsample" && failed(upgradeUpsample(node)))
    return failure();
  if (node.opType == "Scatter") {
    // The first version of its replacement is the same under another name.
    node.opType = "ScatterElements";
    node.version = 11;
  }
  const onnx::OpSchema *schema = onnx::findSchema("", node.opType);
  if (!schema)
    return success();
  for (const onnx::VersionStep &step : schema->versions) {
    if (step.version <= node.version)
      continue;
    if (step.changed) {
      Upgrade upgrade = findUpgrade(node.opType, step.version);
      if (!upgrade)
        return node.error()
               << "version " << node.version << " of `" << node.opType
               << "` is not supported; export the model with "
                  "opset "
               << step.version << " or newer";
      if (failed(upgrade(node)))
        return failure();
    }
    node.version = step.version;
  }
  return success();
}

} // namespace sol
