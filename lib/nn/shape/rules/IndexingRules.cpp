//===- IndexingRules.cpp - shapes of operators that index or count --------===//
//
// Shape and the operators that make tensors from sizes; Gather and its kin;
// operators whose result sizes depend on data.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/rules/Rules.h"

using namespace mlir;

namespace sol::nn {

//===----------------------------------------------------------------------===//
// Sizes to tensors and back
//===----------------------------------------------------------------------===//

static void inferShape(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes) {
    node.setSizes(0, Sizes(1));
    return;
  }
  int64_t rank = static_cast<int64_t>(sizes->size());
  auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = clamp(node.integer("start", 0));
  int64_t end = std::max(start, clamp(node.integer("end", rank)));
  node.setSizes(0, Sizes{end - start});
  node.setElements(0, Elements(sizes->begin() + start, sizes->begin() + end));
}

static void inferSize(Node &node) {
  node.setSizes(0, Sizes{});
  if (std::optional<Sizes> sizes = node.operandSizes(0))
    node.setElements(0, {elementCount(*sizes)});
}

static void inferConstantOfShape(Node &node) {
  const Elements *target = node.operandElements(0);
  if (!target) {
    if (std::optional<int64_t> rank = node.operandLength(0))
      node.setSizes(0, Sizes(*rank));
    return;
  }
  Sizes sizes;
  for (const SymbolicSize &size : *target) {
    if (size.constant().value_or(0) < 0) {
      node.error() << "makes a tensor of shape " << sizesText(*target);
      return;
    }
    sizes.push_back(size.isNonNegative() ? size : SymbolicSize());
  }
  node.setSizes(0, Sizes(sizes));
  std::optional<int64_t> count = elementCount(sizes).constant();
  auto value = node->getAttrOfType<ElementsAttr>("value");
  std::optional<Elements> element = value ? elementsOf(value) : std::nullopt;
  if (count && *count <= maxTrackedElements && element && element->size() == 1)
    node.setElements(0, Elements(*count, (*element)[0]));
}

static void inferRange(Node &node) {
  auto at = [&](unsigned i) {
    const Elements *known = node.operandElements(i);
    return known && known->size() == 1 ? (*known)[0] : SymbolicSize();
  };
  SymbolicSize start = at(0), limit = at(1), step = at(2);
  if (step.isConstant(0)) {
    node.error() << "has delta 0";
    return;
  }
  SymbolicSize count;
  if (std::optional<int64_t> delta = step.constant()) {
    SymbolicSize span = *delta > 0 ? limit - start : start - limit;
    SymbolicSize stride = *delta > 0 ? step : -step;
    count = SymbolicSize::ceilDiv(SymbolicSize::max(span, 0), stride);
  }
  node.setSizes(0, Sizes{count});
  if (!count.constant() || *count.constant() > maxTrackedElements)
    return;
  Elements elements;
  for (int64_t i = 0; i < *count.constant(); ++i)
    elements.push_back(start + step * i);
  node.setElements(0, std::move(elements));
}

static void inferOneHot(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  std::optional<int64_t> axis =
      node.axis(node.integer("axis", -1), sizes->size() + 1);
  if (!axis)
    return;
  const Elements *depth = node.operandElements(1);
  SymbolicSize size =
      depth && depth->size() == 1 ? (*depth)[0] : SymbolicSize();
  sizes->insert(sizes->begin() + *axis,
                size.isNonNegative() ? size : SymbolicSize());
  node.setSizes(0, sizes);
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

static void gatherElements(Node &node) {
  const Elements *known = node.operandElements(0);
  std::optional<SmallVector<int64_t>> indices = node.operandNumbers(1);
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!known || !indices || !sizes || sizes->size() != 1)
    return;
  Elements result;
  int64_t size = static_cast<int64_t>(known->size());
  for (int64_t index : *indices) {
    int64_t position = index < 0 ? index + size : index;
    if (position < 0 || position >= size)
      return; // the run reports it, with the index
    result.push_back((*known)[position]);
  }
  node.setElements(0, std::move(result));
}

