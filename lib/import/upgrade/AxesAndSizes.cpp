//===- AxesAndSizes.cpp - attributes that became inputs -------------------===//
//
// Axes, sizes and bounds that older versions hold in attributes.
//
//===----------------------------------------------------------------------===//
#include "lib/import/OpCreation.h"
#include "lib/import/upgrade/Upgrade.h"

using namespace mlir;

namespace sol {

LogicalResult upgradeAxesToInput(NodeVersion &node) {
  auto axes = node.takeInts("axes");
  if (!axes && node.opType == "Unsqueeze")
    return node.error() << "lacks the attribute `axes` (integers)";
  // An empty list means all axes, as no list does.
  if (axes && !(axes->empty() && node.opType != "Unsqueeze"))
    node.setInput(1, createInts(node.builder, node.location, *axes));
  return success();
}

LogicalResult upgradeSlice(NodeVersion &node) {
  if (!node.intsToInput("starts", 1))
    return node.error() << "lacks the attribute `starts` (integers)";
  if (!node.intsToInput("ends", 2))
    return node.error() << "lacks the attribute `ends` (integers)";
  node.intsToInput("axes", 3);
  return success();
}

LogicalResult upgradeSplitToInput(NodeVersion &node) {
  node.intsToInput("split", 1);
  return success();
}

LogicalResult upgradeSplitCount(NodeVersion &node) {
  if (!node.input(1))
    node.attributes.set("num_outputs",
                        node.builder.getI64IntegerAttr(node.numOutputs));
  return success();
}

LogicalResult upgradePad(NodeVersion &node) {
  if (!node.intsToInput("pads", 1))
    return node.error() << "lacks the attribute `pads` (integers)";
  std::optional<double> value = node.takeFloat("value");
  Value data = node.input(0);
  if (!value || *value == 0.0 || !data)
    return success();
  Value scalar =
      createScalar(node.builder, node.location,
                   cast<TensorType>(data.getType()).getElementType(), *value);
  if (!scalar)
    return node.error() << "pads elements of type " << data.getType();
  node.setInput(2, scalar);
  return success();
}

LogicalResult upgradeTopK(NodeVersion &node) {
  auto count = dyn_cast_or_null<IntegerAttr>(node.attributes.erase("k"));
  if (!count)
    return node.error() << "lacks the attribute `k` (an integer)";
  node.setInput(1, createInts(node.builder, node.location, count.getInt()));
  return success();
}

LogicalResult upgradeDft(NodeVersion &node) {
  int64_t axis = node.takeInt("axis", 1);
  node.setInput(2, createInt(node.builder, node.location, axis));
  return success();
}

} // namespace sol
