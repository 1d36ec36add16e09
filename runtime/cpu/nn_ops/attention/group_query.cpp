//===- group_query.cpp - ONNX Runtime's GroupQueryAttention ---------------===//
//
// Appends to a cache that grows or that has room, rotates queries and keys,
// attends. Rows of the batch may have different lengths, padded on the right; a
// padded query's result is zero.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/attention/core.h"
#include "runtime/cpu/nn_ops/attention/families.h"
#include "runtime/cpu/nn_ops/attention/head_view.h"
#include "runtime/cpu/nn_ops/attention/rotary.h"
#include "runtime/cpu/nn_ops/normalization/norm_row.h"
#include "runtime/cpu/nn_ops/operands.h"

namespace sol::nn {
namespace {

enum Operand {
  Query,
  Key,
  Value,
  PastKey,
  PastValue,
  Lengths,
  Total,
  Cosines,
  Sines,
  Positions,
  Bias,
  Sink,
  KeyScale,
  ValueScale,
  QueryNorm,
  KeyNorm,
  QueryLengths
};

struct GroupCall {
  HeadView query, key, value;
  const Tensor *pastKey = nullptr, *pastValue = nullptr, *lengths = nullptr,
               *positions = nullptr, *bias = nullptr, *sink = nullptr,
               *queryNorm = nullptr, *keyNorm = nullptr;
  int64_t batch = 0, past = 0, total = 0, present = 0;
  bool isPrompt = false, causal = true, smooth = false, rotates = false;
  RotaryTable rotary;
  int64_t window = -1;
  float scale = 1, softcap = 0, queryEpsilon = 0, keyEpsilon = 0;
  Dims biasSteps;

