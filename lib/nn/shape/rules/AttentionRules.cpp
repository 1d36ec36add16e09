//===- AttentionRules.cpp - shapes of attention and recurrence ------------===//
//
// ONNX Attention, the com.microsoft forms of attention, and recurrent layers.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/rules/Rules.h"

using namespace mlir;

namespace sol::nn {

/// Heads of one operand of Attention: batch x heads x length x head size.
static std::optional<Sizes> splitHeads(const std::optional<Sizes> &sizes,
                                       int64_t heads) {
  if (!sizes || sizes->size() == 4)
    return sizes;
  if (sizes->size() != 3 || heads <= 0)
    return std::nullopt;
  return Sizes{(*sizes)[0], heads, (*sizes)[1], (*sizes)[2].exactDiv(heads)};
}

/// Y, present_key, present_value, scores of ONNX Attention.
static void inferAttention(Node &node) {
  int64_t queryHeads = node.integer("q_num_heads", 0);
  int64_t keyHeads = node.integer("kv_num_heads", 0);
  std::optional<Sizes> query = splitHeads(node.operandSizes(0), queryHeads);
  std::optional<Sizes> key = splitHeads(node.operandSizes(1), keyHeads);
  std::optional<Sizes> value = splitHeads(node.operandSizes(2), keyHeads);
  if (!query || !key || !value)
    return;
  Sizes &q = *query, &k = *key, &v = *value;
  node.agree(q[3], k[3], "the head sizes of query and key");
  SymbolicSize batch = node.agree(q[0], k[0], "the batches of query and key");
  SymbolicSize length = k[2];
  if (node.hasOperand(4)) {
    std::optional<Sizes> past = node.operandSizes(4);
    length = past && past->size() == 4 ? (*past)[2] + k[2] : SymbolicSize();
  }
  bool isFlat = node.operandSizes(0)->size() == 3;
  if (isFlat)
    node.setSizes(0, Sizes{batch, q[2], q[1] * v[3]});
  else
    node.setSizes(0, Sizes{batch, q[1], q[2], v[3]});
  node.setSizes(1, Sizes{batch, k[1], length, k[3]});
  node.setSizes(2, Sizes{batch, v[1], length, v[3]});
  node.setSizes(3, Sizes{batch, q[1], q[2], length});
}

/// output, present_key, present_value of GroupQueryAttention. The present
/// length is the larger of the past's and the total, which is a value of the
/// run.
static void inferGroupQueryAttention(Node &node) {
  std::optional<Sizes> query = node.operandSizes(0);
  int64_t heads = node.integer("num_heads", 0);
  int64_t keyHeads = node.integer("kv_num_heads", 0);
  if (!query || query->size() != 3 || heads <= 0 || keyHeads <= 0)
    return;
  bool isPacked = !node.hasOperand(1);
  SymbolicSize packed = SymbolicSize(keyHeads) * 2 + heads;
  SymbolicSize headSize =
      (*query)[2].exactDiv(isPacked ? packed : SymbolicSize(heads));
  node.setSizes(0, Sizes{(*query)[0], (*query)[1], headSize * heads});
  for (unsigned i : {1u, 2u})
    node.setSizes(i, Sizes{(*query)[0], keyHeads, SymbolicSize(), headSize});
}

/// output of com.microsoft Attention and QAttention: `bias` is packed q, k, v.
static void inferPackedAttention(Node &node) {
  std::optional<Sizes> input = node.operandSizes(0);
  std::optional<Sizes> weights = node.operandSizes(1);
  if (!input || input->size() != 3 || !weights || weights->size() != 2)
    return;
  SymbolicSize hidden;
  if (std::optional<ArrayRef<int64_t>> sizes =
          node.integers("qkv_hidden_sizes"))
    hidden = sizes->size() == 3 ? SymbolicSize((*sizes)[2]) : SymbolicSize();
  else
    hidden = (*weights)[1].exactDiv(3);
  node.setSizes(0, Sizes{(*input)[0], (*input)[1], hidden});
}

static void inferMultiHeadAttention(Node &node) {
  std::optional<Sizes> query = node.operandSizes(0);
  std::optional<Sizes> value = node.operandSizes(2);
  if (!query || query->size() != 3 || !value)
    return;
  if (value->size() == 3)
    node.setSizes(0, Sizes{(*query)[0], (*query)[1], (*value)[2]});
  else if (value->size() == 4)
    node.setSizes(0,
                  Sizes{(*query)[0], (*query)[1], (*value)[1] * (*value)[3]});
}

/// output, mask index, sum of embeddings of EmbedLayerNormalization.
static void inferEmbedLayerNormalization(Node &node) {
  std::optional<Sizes> ids = node.operandSizes(0);
  std::optional<Sizes> words = node.operandSizes(2);
  if (!ids || ids->size() != 2 || !words || words->size() != 2)
    return;
  node.setSizes(0, Sizes{(*ids)[0], (*ids)[1], (*words)[1]});
  node.setSizes(1, Sizes{(*ids)[0]});
  node.setSizes(2, Sizes{(*ids)[0], (*ids)[1], (*words)[1]});
}

/// Y, Y_h, Y_c of RNN, GRU and LSTM.
static void inferRecurrent(Node &node) {
  std::optional<Sizes> x = node.operandSizes(0), r = node.operandSizes(2);
  if (!x || x->size() != 3 || !r || r->size() != 3)
    return;
  bool batchFirst = node.integer("layout", 0) != 0;
  SymbolicSize steps = (*x)[batchFirst ? 1 : 0];
  SymbolicSize batch = (*x)[batchFirst ? 0 : 1];
  SymbolicSize directions = (*r)[0], hidden = (*r)[2];
  node.setSizes(0, batchFirst ? Sizes{batch, steps, directions, hidden}
                              : Sizes{steps, directions, batch, hidden});
  for (unsigned i : {1u, 2u})
    if (node.hasResult(i))
      node.setSizes(i, batchFirst ? Sizes{batch, directions, hidden}
                                  : Sizes{directions, batch, hidden});
}

void addAttentionRules(RuleTable &table) {
  table["onnx.Attention"] = inferAttention;
  table["onnx.microsoft.GroupQueryAttention"] = inferGroupQueryAttention;
  table["onnx.microsoft.Attention"] = inferPackedAttention;
  table["onnx.microsoft.QAttention"] = inferPackedAttention;
  table["onnx.microsoft.MultiHeadAttention"] = inferMultiHeadAttention;
  table["onnx.microsoft.EmbedLayerNormalization"] =
      inferEmbedLayerNormalization;
  for (StringRef name : {"RNN", "GRU", "LSTM"})
    table[("onnx." + name).str()] = inferRecurrent;
}

} // namespace sol::nn
