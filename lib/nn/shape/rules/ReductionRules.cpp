//===- ReductionRules.cpp - shapes of reductions and normalisations -------===//
//
// Reduce*, ArgMax and ArgMin, TopK, and normalisations with further results.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/rules/Rules.h"

using namespace mlir;

namespace sol::nn {

/// The reduced axes of a node, nullopt if they are not known before the run.
static std::optional<SmallVector<bool>> reducedAxes(Node &node, int64_t rank) {
  SmallVector<bool> reduced(rank, false);
  std::optional<SmallVector<int64_t>> axes;
  if (node.hasOperand(1)) {
    axes = node.operandNumbers(1);
    if (!axes && !node.operandLength(1))
      return std::nullopt;
    if (!axes && *node.operandLength(1) > 0)
      return std::nullopt;
  }
  if (!axes || axes->empty()) {
    bool keepsAll = node.integer("noop_with_empty_axes", 0) != 0;
    reduced.assign(rank, !keepsAll);
    return reduced;
  }
  for (int64_t given : *axes) {
    std::optional<int64_t> axis = node.axis(given, rank);
    if (!axis)
      return std::nullopt;
    reduced[*axis] = true;
  }
  return reduced;
}

/// Sum, product, largest or smallest of a followed rank-1 operand.
static void reduceElements(Node &node) {
  const Elements *known = node.operandElements(0);
  std::optional<Sizes> sizes = node.operandSizes(0);
  const std::optional<Sizes> &result = node.resultSizes(0);
  if (!known || known->empty() || !sizes || sizes->size() > 1 || !result ||
      !elementCount(*result).isConstant(1))
    return;
  StringRef name = node->getName().stripDialect();
  SymbolicSize total = (*known)[0];
  for (const SymbolicSize &element : llvm::drop_begin(*known)) {
    if (name == "ReduceSum")
      total = total + element;
    else if (name == "ReduceProd")
      total = total * element;
    else if (name == "ReduceMax")
      total = SymbolicSize::max(total, element);
    else if (name == "ReduceMin")
      total = SymbolicSize::min(total, element);
    else
      return;
  }
  if (name == "ReduceSum" || name == "ReduceProd" || name == "ReduceMax" ||
      name == "ReduceMin")
    node.setElements(0, {total});
}

static void inferReduce(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  int64_t rank = static_cast<int64_t>(sizes->size());
  bool keeps = node.integer("keepdims", 1) != 0;
  std::optional<SmallVector<bool>> reduced = reducedAxes(node, rank);
  if (!reduced) {
    if (keeps && !node.hasFailed())
      node.setSizes(0, Sizes(rank));
    return;
  }
  Sizes result;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!(*reduced)[axis])
      result.push_back((*sizes)[axis]);
    else if (keeps)
      result.push_back(1);
  }
  node.setSizes(0, Sizes(result));
  reduceElements(node);
}

static void inferArg(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  std::optional<int64_t> axis =
      node.axis(node.integer("axis", 0), sizes->size());
  if (!axis)
    return;
  if (node.integer("keepdims", 1))
    (*sizes)[*axis] = 1;
  else
    sizes->erase(sizes->begin() + *axis);
  node.setSizes(0, sizes);
}

static void inferTopK(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  std::optional<int64_t> axis =
      node.axis(node.integer("axis", -1), sizes->size());
  if (!axis)
    return;
  const Elements *count = node.operandElements(1);
  SymbolicSize k = count && count->size() == 1 ? (*count)[0] : SymbolicSize();
  std::optional<int64_t> limit = (*sizes)[*axis].constant();
  if (limit && k.constant() && *k.constant() > *limit)
    node.error() << "selects " << *k.constant() << " of " << *limit
                 << " elements";
  (*sizes)[*axis] = k.isNonNegative() ? k : SymbolicSize();
  node.setSizes(0, sizes);
  node.setSizes(1, sizes);
}

/// Results 1 and 2 (mean, deviation) have the normalised axes as 1.
static void inferLayerNormalization(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  node.setSizes(0, sizes);
  std::optional<int64_t> axis =
      node.axis(node.integer("axis", -1), sizes->size());
  if (!axis)
    return;
  Sizes reduced = *sizes;
  for (size_t i = *axis; i < reduced.size(); ++i)
    reduced[i] = 1;
  node.setSizes(1, Sizes(reduced));
  node.setSizes(2, Sizes(reduced));
}

/// output, mean, deviation, input + skip (+ bias).
static void inferSkipNormalization(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  node.setSizes(0, sizes);
  node.setSizes(3, sizes);
  if (!sizes || sizes->empty())
    return;
  Sizes reduced = *sizes;
  reduced.back() = 1;
  node.setSizes(1, Sizes(reduced));
  node.setSizes(2, Sizes(reduced));
}

static void inferBatchNormalization(Node &node) {
  node.setSizes(0, node.operandSizes(0));
  node.setSizes(1, node.operandSizes(3));
  node.setSizes(2, node.operandSizes(4));
}

void addReductionRules(RuleTable &table) {
  for (StringRef name : {"L1", "L2", "LogSum", "LogSumExp", "Max", "Mean",
                         "Min", "Prod", "Sum", "SumSquare"})
    table[("onnx.Reduce" + name).str()] = inferReduce;
  table["onnx.ArgMax"] = inferArg;
  table["onnx.ArgMin"] = inferArg;
  table["onnx.TopK"] = inferTopK;
  table["onnx.LayerNormalization"] = inferLayerNormalization;
  table["onnx.microsoft.SimplifiedLayerNormalization"] =
      inferLayerNormalization;
  table["onnx.microsoft.SkipLayerNormalization"] = inferSkipNormalization;
  table["onnx.microsoft.SkipSimplifiedLayerNormalization"] =
      inferSkipNormalization;
  table["onnx.BatchNormalization"] = inferBatchNormalization;
}

} // namespace sol::nn
