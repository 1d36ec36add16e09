//===- onnx_attention.cpp - Attention of the default domain ---------------===//
//
// Opset 25's meaning, which contains those of 23 and 24. Sums in float32
// (float64 where an operand is), rounded when stored.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/attention/core.h"
#include "runtime/cpu/nn_ops/attention/families.h"
#include "runtime/cpu/nn_ops/attention/head_view.h"
#include "runtime/cpu/nn_ops/operands.h"

#include <limits>

namespace sol::nn {
namespace {

/// Operands and attributes, checked.
struct AttentionCall {
  HeadView query, key, value;
  const Tensor *mask = nullptr, *pastKey = nullptr, *pastValue = nullptr,
               *lengths = nullptr;
  int64_t batch = 0, past = 0, total = 0, maskedTotal = 0;
  Dims maskShape, maskSteps; ///< of [batch, heads, queries, maskedTotal]
  bool causal = false;
  int64_t left = -1, right = -1, outputMode = 0;
  float scale = 1, softcap = 0;
  DType softmaxType = DType::None;
  Dims outputDims;

  /// Keys before the first query of a row of the batch.
  int64_t offset(int64_t b) const {
    if (lengths && !pastKey)
      return lengths->as<int64_t>()[b] - query.length;
    return past;
  }
};

absl::Status readAttributes(const KernelCall &call, AttentionCall &result) {
  const Attributes &attributes = call.attributes;
  SOL_NN_ASSIGN(int64_t causal, attributes.integer("is_causal", 0));
  result.causal = causal != 0;
  SOL_NN_ASSIGN(result.left, attributes.integer("left_window_size", -1));
  SOL_NN_ASSIGN(result.right, attributes.integer("right_window_size", -1));
  if (result.left < -1 || result.right < -1)
    return invalid("attributes `left_window_size` ", result.left,
                   " and `right_window_size` ", result.right,
                   " must be -1 or more");
  SOL_NN_ASSIGN(result.outputMode,
                attributes.integer("qk_matmul_output_mode", 0));
  if (result.outputMode < 0 || result.outputMode > 3)
    return invalid("attribute `qk_matmul_output_mode` is ", result.outputMode,
                   ", must be 0 to 3");
  SOL_NN_ASSIGN(result.softcap, attributes.real("softcap", 0));
  float natural =
      1.0f /
      std::sqrt(static_cast<float>(std::max<int64_t>(1, result.query.size)));
  SOL_NN_ASSIGN(result.scale, attributes.real("scale", natural));
  if (!(result.scale >= 0))
    return invalid("attribute `scale` is ", result.scale,
                   ", must not be negative");
  SOL_NN_ASSIGN(int64_t precision, attributes.integer("softmax_precision", 0));
  if (precision != 0 && precision != 1 && precision != 10 && precision != 11 &&
      precision != 16)
    return invalid("attribute `softmax_precision` is ", precision,
                   ", must be 1, 10, 11 or 16");
  result.softmaxType = static_cast<DType>(precision);
  return absl::OkStatus();
}

absl::Status readOperands(const KernelCall &call, Inputs in,
                          AttentionCall &result) {
  SOL_NN_TRY(checkCount(in, 3, 7));
  for (size_t i : {0, 1, 2})
    SOL_NN_TRY(checkFloat(in[i], i == 0 ? "Q" : i == 1 ? "K" : "V"));
  SOL_NN_TRY(checkSameType(in[1], "K", in[0].type));
  SOL_NN_TRY(checkRank(in[0], "Q", 3, 4));
  for (size_t i : {1, 2})
    SOL_NN_TRY(
        checkRank(in[i], i == 1 ? "K" : "V", in[0].rank(), in[0].rank()));
  SOL_NN_ASSIGN(int64_t queryHeads, call.attributes.integer("q_num_heads", 0));
  SOL_NN_ASSIGN(int64_t keyHeads, call.attributes.integer("kv_num_heads", 0));
  result.batch = in[0].dims[0];
  if (in[0].rank() == 4) {
    result.query = HeadView::split(in[0]);
    result.key = HeadView::split(in[1]);
    result.value = HeadView::split(in[2]);
  } else {
    if (queryHeads <= 0 || keyHeads <= 0)
      return invalid("attributes `q_num_heads` ", queryHeads,
                     " and `kv_num_heads` ", keyHeads,
                     " must be positive with operands of rank 3");
    for (size_t i : {0, 1, 2})
      if (in[i].dims[2] % (i ? keyHeads : queryHeads))
        return invalid("operand ", i, " of shape ", dimsToString(in[i].dims),
                       " does not divide into ", i ? keyHeads : queryHeads,
                       " heads");
    result.query =
        HeadView::joined(in[0], queryHeads, in[0].dims[2] / queryHeads);
    result.key = HeadView::joined(in[1], keyHeads, in[1].dims[2] / keyHeads);
    result.value = HeadView::joined(in[2], keyHeads, in[2].dims[2] / keyHeads);
  }
  if (in[1].dims[0] != result.batch || in[2].dims[0] != result.batch ||
      result.key.size != result.query.size ||
      result.key.length != result.value.length ||
      result.key.heads != result.value.heads)
    return invalid("operands `Q` ", dimsToString(in[0].dims), ", `K` ",
                   dimsToString(in[1].dims), " and `V` ",
                   dimsToString(in[2].dims),
                   " do not agree in batch, heads, lengths or head size");
  if (result.key.heads <= 0 || result.query.heads % result.key.heads)
    return invalid("the number of query heads ", result.query.heads,
                   " is not a multiple of that of key heads ",
                   result.key.heads);
  return absl::OkStatus();
}

absl::Status readCache(Inputs in, AttentionCall &result) {
  result.pastKey = operandAt(in, 4);
  result.pastValue = operandAt(in, 5);
  result.lengths = operandAt(in, 6);
  if (!result.pastKey != !result.pastValue)
    return invalid("operands `past_key` and `past_value` must be given "
                   "together");
  if (result.pastKey && result.lengths)
    return invalid("operand `nonpad_kv_seqlen` cannot be combined with "
                   "`past_key` and `past_value`");
  if (result.pastKey) {
    SOL_NN_TRY(checkRank(*result.pastKey, "past_key", 4, 4));
    result.past = result.pastKey->dims[2];
    SOL_NN_TRY(checkSameType(*result.pastKey, "past_key", in[1].type));
    SOL_NN_TRY(checkSameType(*result.pastValue, "past_value", in[2].type));
    SOL_NN_TRY(checkDims(
        *result.pastKey, "past_key",
        {result.batch, result.key.heads, result.past, result.key.size}));
    SOL_NN_TRY(checkDims(
        *result.pastValue, "past_value",
        {result.batch, result.key.heads, result.past, result.value.size}));
  }
  if (result.lengths) {
    SOL_NN_TRY(checkSameType(*result.lengths, "nonpad_kv_seqlen", DType::I64));
    SOL_NN_TRY(checkDims(*result.lengths, "nonpad_kv_seqlen", {result.batch}));
  }
  result.total = result.past + result.key.length;
  return absl::OkStatus();
}

absl::Status readMask(Inputs in, AttentionCall &result) {
  result.mask = operandAt(in, 3);
  result.maskedTotal = result.total;
  if (!result.mask)
    return absl::OkStatus();
  const Tensor &mask = *result.mask;
  if (mask.type != DType::Bool && !isFloat(mask.type) && !isInteger(mask.type))
    return invalid("operand `attn_mask` has element type ",
                   dtypeName(mask.type), ", must be bool or a number");
  if (bitWidth(mask.type) < 8)
    return invalid("operand `attn_mask` has element type ",
                   dtypeName(mask.type), ", must be bool or a number");
  SOL_NN_TRY(checkRank(mask, "attn_mask", 1, 4));
  // A last axis that is too short is padded with masked keys; size 1 is too
  // short as well, as the text pads before it broadcasts.
  result.maskedTotal = mask.dims.back();
  if (result.maskedTotal > result.total)
    return invalid("operand `attn_mask` of shape ", dimsToString(mask.dims),
                   " covers more keys than there are: ", result.total);
  result.maskShape = {result.batch, result.query.heads, result.query.length,
                      result.maskedTotal};
  SOL_NN_ASSIGN(result.maskSteps,
                broadcastSteps(mask.dims, result.maskShape, "attn_mask"));
  return absl::OkStatus();
}

absl::StatusOr<AttentionCall> describe(const KernelCall &call, Inputs in) {
  AttentionCall result;
  SOL_NN_TRY(readOperands(call, in, result));
  SOL_NN_TRY(readAttributes(call, result));
  SOL_NN_TRY(readCache(in, result));
  SOL_NN_TRY(readMask(in, result));
  if (in[0].rank() == 4)
    result.outputDims = {result.batch, result.query.heads, result.query.length,
                         result.value.size};
  else
    result.outputDims = {result.batch, result.query.length,
                         result.query.heads * result.value.size};
  return result;
}

absl::Status infer(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(AttentionCall attention, describe(call, in));
  SOL_NN_TRY(setOutput(out, 0, in[0].type, attention.outputDims));
  Dims cache = {attention.batch, attention.key.heads, attention.total,
                attention.key.size};
  SOL_NN_TRY(setOutput(out, 1, in[1].type, cache));
  cache[3] = attention.value.size;
  SOL_NN_TRY(setOutput(out, 2, in[2].type, cache));
  return setOutput(out, 3, in[0].type,
                   {attention.batch, attention.query.heads,
                    attention.query.length, attention.total});
}

/// present = past, then the new rows; both element types are the same.
void appendRows(const HeadView &fresh, const Tensor *past, int64_t pastLength,
                int64_t batch, Tensor &present) {
  int64_t unit = bitWidth(present.type) / 8, row = fresh.size * unit;
  char *to = present.as<char>();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < fresh.heads; ++h) {
      int64_t head = b * fresh.heads + h;
      if (past && pastLength > 0)
        std::memcpy(to, past->as<char>() + head * pastLength * row,
                    pastLength * row);
      to += pastLength * row;
      for (int64_t i = 0; i < fresh.length; ++i, to += row)
        std::memcpy(to, fresh.tensor->as<char>() + fresh.at(b, h, i) * unit,
                    row);
    }
}

template <typename T> class Runner {
public:
  Runner(const AttentionCall &call, Inputs in, Outputs out)
      : a(call), in(in), out(out) {
    rootScale = T(std::sqrt(a.scale));
    // The text casts the root to the operands' type.
    roundThrough(in[0].type, &rootScale, 1);
  }

  absl::Status run(KernelContext &context) {
    SOL_NN_TRY(checkLengths());
    append();
    Tensor *watched = outputAt(out, 3);
    auto query = [&](int64_t b, int64_t h, int64_t i, T *row) {
      a.query.load(b, h, i, row);
      scaleOperand(row);
    };
    auto key = [&](int64_t b, int64_t h, int64_t j, T *row) {
      loadCached(a.pastKey, a.key, b, h, j, row);
      scaleOperand(row);
    };
    auto value = [&](int64_t b, int64_t h, int64_t j, T *row) {
      loadCached(a.pastValue, a.value, b, h, j, row);
    };
    auto visible = [&](int64_t b, int64_t, int64_t i) {
      return visibleKeys(b, i);
    };
    auto bias = [&](int64_t b, int64_t h, int64_t i, KeyRange range, T *s) {
      return addMask(b, h, i, range, s);
    };
    auto round = [&](T *row, int64_t count) {
      if (a.softmaxType != DType::None)
        roundThrough(a.softmaxType, row, count);
      roundThrough(in[0].type, row, count);
    };
    auto scores = [&](int stage, int64_t b, int64_t h, int64_t i, const T *s) {
      if (stage == a.outputMode)
        storeScores(b, h, i, s, *watched);
    };
    auto store = [&](int64_t b, int64_t h, int64_t i, const T *row) {
      int64_t heads = a.query.heads, length = a.query.length;
      int64_t at = in[0].rank() == 4 ? (b * heads + h) * length + i
                                     : (b * length + i) * heads + h;
      storeRow(row, a.value.size, out[0], at * a.value.size);
    };
    AttentionProblem<T> problem{a.batch,
                                a.query.heads,
                                a.key.heads,
                                a.query.length,
                                a.total,
                                a.query.size,
                                a.value.size,
                                T(1),
                                T(a.softcap),
                                in[0].type,
                                watched != nullptr,
                                query,
                                key,
                                value,
                                visible,
                                a.mask == nullptr,
                                bias,
                                nullptr,
                                round,
                                watched != nullptr,
                                scores,
                                store};
    return attend(context, problem);
  }

private:
  /// Lengths are data: checked before anything is read by them.
  absl::Status checkLengths() const {
    if (a.lengths)
      for (int64_t b = 0; b < a.batch; ++b) {
        int64_t length = a.lengths->as<int64_t>()[b];
        if (length < 0 || length > a.total)
          return outOfRange("operand `nonpad_kv_seqlen` holds ", length,
                            " for row ", b, ", must lie in [0, ", a.total, "]");
      }
    return absl::OkStatus();
  }
  /// Writes the caches that the model asks for.
  void append() {
    if (Tensor *present = outputAt(out, 1))
      appendRows(a.key, a.pastKey, a.past, a.batch, *present);
    if (Tensor *present = outputAt(out, 2))
      appendRows(a.value, a.pastValue, a.past, a.batch, *present);
  }
  void storeScores(int64_t b, int64_t h, int64_t i, const T *scores,
                   Tensor &target) const {
    int64_t row = (b * a.query.heads + h) * a.query.length + i;
    storeRow(scores, a.total, target, row * a.total);
  }
  void scaleOperand(T *row) const {
    for (int64_t d = 0; d < a.query.size; ++d)
      row[d] *= rootScale;
    roundThrough(in[0].type, row, a.query.size);
  }
  void loadCached(const Tensor *past, const HeadView &fresh, int64_t b,
                  int64_t h, int64_t j, T *row) const {
    if (j < a.past)
      loadRow(*past, ((b * fresh.heads + h) * a.past + j) * fresh.size,
              fresh.size, row);
    else
      fresh.load(b, h, j - a.past, row);
  }
  KeyRange visibleKeys(int64_t b, int64_t i) const {
    KeyRange range{0, a.maskedTotal};
    if (a.lengths)
      range.end = std::min(range.end, a.lengths->as<int64_t>()[b]);
    int64_t position = a.offset(b) + i;
    if (a.causal)
      range.end = std::min(range.end, position + 1);
    if (a.right >= 0)
      range.end = std::min(range.end, position < a.total - a.right
                                          ? position + a.right + 1
                                          : a.total);
    if (a.left >= 0 && position > a.left)
      range.begin = position - a.left;
    range.end = std::max<int64_t>(range.end, 0);
    range.begin = std::min(range.begin, range.end);
    return range;
  }
  bool addMask(int64_t b, int64_t h, int64_t i, KeyRange range, T *s) const {
    constexpr T masked = -std::numeric_limits<T>::infinity();
    int64_t first =
        b * a.maskSteps[0] + h * a.maskSteps[1] + i * a.maskSteps[2];
    int64_t step = a.maskSteps[3];
    bool seen = false;
    if (a.mask->type == DType::Bool) {
      const uint8_t *keep = a.mask->as<uint8_t>() + first;
      for (int64_t j = range.begin; j < range.end; ++j) {
        bool kept = keep[j * step] != 0;
        s[j] = kept ? s[j] : masked;
        seen |= kept;
      }
      return seen;
    }
    for (int64_t j = range.begin; j < range.end; ++j) {
      T added;
      loadRow(*a.mask, first + j * step, 1, &added);
      s[j] += added;
      seen |= added != masked;
    }
    return seen;
  }

  const AttentionCall &a;
  Inputs in;
  Outputs out;
  T rootScale;
};

absl::Status run(const KernelCall &call, KernelContext &context, Inputs in,
                 Outputs out) {
  SOL_NN_ASSIGN(AttentionCall attention, describe(call, in));
  if (in[0].type == DType::F64 || in[2].type == DType::F64 ||
      attention.softmaxType == DType::F64)
    return Runner<double>(attention, in, out).run(context);
  return Runner<float>(attention, in, out).run(context);
}

} // namespace

void registerOnnxAttentionKernels() {
  registerKernel({"onnx.Attention", nullptr, infer, run});
}

} // namespace sol::nn
