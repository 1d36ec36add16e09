//===- Elementwise.cpp - activations and training forms -------------------===//
//
// Softmax over a flattened tensor, bounds of Clip, and the operators whose
// older versions spoke of training.
//
//===----------------------------------------------------------------------===//
#include "lib/import/OpCreation.h"
#include "lib/import/upgrade/Upgrade.h"

using namespace mlir;

namespace sol {

/// Up to version 11, Softmax works on the tensor flattened to two axes at
/// `axis`.
LogicalResult upgradeFlattenedSoftmax(NodeVersion &node) {
  int64_t axis = node.takeInt("axis", 1);
  Builder &builder = node.builder;
  Value data = node.input(0);
  if (!data)
    return success(); // the check of operands tells
  auto ranked = dyn_cast<RankedTensorType>(data.getType());
  if (axis == -1 || (ranked && axis == ranked.getRank() - 1)) {
    node.attributes.set("axis", builder.getI64IntegerAttr(-1));
    return success();
  }
  NamedAttrList split;
  split.set("axis", builder.getI64IntegerAttr(axis));
  node.inputs[0] =
      createOnnx(node.builder, node.location, "Flatten", data, split);
  node.attributes.set("axis", builder.getI64IntegerAttr(-1));
  OpBuilder *inserter = &node.builder;
  Location location = node.location;
  node.finish = [inserter, location, data](Value flat) {
    Value shape = createOnnx(*inserter, location, "Shape", data);
    // A size of 0 in the shape is one, not "as in the input".
    NamedAttrList exact;
    exact.set("allowzero", inserter->getI64IntegerAttr(1));
    return createOnnx(*inserter, location, "Reshape", {flat, shape}, exact);
  };
  return success();
}

LogicalResult upgradeClip(NodeVersion &node) {
  Value data = node.input(0);
  for (auto [name, index] : {std::pair("min", 1u), std::pair("max", 2u)}) {
    std::optional<double> bound = node.takeFloat(name);
    if (!bound || !data)
      continue;
    Value scalar =
        createScalar(node.builder, node.location,
                     cast<TensorType>(data.getType()).getElementType(), *bound);
    if (!scalar)
      return node.error() << "clips elements of type " << data.getType();
    node.setInput(index, scalar);
  }
  return success();
}

/// Without training, Dropout gives its input, whatever the ratio.
LogicalResult upgradeDropout(NodeVersion &node) {
  node.attributes.erase("ratio");
  if (node.numOutputs > 1)
    return node.error() << "version " << node.version
                        << " of `Dropout` with a mask is not supported; export "
                           "the model for inference";
  return success();
}

LogicalResult upgradeBatchNormSpatial(NodeVersion &node) {
  if (node.takeInt("spatial", 1) != 1)
    return node.error() << "has spatial = 0, which is not supported";
  return success();
}

LogicalResult upgradeBatchNormOutputs(NodeVersion &node) {
  if (node.numOutputs > 1)
    return node.error() << "has the outputs of training; export the model for "
                           "inference";
  return success();
}

} // namespace sol