  /// Positions in use by row `b` with this call's tokens.
  int64_t rowTotal(int64_t b) const {
    return int64_t(lengths->as<int32_t>()[b]) + 1;
  }
  /// Positions in use before this call's tokens.
  int64_t rowPast(int64_t b) const {
    return isPrompt ? 0 : rowTotal(b) - query.length;
  }
  /// This call's tokens of row `b` that are not padding.
  int64_t rowFresh(int64_t b) const {
    return std::min(query.length, rowTotal(b) - rowPast(b));
  }
  int64_t position(int64_t b, int64_t i) const {
    if (!positions)
      return rowPast(b) + i;
    const int64_t *ids = positions->as<int64_t>();
    // For a first prompt ONNX Runtime counts from the first element.
    return isPrompt ? ids[0] + i : ids[b * query.length + i];
  }
};

absl::Status readHeads(const KernelCall &call, Inputs in, GroupCall &result) {
  SOL_NN_ASSIGN(int64_t heads, call.attributes.integer("num_heads", 0));
  SOL_NN_ASSIGN(int64_t kvHeads, call.attributes.integer("kv_num_heads", 0));
  if (heads <= 0 || kvHeads <= 0 || heads % kvHeads)
    return invalid("attribute `num_heads` ", heads,
                   " must be a positive multiple of `kv_num_heads` ", kvHeads);
  const Tensor &query = in[Query];
  SOL_NN_TRY(checkType(query, "query", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(checkRank(query, "query", 3, 3));
  result.batch = query.dims[0];
  const Tensor *key = operandAt(in, Key), *value = operandAt(in, Value);
  if (!key != !value)
    return invalid("operands `key` and `value` must be given together");
  int64_t parts = key ? heads : heads + 2 * kvHeads;
  if (query.dims[2] <= 0 || query.dims[2] % parts)
    return invalid("operand `query` of shape ", dimsToString(query.dims),
                   " does not divide into ", parts, " heads");
  int64_t size = query.dims[2] / parts;
  result.query = HeadView::joined(query, heads, size);
  if (!key) {
    result.key = HeadView::joined(query, kvHeads, size, heads * size);
    result.value =
        HeadView::joined(query, kvHeads, size, (heads + kvHeads) * size);
    return absl::OkStatus();
  }
  Dims wanted = {query.dims[0], query.dims[1], kvHeads * size};
  SOL_NN_TRY(checkSameType(*key, "key", query.type));
  SOL_NN_TRY(checkSameType(*value, "value", query.type));
  SOL_NN_TRY(checkDims(*key, "key", wanted));
  SOL_NN_TRY(checkDims(*value, "value", wanted));
  result.key = HeadView::joined(*key, kvHeads, size);
  result.value = HeadView::joined(*value, kvHeads, size);
  return absl::OkStatus();
}

absl::Status readCache(Inputs in, GroupCall &result) {
  result.pastKey = operandAt(in, PastKey);
  result.pastValue = operandAt(in, PastValue);
  if (!result.pastKey != !result.pastValue)
    return invalid("operands `past_key` and `past_value` must be given "
                   "together");
  if (result.pastKey) {
    SOL_NN_TRY(checkRank(*result.pastKey, "past_key", 4, 4));
    result.past = result.pastKey->dims[2];
    Dims wanted = {result.batch, result.key.heads, result.past,
                   result.key.size};
    for (const Tensor *past : {result.pastKey, result.pastValue}) {
      SOL_NN_TRY(
          checkSameType(*past, "past_key or past_value", in[Query].type));
      SOL_NN_TRY(checkDims(*past, "past_key or past_value", wanted));
    }
  }
  const Tensor &lengths = in[Lengths], &total = in[Total];
  SOL_NN_TRY(checkSameType(lengths, "seqlens_k", DType::I32));
  SOL_NN_TRY(checkElements(lengths, "seqlens_k", result.batch));
  SOL_NN_TRY(checkSameType(total, "total_sequence_length", DType::I32));
  SOL_NN_TRY(checkElements(total, "total_sequence_length", 1));
  if (!total.data)
    return invalid("operand `total_sequence_length` must be known to infer "
                   "the shape of the cache");
  result.lengths = &lengths;
  result.total = total.as<int32_t>()[0];
  int64_t fresh = result.query.length;
  if (result.total < fresh || result.total > result.past + fresh)
    return outOfRange("operand `total_sequence_length` is ", result.total,
                      ", must lie between the ", fresh,
                      " new positions and these with the ", result.past,
                      " past ones");
  result.isPrompt = result.total == fresh;
  result.present = std::max(result.past, result.total);
  return absl::OkStatus();
}

absl::Status readRotary(const KernelCall &call, Inputs in, GroupCall &result) {
  SOL_NN_ASSIGN(int64_t rotates, call.attributes.integer("do_rotary", 0));
  SOL_NN_ASSIGN(int64_t interleaved,
                call.attributes.integer("rotary_interleaved", 0));
  result.rotates = rotates != 0;
  result.positions = operandAt(in, Positions);
  if (result.positions) {
    SOL_NN_TRY(checkSameType(*result.positions, "position_ids", DType::I64));
    SOL_NN_TRY(checkDims(*result.positions, "position_ids",
                         {result.batch, result.query.length}));
  }
  if (!result.rotates)
    return absl::OkStatus();
  const Tensor *cosines = operandAt(in, Cosines), *sines = operandAt(in, Sines);
  if (!cosines || !sines)
    return invalid("attribute `do_rotary` is 1, operands `cos_cache` and "
                   "`sin_cache` are left out");
  SOL_NN_TRY(checkRank(*cosines, "cos_cache", 2, 2));
  SOL_NN_TRY(checkSameType(*cosines, "cos_cache", in[Query].type));
  SOL_NN_TRY(checkSameType(*sines, "sin_cache", in[Query].type));
  SOL_NN_TRY(checkDims(*sines, "sin_cache", cosines->dims));
  if (cosines->dims[1] * 2 > result.query.size)
    return invalid("operand `cos_cache` has ", cosines->dims[1],
                   " angles a row, more than half of the head size ",
                   result.query.size);
  result.rotary = {cosines, sines, cosines->dims[1], interleaved != 0};
  return absl::OkStatus();
}

absl::Status readNorms(const KernelCall &call, Inputs in, GroupCall &result) {
  result.queryNorm = operandAt(in, QueryNorm);
  result.keyNorm = operandAt(in, KeyNorm);
  if (!result.queryNorm != !result.keyNorm)
    return invalid("operands `q_norm_weight` and `k_norm_weight` must be "
                   "given together");
  for (const Tensor *weight : {result.queryNorm, result.keyNorm})
    if (weight) {
      SOL_NN_TRY(checkSameType(*weight, "q_norm_weight or k_norm_weight",
                               in[Query].type));
      SOL_NN_TRY(checkDims(*weight, "q_norm_weight or k_norm_weight",
                           {result.query.size}));
    }
  SOL_NN_ASSIGN(float both, call.attributes.real("qk_norm_epsilon", 1e-6f));
  SOL_NN_ASSIGN(result.queryEpsilon,
                call.attributes.real("q_norm_epsilon", both));
  SOL_NN_ASSIGN(result.keyEpsilon,
                call.attributes.real("k_norm_epsilon", both));
  return absl::OkStatus();
}

absl::Status refuseOthers(const KernelCall &call, Inputs in) {
  for (const char *name : {"sliding_window_cache", "kv_cache_bit_width"}) {
    SOL_NN_ASSIGN(int64_t value, call.attributes.integer(name, 0));
    if (value != 0)
      return invalid("attribute `", name, "` is ", value,
                     ", which is not supported: export with a plain cache "
                     "(`windowed_kv_cache=false`)");
  }
  for (auto [index, name] :
       {std::pair{KeyScale, "k_scale"}, std::pair{ValueScale, "v_scale"},
        std::pair{QueryLengths, "query_seqlens"}})
    if (operandAt(in, index))
      return invalid("operand `", name, "` is not supported");
  SOL_NN_ASSIGN(int64_t watched, call.attributes.integer("qk_output", 0));
  if (watched > 0)
    return invalid("attribute `qk_output` is ", watched,
                   ", which is not supported: must be 0");
  return absl::OkStatus();
}

absl::StatusOr<GroupCall> describe(const KernelCall &call, Inputs in) {
  GroupCall result;
  SOL_NN_TRY(checkCount(in, 7, 17, 0x1e));
  SOL_NN_TRY(refuseOthers(call, in));
  SOL_NN_TRY(readHeads(call, in, result));
  SOL_NN_TRY(readCache(in, result));
  SOL_NN_TRY(readRotary(call, in, result));
  SOL_NN_TRY(readNorms(call, in, result));
  const Attributes &attributes = call.attributes;
  SOL_NN_ASSIGN(result.scale, attributes.real("scale", 0));
  if (result.scale == 0)
    result.scale = 1.0f / std::sqrt(static_cast<float>(result.query.size));
  SOL_NN_ASSIGN(result.softcap, attributes.real("softcap", 0));
  SOL_NN_ASSIGN(result.window, attributes.integer("local_window_size", -1));
  SOL_NN_ASSIGN(int64_t causal, attributes.integer("causal", 1));
  result.causal = causal != 0;
  SOL_NN_ASSIGN(int64_t smooth, attributes.integer("smooth_softmax", 0));
  result.smooth = smooth == 1;
  if ((result.window > 0) && !result.causal)
    return invalid("attribute `local_window_size` is ", result.window,
                   ", must be -1 where `causal` is 0");
  result.bias = operandAt(in, Bias);
  if (result.bias) {
    SOL_NN_TRY(checkSameType(*result.bias, "attention_bias", in[Query].type));
    SOL_NN_TRY(checkRank(*result.bias, "attention_bias", 4, 4));
    SOL_NN_ASSIGN(result.biasSteps,
                  broadcastSteps(result.bias->dims,
                                 {result.batch, result.query.heads,
                                  result.query.length, result.total},
                                 "attention_bias"));
  }
  result.sink = operandAt(in, Sink);
  if (result.sink) {
    SOL_NN_TRY(checkSameType(*result.sink, "head_sink", in[Query].type));
    SOL_NN_TRY(checkDims(*result.sink, "head_sink", {result.query.heads}));
  }
  return result;
}

absl::Status infer(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(GroupCall group, describe(call, in));
  DType type = in[Query].type;
  SOL_NN_TRY(setOutput(
      out, 0, type,
      {group.batch, group.query.length, group.query.heads * group.query.size}));
  Dims cache = {group.batch, group.key.heads, group.present, group.key.size};
  SOL_NN_TRY(setOutput(out, 1, type, cache));
  SOL_NN_TRY(setOutput(out, 2, type, cache));
  if (outputAt(out, 3))
    return invalid("output `output_qk` is not supported");
  return absl::OkStatus();
}

/// Lengths and positions are data: checked before anything is read by them.
absl::Status checkLengths(const GroupCall &group) {
  for (int64_t b = 0; b < group.batch; ++b) {
    int64_t total = group.rowTotal(b), past = group.rowPast(b);
    if (total < 1 || total > group.total || past < 0 || past > group.past)
      return outOfRange("operand `seqlens_k` holds ", total - 1, " for row ", b,
                        ": with ", group.query.length, " new tokens, ",
                        group.past, " past positions and a total of ",
                        group.total, " it must lie in [",
                        group.isPrompt ? 0 : group.query.length - 1, ", ",
                        group.total - 1, "]");
    for (int64_t i = 0; group.rotates && i < group.rowFresh(b); ++i) {
      int64_t position = group.position(b, i),
              rows = group.rotary.cosines->dims[0];
      if (position < 0 || position >= rows)
        return outOfRange("token ", i, " of row ", b, " is at position ",
                          position, ", `cos_cache` has ", rows, " positions");
    }
  }
  return absl::OkStatus();
}

class Runner {
public:
  Runner(const GroupCall &group, Inputs in, Outputs out)
      : g(group), in(in), out(out), type(in[Query].type) {}

  absl::Status run(KernelContext &context) {
    SOL_NN_TRY(checkLengths(g));
    presentKey = outputAt(out, 1);
    presentValue = outputAt(out, 2);
    appendAll(context);
    absl::InlinedVector<float, 64> sinks(g.query.heads, 0.0f);
    if (g.sink)
      loadRow(*g.sink, 0, g.query.heads, sinks.data());
    auto query = [&](int64_t b, int64_t h, int64_t i, float *row) {
      g.query.load(b, h, i, row);
      prepare(b, i, g.queryNorm, g.queryEpsilon, row);
    };
    auto key = [&](int64_t b, int64_t h, int64_t j, float *row) {
      if (presentKey)
        loadRow(*presentKey, presentAt(b, h, j), g.key.size, row);
      else
        loadKey(b, h, j, row);
    };
    auto value = [&](int64_t b, int64_t h, int64_t j, float *row) {
      if (presentValue)
        loadRow(*presentValue, presentAt(b, h, j), g.value.size, row);
      else
        loadValue(b, h, j, row);
    };
    auto visible = [&](int64_t b, int64_t, int64_t i) {
      return visibleKeys(b, i);
    };
    auto bias = [&](int64_t b, int64_t h, int64_t i, KeyRange range,
                    float *scores) {
      int64_t first =
          b * g.biasSteps[0] + h * g.biasSteps[1] + i * g.biasSteps[2];
      for (int64_t j = range.begin; j < range.end; ++j) {
        float added;
        loadRow(*g.bias, first + j * g.biasSteps[3], 1, &added);
        scores[j] += added;
      }
      return true;
    };
    auto round = [](float *, int64_t) {};
    auto scores = [](int, int64_t, int64_t, int64_t, const float *) {};
    auto store = [&](int64_t b, int64_t h, int64_t i, const float *row) {
      storeRow(row, g.query.size, out[0],
               ((b * g.query.length + i) * g.query.heads + h) * g.query.size);
    };
    AttentionProblem<float> problem{
        g.batch,      g.query.heads,
        g.key.heads,  g.query.length,
        g.total,      g.query.size,
        g.value.size, g.scale,
        g.softcap,    DType::None,
        false,        query,
        key,          value,
        visible,      g.bias == nullptr,
        bias,         g.sink || g.smooth ? sinks.data() : nullptr,
        round,        false,
        scores,       store};
    return attend(context, problem);
  }

private:
  int64_t presentAt(int64_t b, int64_t h, int64_t j) const {
    return ((b * g.key.heads + h) * g.present + j) * g.key.size;
  }
  /// Norm and rotation of a fresh row, rounded as if stored.
  void prepare(int64_t b, int64_t i, const Tensor *norm, float epsilon,
               float *row) const {
    if (i >= g.rowFresh(b))
      return; // padding, which no one reads
    int64_t size = g.query.size;
    if (norm) {
      rmsNormalizeRow(row, size, epsilon);
      for (int64_t d = 0; d < size; ++d) {
        float weight;
        loadRow(*norm, d, 1, &weight);
        row[d] *= weight;
      }
    }
    if (g.rotates)
      g.rotary.rotate(g.position(b, i), row);
    roundThrough(type, row, size);
  }
  void loadKey(int64_t b, int64_t h, int64_t j, float *row) const {
    int64_t past = g.rowPast(b), size = g.key.size;
    if (j < past) {
      loadRow(*g.pastKey, ((b * g.key.heads + h) * g.past + j) * size, size,
              row);
      return;
    }
    g.key.load(b, h, j - past, row);
    prepare(b, j - past, g.keyNorm, g.keyEpsilon, row);
  }
  void loadValue(int64_t b, int64_t h, int64_t j, float *row) const {
    int64_t past = g.rowPast(b), size = g.value.size;
    if (j < past)
      loadRow(*g.pastValue, ((b * g.key.heads + h) * g.past + j) * size, size,
              row);
    else
      g.value.load(b, h, j - past, row);
  }
  /// Writes both caches: past, fresh rows, zeros in what is unused.
  void appendAll(KernelContext &context) {
    if (!presentKey && !presentValue)
      return;
    context.parallelFor(g.batch * g.key.heads, 1,
                        [&](int64_t first, int64_t last) {
                          // Heads are rows of the cache; a fresh row passes
                          // through a buffer.
                          absl::InlinedVector<float, 256> row(g.key.size);
                          for (int64_t n = first; n < last; ++n) {
                            int64_t b = n / g.key.heads, h = n % g.key.heads;
                            if (presentKey)
                              appendHead(b, h, g.pastKey, *presentKey,
                                         row.data(), &Runner::loadKey);
                            if (presentValue)
                              appendHead(b, h, g.pastValue, *presentValue,
                                         row.data(), &Runner::loadValue);
                          }
                        });
  }
  void appendHead(int64_t b, int64_t h, const Tensor *past, Tensor &present,
                  float *row,
                  void (Runner::*load)(int64_t, int64_t, int64_t, float *)
                      const) {
    int64_t size = g.key.size, unit = bitWidth(type) / 8;
    int64_t used = g.rowPast(b), end = used + g.rowFresh(b);
    char *to = present.as<char>() + presentAt(b, h, 0) * unit;
    if (used > 0)
      std::memcpy(
          to, past->as<char>() + (b * g.key.heads + h) * g.past * size * unit,
          used * size * unit);
    for (int64_t j = used; j < end; ++j) {
      (this->*load)(b, h, j, row);
      storeRow(row, size, present, presentAt(b, h, j));
    }
    std::memset(to + end * size * unit, 0, (g.present - end) * size * unit);
  }
  KeyRange visibleKeys(int64_t b, int64_t i) const {
    if (i >= g.rowFresh(b))
      return {};
    int64_t position = g.rowPast(b) + i;
    KeyRange range{0, g.causal ? position + 1 : g.rowTotal(b)};
    if (g.window > 0)
      range.begin = std::max<int64_t>(0, position + 1 - g.window);
    return range;
  }

  const GroupCall &g;
  Inputs in;
  Outputs out;
  DType type;
  Tensor *presentKey = nullptr, *presentValue = nullptr;
};

absl::Status run(const KernelCall &call, KernelContext &context, Inputs in,
                 Outputs out) {
  SOL_NN_ASSIGN(GroupCall group, describe(call, in));
  return Runner(group, in, out).run(context);
}

} // namespace

void registerGroupQueryKernels() {
  registerKernel({"onnx.microsoft.GroupQueryAttention", nullptr, infer, run});
}

} // namespace sol::nn