static void inferGather(Node &node) {
  std::optional<Sizes> data = node.operandSizes(0);
  std::optional<Sizes> indices = node.operandSizes(1);
  if (!data)
    return;
  std::optional<int64_t> axis =
      node.axis(node.integer("axis", 0), data->size());
  if (!axis || !indices)
    return;
  Sizes result(data->begin(), data->begin() + *axis);
  result.append(indices->begin(), indices->end());
  result.append(data->begin() + *axis + 1, data->end());
  node.setSizes(0, Sizes(result));
  gatherElements(node);
}

static void inferGatherBlockQuantized(Node &node) {
  std::optional<Sizes> data = node.operandSizes(0);
  std::optional<Sizes> indices = node.operandSizes(1);
  if (!data || !indices)
    return;
  std::optional<int64_t> axis =
      node.axis(node.integer("gather_axis", 0), data->size());
  std::optional<int64_t> quantized =
      node.axis(node.integer("quantize_axis", 1), data->size());
  if (!axis || !quantized)
    return;
  // Bytes hold several codes along the quantized axis.
  int64_t bits = node.integer("bits", 4);
  auto type = cast<ShapedType>(node->getOperand(0).getType());
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  if (bits <= 0 || width % bits != 0) {
    node.error() << "has codes of " << bits << " bits in elements of " << width;
    return;
  }
  (*data)[*quantized] =
      (*data)[*quantized] * (static_cast<int64_t>(width) / bits);
  Sizes result(data->begin(), data->begin() + *axis);
  result.append(indices->begin(), indices->end());
  result.append(data->begin() + *axis + 1, data->end());
  node.setSizes(0, Sizes(result));
}

static void inferGatherElements(Node &node) {
  node.setSizes(0, node.operandSizes(1));
}

static void inferGatherNd(Node &node) {
  std::optional<Sizes> data = node.operandSizes(0);
  std::optional<Sizes> indices = node.operandSizes(1);
  if (!data || !indices || indices->empty())
    return;
  int64_t batch = node.integer("batch_dims", 0);
  std::optional<int64_t> depth = indices->back().constant();
  if (!depth)
    return;
  int64_t rank = static_cast<int64_t>(data->size());
  if (batch < 0 || *depth < 0 || batch > rank || *depth > rank - batch) {
    node.error() << "indexes " << *depth << " axes after " << batch
                 << " of an operand of shape " << sizesText(*data);
    return;
  }
  Sizes result(indices->begin(), indices->end() - 1);
  result.append(data->begin() + batch + *depth, data->end());
  node.setSizes(0, Sizes(result));
}

//===----------------------------------------------------------------------===//
// Sizes that depend on data
//===----------------------------------------------------------------------===//

static void inferNonZero(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  SymbolicSize rank;
  if (sizes)
    rank = std::max<int64_t>(1, static_cast<int64_t>(sizes->size()));
  node.setSizes(0, Sizes{rank, SymbolicSize()});
}

static void inferCompress(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!node.hasAttribute("axis")) {
    node.setSizes(0, Sizes(1));
    return;
  }
  if (!sizes)
    return;
  if (std::optional<int64_t> axis =
          node.axis(node.integer("axis", 0), sizes->size())) {
    (*sizes)[*axis] = {};
    node.setSizes(0, sizes);
  }
}

static void inferUnique(Node &node) {
  inferCompress(node);
  for (unsigned i = 1; i < 4; ++i)
    if (node.hasResult(i))
      node.setSizes(i, Sizes(1));
}

static void inferNonMaxSuppression(Node &node) {
  node.setSizes(0, Sizes{SymbolicSize(), 3});
}

void addIndexingRules(RuleTable &table) {
  table["onnx.Shape"] = inferShape;
  table["onnx.Size"] = inferSize;
  table["onnx.ConstantOfShape"] = inferConstantOfShape;
  table["onnx.Range"] = inferRange;
  table["onnx.OneHot"] = inferOneHot;
  table["onnx.Gather"] = inferGather;
  table["onnx.microsoft.GatherBlockQuantized"] = inferGatherBlockQuantized;
  table["onnx.GatherElements"] = inferGatherElements;
  table["onnx.GatherND"] = inferGatherNd;
  table["onnx.NonZero"] = inferNonZero;
  table["onnx.Compress"] = inferCompress;
  table["onnx.Unique"] = inferUnique;
  table["onnx.NonMaxSuppression"] = inferNonMaxSuppression;
}

} // namespace sol::nn
