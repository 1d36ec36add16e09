//===- Images.cpp - operators on images -----------------------------------===//
//
// Resizing and sampling, whose coordinate rules got names over time.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NnDialect.h"
#include "lib/import/OpCreation.h"
#include "lib/import/upgrade/Upgrade.h"

using namespace mlir;

namespace sol {
namespace {
/// The elements of a constant float vector, if `value` is one in the IR.
std::optional<SmallVector<float>> constantFloats(Value value) {
  auto constant = value ? value.getDefiningOp<nn::ConstantOp>() : nullptr;
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  if (!elements || !elements.getElementType().isF32())
    return std::nullopt;
  return SmallVector<float>(elements.getValues<float>());
}

bool isEmptyConstant(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : nullptr;
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}
} // namespace

/// Version 10 knows no modes. Enlarging takes the element below; ONNX Runtime's
/// shrinking takes the one above, and that is what exporters relied on.
LogicalResult upgradeResizeToModes(NodeVersion &node) {
  Value scales = node.input(1);
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  bool isNearest = !mode || mode.getValue() == "nearest";
  StringRef rounding = "floor";
  if (isNearest) {
    auto values = constantFloats(scales);
    if (!values)
      return node.error() << "version 10 of `Resize` needs constant scales; "
                             "export the model with opset 11 or newer";
    if (llvm::any_of(*values, [](float scale) { return scale < 1.0f; })) {
      if (llvm::any_of(*values, [](float scale) { return scale > 1.0f; }))
        return node.error() << "version 10 of `Resize` that enlarges and "
                               "shrinks at once is not supported; export the "
                               "model with opset 11 or newer";
      rounding = "ceil";
    }
  }
  node.attributes.set("coordinate_transformation_mode",
                      node.builder.getStringAttr("asymmetric"));
  if (isNearest)
    node.attributes.set("nearest_mode", node.builder.getStringAttr(rounding));
  if (scales) {
    node.setInput(1, createNone(node.builder, node.location));
    node.setInput(2, scales);
  }
  return success();
}

/// Up to version 11 empty tensors stood for inputs that are not given.
LogicalResult upgradeResizeEmptyInputs(NodeVersion &node) {
  for (unsigned index : {1u, 2u})
    if (isEmptyConstant(node.input(index)))
      node.inputs[index] = createNone(node.builder, node.location);
  return success();
}

LogicalResult upgradeUpsample(NodeVersion &node) {
  if (auto scales = dyn_cast_or_null<DenseF32ArrayAttr>(
          node.attributes.erase("scales"))) {
    auto type =
        RankedTensorType::get({scales.size()}, node.builder.getF32Type());
    auto value = DenseElementsAttr::get(type, scales.asArrayRef());
    node.setInput(
        1, nn::ConstantOp::create(node.builder, node.location, type, value));
  }
  node.opType = "Resize";
  node.version = 10;
  return success();
}

LogicalResult upgradeRoiAlign(NodeVersion &node) {
  node.attributes.set("coordinate_transformation_mode",
                      node.builder.getStringAttr("output_half_pixel"));
  return success();
}

LogicalResult upgradeGridSample(NodeVersion &node) {
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  if (mode && mode.getValue() == "bilinear")
    node.attributes.set("mode", node.builder.getStringAttr("linear"));
  else if (mode && mode.getValue() == "bicubic")
    node.attributes.set("mode", node.builder.getStringAttr("cubic"));
  return success();
}

} // namespace sol
