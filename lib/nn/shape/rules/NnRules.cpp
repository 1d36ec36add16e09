//===- NnRules.cpp - shapes of nn operators -------------------------------===//
//
// Operators that recognition makes, caches among them.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/rules/Rules.h"

#include "dialects/nn/NnDialect.h"

using namespace mlir;

namespace sol::nn {

static void inferSame(Node &node) { node.setSizes(0, node.operandSizes(0)); }

static void inferLinear(Node &node) {
  auto op = cast<LinearOp>(node.operation());
  std::optional<Sizes> x = node.operandSizes(0), weight = node.operandSizes(1);
  if (!x || x->empty() || !weight)
    return;
  SymbolicSize columns;
  if (op.getColumns())
    columns = static_cast<int64_t>(*op.getColumns());
  else if (weight->size() == 2 && !op.getPacked())
    columns = (*weight)[op.getTransposed() ? 0 : 1];
  if (weight->size() == 2 && !op.getPacked())
    node.agree(x->back(), (*weight)[op.getTransposed() ? 1 : 0],
               "the inner sizes of operand and weight");
  x->back() = columns;
  node.setSizes(0, x);
}

static void inferPackPanels(Node &node) {
  std::optional<Sizes> matrix = node.operandSizes(0);
  if (!matrix || matrix->size() != 2)
    return;
  bool transposed = cast<PackPanelsOp>(node.operation()).getTransposed();
  const SymbolicSize &rows = (*matrix)[transposed ? 1 : 0];
  const SymbolicSize &columns = (*matrix)[transposed ? 0 : 1];
  node.setSizes(0, Sizes{SymbolicSize::ceilDiv(columns, 16), rows, 16});
}

static void inferAttention(Node &node) {
  std::optional<Sizes> query = node.operandSizes(0);
  std::optional<Sizes> value = node.operandSizes(2);
  if (!query || query->size() != 4)
    return;
  query->back() = value && value->size() == 4 ? value->back() : SymbolicSize();
  node.setSizes(0, query);
}

static void inferGate(Node &node) {
  std::optional<Sizes> gate = node.operandSizes(0), up = node.operandSizes(1);
  if (gate && up)
    node.setSizes(0, node.broadcast(*gate, *up));
}

static void inferCacheLength(Node &node) {
  node.setSizes(0, Sizes{});
  std::optional<Sizes> cache = node.operandSizes(0);
  if (cache && cache->size() == 4)
    node.setElements(0, {(*cache)[2]});
}

static void inferCacheShape(Node &node) {
  std::optional<Sizes> cache = node.operandSizes(0);
  if (!cache)
    return;
  node.setSizes(0, Sizes{static_cast<int64_t>(cache->size())});
  node.setElements(0, Elements(cache->begin(), cache->end()));
}

static void inferConstant(Node &node) {
  auto op = cast<ConstantOp>(node.operation());
  node.setSizes(0, sizesOf(op.getValue().getType()));
  if (std::optional<Elements> elements = elementsOf(op.getValue()))
    node.setElements(0, std::move(*elements));
}

void addNnRules(RuleTable &table) {
  table["nn.constant"] = inferConstant;
  table["nn.linear"] = inferLinear;
  table["nn.pack_panels"] = inferPackPanels;
  table["nn.rms_norm"] = inferSame;
  table["nn.rotary"] = inferSame;
  table["nn.attention"] = inferAttention;
  table["nn.gate"] = inferGate;
  table["nn.cache_length"] = inferCacheLength;
  table["nn.cache_shape"] = inferCacheShape;
  table["nn.cache_read"] = inferSame;
}

} // namespace sol::nn
