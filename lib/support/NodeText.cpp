//===- NodeText.cpp - a node as errors name it ----------------------------===//
//
// See NodeText.h.
//
//===----------------------------------------------------------------------===//
#include "lib/support/NodeText.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/onnx/OnnxSchema.h"
#include "runtime/cpu/kernel.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sol {

const char *const notComputedText =
    "no kernel computes this operator; express it by others, or export the "
    "model without it";

static std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

static std::string sizeText(RankedTensorType type, int64_t axis) {
  if (!type.isDynamicDim(axis))
    return std::to_string(type.getDimSize(axis));
  auto dims = dyn_cast_or_null<nn::DimsAttr>(type.getEncoding());
  if (dims && axis < static_cast<int64_t>(dims.getSizes().size()))
    return dims.getSizes()[axis].str();
  return "?";
}

std::string typeText(Type type) {
  if (isa<NoneType>(type))
    return "none";
  if (auto cache = dyn_cast<nn::CacheType>(type))
    type = cache.getTensor();
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return printed(type);
  Type element = tensor.getElementType();
  StringRef name = onnx::elementTypeName(onnx::elementTypeNumber(element));
  std::string text = (name.empty() ? printed(element) : name.str()) + " [";
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  if (!ranked)
    return text + "any rank]";
  for (int64_t axis = 0; axis < ranked.getRank(); ++axis)
    text += (axis ? ", " : "") + sizeText(ranked, axis);
  return text + "]";
}

std::string nodeText(const NodeIdentity &node) {
  std::string text = "node ";
  if (!node.name.empty())
    text += "`" + node.name.str() + "` ";
  text += "(" + node.type.str() + " of " +
          (node.domain.empty() ? "ai.onnx" : node.domain.str());
  if (node.opset > 0)
    text += ", opset " + std::to_string(node.opset);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    text += (i ? ", " : "; inputs ") + node.inputs[i];
  return text + ")";
}

/// The version of `domain` that the model imports, as the nearest operation
/// around `op` says that knows it; 0 if none does.
static int64_t opsetOf(Operation *op, StringRef domain) {
  for (; op; op = op->getParentOp())
    if (auto imports = op->getAttrOfType<DictionaryAttr>("onnx.opset_import"))
      if (auto version = imports.getAs<IntegerAttr>(
              domain.empty() ? StringRef("ai.onnx") : domain))
        return version.getInt();
  return 0;
}

std::string nodeText(Operation *op) {
  NodeIdentity node;
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    node.name = name.getName().getValue();
  node.type = op->getName().stripDialect();
  node.domain = op->getName().getDialectNamespace();
  if (const onnx::OpSchema *schema = onnx::findSchema(op->getName())) {
    node.type = schema->name;
    node.domain = schema->domain;
    node.opset = opsetOf(op, node.domain);
  }
  for (Type type : op->getOperandTypes())
    node.inputs.push_back(typeText(type));
  return nodeText(node);
}

bool isComputed(StringRef operationName) {
  // Branches, loops and what belongs to them are steps of the program; a Scan
  // becomes a Loop, a Constant is one before anything is computed.
  if (llvm::is_contained({"onnx.If", "onnx.Loop", "onnx.Scan", "onnx.Constant",
                          "onnx.none", "onnx.yield"},
                         operationName))
    return true;
  registerAllKernels();
  return findKernel({operationName.data(), operationName.size()});
}

} // namespace sol
