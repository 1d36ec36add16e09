//===- multi_head.cpp - MultiHeadAttention and Attention of com.microsoft -===//
//
// Both attend with as many key heads as query heads and mask by adding a finite
// number; they differ in where queries, keys and values come from. Attention
// projects its input first.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/attention/core.h"
#include "runtime/cpu/nn_ops/attention/families.h"
#include "runtime/cpu/nn_ops/attention/head_view.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/nn_ops/product/matrix_operand.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

namespace sol::nn {
namespace {

/// Rows of heads, with a part of a bias added to each.
struct BiasedHeads {
  HeadView view;
  const Tensor *bias = nullptr;
  int64_t biasAt = 0;

  void load(int64_t b, int64_t head, int64_t i, float *row) const {
    view.load(b, head, i, row);
    for (int64_t d = 0; bias && d < view.size; ++d) {
      float added;
      loadRow(*bias, biasAt + head * view.size + d, 1, &added);
      row[d] += added;
    }
  }
};

/// Either operator, its operands checked.
struct MultiHeadCall {
  BiasedHeads query, key, value;
  int64_t batch = 0, past = 0, total = 0;
  const Tensor *pastKey = nullptr, *pastValue = nullptr; ///< [B, N, P, D]
  int64_t pastValueAt = 0; ///< element at which past values begin
  const Tensor *mask = nullptr, *bias = nullptr;
  Dims biasSteps;
  bool causal = false;
  float filter = -10000.0f, scale = 1;

  AttentionSizes sizes() const {
    return {batch, query.view.heads, key.view.heads, query.view.length,
            total, query.view.size,  value.view.size};
  }
};

absl::Status readAttributes(const KernelCall &call, MultiHeadCall &result) {
  const Attributes &attributes = call.attributes;
  SOL_NN_ASSIGN(int64_t causal, attributes.integer("unidirectional", 0));
  result.causal = causal != 0;
  SOL_NN_ASSIGN(result.filter, attributes.real("mask_filter_value", -10000.0f));
  SOL_NN_ASSIGN(result.scale, attributes.real("scale", 0));
  if (result.scale == 0)
    result.scale = 1.0f / std::sqrt(static_cast<float>(
                              std::max<int64_t>(1, result.query.view.size)));
  return absl::OkStatus();
}

/// Mask and bias, when all sizes are known.
absl::Status readMasks(const Tensor *mask, const Tensor *bias,
                       MultiHeadCall &result) {
  int64_t batch = result.batch, queries = result.query.view.length;
  result.mask = mask;
  if (mask) {
    SOL_NN_TRY(checkSameType(*mask, "mask", DType::I32));
    Dims ends = {batch}, both = {2 * batch}, rows = {batch, result.total},
         each = {batch, queries, result.total};
    if (mask->dims != ends && mask->dims != both && mask->dims != rows &&
        mask->dims != each)
      return invalid("operand `mask` has shape ", dimsToString(mask->dims),
                     ", must be ", dimsToString(ends), ", ", dimsToString(both),
                     ", ", dimsToString(rows), " or ", dimsToString(each));
  }
  result.bias = bias;
  if (bias) {
    SOL_NN_TRY(checkType(*bias, "attention_bias",
                         {DType::F32, DType::F16, DType::BF16}));
    SOL_NN_TRY(checkRank(*bias, "attention_bias", 4, 4));
    SOL_NN_ASSIGN(
        result.biasSteps,
        broadcastSteps(bias->dims,
                       {batch, result.query.view.heads, queries, result.total},
                       "attention_bias"));
  }
  return absl::OkStatus();
}

/// The arithmetic of both operators.
class Runner {
public:
  Runner(const MultiHeadCall &call, Tensor &out) : m(call), out(out) {}

  /// present = past, then fresh rows; `at` is its first element.
  void append(const BiasedHeads &fresh, const Tensor *past, int64_t pastAt,
              Tensor &present, int64_t at) {
    int64_t size = fresh.view.size;
    absl::InlinedVector<float, 256> row(size);
    for (int64_t n = 0; n < m.batch * fresh.view.heads; ++n)
      for (int64_t j = 0; j < m.total; ++j) {
        if (j < m.past)
          loadRow(*past, pastAt + (n * m.past + j) * size, size, row.data());
        else
          fresh.load(n / fresh.view.heads, n % fresh.view.heads, j - m.past,
                     row.data());
        storeRow(row.data(), size, present, at + (n * m.total + j) * size);
      }
  }

  absl::Status run(KernelContext &context, float *workspace) {
    auto query = [&](int64_t b, int64_t h, int64_t i, float *row) {
      m.query.load(b, h, i, row);
    };
    auto key = [&](int64_t b, int64_t h, int64_t j, float *row) {
      load(m.key, m.pastKey, 0, b, h, j, row);
    };
    auto value = [&](int64_t b, int64_t h, int64_t j, float *row) {
      load(m.value, m.pastValue, m.pastValueAt, b, h, j, row);
    };
    auto visible = [&](int64_t, int64_t, int64_t i) {
      return KeyRange{0,
                      m.causal ? std::min(m.total, m.past + i + 1) : m.total};
    };
    auto bias = [&](int64_t b, int64_t h, int64_t i, KeyRange range,
                    float *scores) {
      for (int64_t j = range.begin; j < range.end; ++j) {
        if (m.mask && !kept(b, i, j))
          scores[j] += m.filter;
        if (m.bias) {
          float added;
          loadRow(*m.bias,
                  b * m.biasSteps[0] + h * m.biasSteps[1] + i * m.biasSteps[2] +
                      j * m.biasSteps[3],
                  1, &added);
          scores[j] += added;
        }
      }
      return true;
    };
    auto round = [](float *, int64_t) {};
    auto scores = [](int, int64_t, int64_t, int64_t, const float *) {};
    auto store = [&](int64_t b, int64_t h, int64_t i, const float *row) {
      int64_t size = m.value.view.size;
      storeRow(row, size, out,
               ((b * m.query.view.length + i) * m.query.view.heads + h) * size);
    };
    AttentionSizes s = m.sizes();
    AttentionProblem<float> problem{
        s.batch, s.queryHeads, s.keyHeads,  s.queries,
        s.keys,  s.headSize,   s.valueSize, m.scale,
        0.0f,    DType::None,  false,       query,
        key,     value,        visible,     !m.mask && !m.bias,
        bias,    nullptr,      round,       false,
        scores,  store};
    return attend(context, problem, workspace);
  }

private:
  void load(const BiasedHeads &fresh, const Tensor *past, int64_t pastAt,
            int64_t b, int64_t h, int64_t j, float *row) const {
    int64_t size = fresh.view.size;
    if (j < m.past)
      loadRow(*past, pastAt + ((b * fresh.view.heads + h) * m.past + j) * size,
              size, row);
    else
      fresh.load(b, h, j - m.past, row);
  }
  bool kept(int64_t b, int64_t i, int64_t j) const {
    const int32_t *mask = m.mask->as<int32_t>();
    if (m.mask->rank() == 1) // ends, and perhaps beginnings
      return j < mask[b] &&
             (m.mask->dims[0] == m.batch || j >= mask[m.batch + b]);
    if (m.mask->rank() == 2)
      return mask[b * m.total + j] > 0;
    return mask[(b * m.query.view.length + i) * m.total + j] > 0;
  }

  const MultiHeadCall &m;
  Tensor &out;
};

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

/// One of the parts packed as [batch, length, heads, parts, size].
HeadView packedPart(const Tensor &tensor, int64_t part) {
  int64_t length = tensor.dims[1], heads = tensor.dims[2],
          parts = tensor.dims[3], size = tensor.dims[4];
  int64_t position = heads * parts * size;
  return {&tensor,           heads,        length,  size, part * size,
          length * position, parts * size, position};
}

absl::Status readPackedOrPlain(Inputs in, int64_t heads,
                               MultiHeadCall &result) {
  const Tensor &query = in[0];
  const Tensor *key = operandAt(in, 1), *value = operandAt(in, 2);
  if (query.rank() == 5) {
    SOL_NN_TRY(
        checkDims(query, "query",
                  {query.dims[0], query.dims[1], heads, 3, query.dims[4]}));
    if (key || value)
      return invalid("operands `key` and `value` must be left out where "
                     "`query` holds all three");
    result.query.view = packedPart(query, 0);
    result.key.view = packedPart(query, 1);
    result.value.view = packedPart(query, 2);
    return absl::OkStatus();
  }
  SOL_NN_TRY(checkRank(query, "query", 3, 3));
  if (query.dims[2] % heads || !key)
    return invalid("operand `query` of shape ", dimsToString(query.dims),
                   " does not divide into ", heads,
                   " heads, or `key` is left out");
  result.query.view = HeadView::joined(query, heads, query.dims[2] / heads);
  SOL_NN_TRY(checkSameType(*key, "key", query.type));
  if (key->rank() == 5) {
    SOL_NN_TRY(checkDims(
        *key, "key",
        {query.dims[0], key->dims[1], heads, 2, query.dims[2] / heads}));
    if (value)
      return invalid("operand `value` must be left out where `key` holds both");
    result.key.view = packedPart(*key, 0);
    result.value.view = packedPart(*key, 1);
    return absl::OkStatus();
  }
  if (!value)
    return invalid("operand `value` is left out");
  SOL_NN_TRY(checkSameType(*value, "value", query.type));
  SOL_NN_TRY(checkRank(*key, "key", 3, 4));
  SOL_NN_TRY(checkRank(*value, "value", key->rank(), key->rank()));
  if (key->rank() == 4) {
    result.key.view = HeadView::split(*key);
    result.value.view = HeadView::split(*value);
    return absl::OkStatus();
  }
  if (key->dims[2] % heads || value->dims[2] % heads)
    return invalid("operands `key` ", dimsToString(key->dims), " and `value` ",
                   dimsToString(value->dims), " do not divide into ", heads,
                   " heads");
  result.key.view = HeadView::joined(*key, heads, key->dims[2] / heads);
  result.value.view = HeadView::joined(*value, heads, value->dims[2] / heads);
  return absl::OkStatus();
}

absl::Status readPast(const Tensor *pastKey, const Tensor *pastValue,
                      DType type, MultiHeadCall &result) {
  if (!pastKey != !pastValue)
    return invalid("operands `past_key` and `past_value` must be given "
                   "together");
  result.pastKey = pastKey;
  result.pastValue = pastValue;
  if (pastKey) {
    SOL_NN_TRY(checkRank(*pastKey, "past_key", 4, 4));
    result.past = pastKey->dims[2];
    SOL_NN_TRY(checkSameType(*pastKey, "past_key", type));
    SOL_NN_TRY(checkSameType(*pastValue, "past_value", type));
    int64_t heads = result.key.view.heads;
    SOL_NN_TRY(
        checkDims(*pastKey, "past_key",
                  {result.batch, heads, result.past, result.key.view.size}));
    SOL_NN_TRY(
        checkDims(*pastValue, "past_value",
                  {result.batch, heads, result.past, result.value.view.size}));
  }
  result.total = result.past + result.key.view.length;
  return absl::OkStatus();
}

absl::StatusOr<MultiHeadCall> describeMultiHead(const KernelCall &call,
                                                Inputs in) {
  MultiHeadCall result;
  SOL_NN_TRY(checkCount(in, 1, 10));
  SOL_NN_TRY(checkType(in[0], "query", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_ASSIGN(int64_t heads, call.attributes.integer("num_heads", 0));
  if (heads <= 0)
    return invalid("attribute `num_heads` is ", heads, ", must be positive");
  SOL_NN_TRY(readPackedOrPlain(in, heads, result));
  result.batch = in[0].dims[0];
  const HeadView &key = result.key.view, &value = result.value.view;
  if (key.tensor->dims[0] != result.batch ||
      value.tensor->dims[0] != result.batch || key.heads != heads ||
      value.heads != heads || key.length != value.length ||
      key.size != result.query.view.size)
    return invalid("operands `query` ", dimsToString(in[0].dims), ", `key` ",
                   dimsToString(key.tensor->dims), " and `value` ",
                   dimsToString(value.tensor->dims), " do not agree");
  if (const Tensor *bias = operandAt(in, 3)) {
    int64_t width = heads * key.size;
    SOL_NN_TRY(checkSameType(*bias, "bias", in[0].type));
    SOL_NN_TRY(checkDims(*bias, "bias", {2 * width + heads * value.size}));
    result.query.bias = bias;
    // Keys and values that are already split into heads carry theirs.
    if (key.tensor->rank() != 4) {
      result.key.bias = result.value.bias = bias;
      result.key.biasAt = width;
      result.value.biasAt = 2 * width;
    }
  }
  SOL_NN_TRY(readPast(operandAt(in, 6), operandAt(in, 7), in[0].type, result));
  for (size_t i : {8, 9})
    if (operandAt(in, i))
      return invalid("operand ", i, " (shared cache) is not supported");
  SOL_NN_TRY(readAttributes(call, result));
  SOL_NN_TRY(readMasks(operandAt(in, 4), operandAt(in, 5), result));
  return result;
}

absl::Status inferMultiHead(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(MultiHeadCall m, describeMultiHead(call, in));
  int64_t heads = m.query.view.heads;
  SOL_NN_TRY(
      setOutput(out, 0, in[0].type,
                {m.batch, m.query.view.length, heads * m.value.view.size}));
  SOL_NN_TRY(setOutput(out, 1, in[0].type,
                       {m.batch, heads, m.total, m.key.view.size}));
  SOL_NN_TRY(setOutput(out, 2, in[0].type,
                       {m.batch, heads, m.total, m.value.view.size}));
  if (outputAt(out, 3))
    return invalid("output `qk` is not supported");
  return absl::OkStatus();
}

absl::Status runMultiHead(const KernelCall &call, KernelContext &context,
                          Inputs in, Outputs out) {
  SOL_NN_ASSIGN(MultiHeadCall m, describeMultiHead(call, in));
  Runner runner(m, out[0]);
  if (Tensor *present = outputAt(out, 1))
    runner.append(m.key, m.pastKey, 0, *present, 0);
  if (Tensor *present = outputAt(out, 2))
    runner.append(m.value, m.pastValue, 0, *present, 0);
  return runner.run(context, nullptr);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// `projected` is a float32 view [batch, length, widths] whose memory comes
/// later; the call's views refer to it.
absl::StatusOr<MultiHeadCall> describeProjected(const KernelCall &call,
                                                Inputs in, Tensor &projected) {
  MultiHeadCall result;
  SOL_NN_TRY(checkCount(in, 2, 7));
  SOL_NN_TRY(checkType(in[0], "input", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(checkSameType(in[1], "weights", in[0].type));
  SOL_NN_TRY(checkRank(in[0], "input", 3, 3));
  SOL_NN_TRY(checkRank(in[1], "weights", 2, 2));
  SOL_NN_ASSIGN(int64_t heads, call.attributes.integer("num_heads", 0));
  for (const char *name : {"do_rotary", "past_present_share_buffer"}) {
    SOL_NN_ASSIGN(int64_t value, call.attributes.integer(name, 0));
    if (value != 0)
      return invalid("attribute `", name, "` is ", value,
                     ", which is not supported: must be 0");
  }
  int64_t width = in[1].dims[1];
  SOL_NN_ASSIGN(absl::Span<const int64_t> given,
                call.attributes.integers("qkv_hidden_sizes"));
  Dims widths(given.begin(), given.end());
  if (widths.empty())
    widths = {width / 3, width / 3, width / 3};
  if (heads <= 0 || in[1].dims[0] != in[0].dims[2] || widths.size() != 3 ||
      widths[0] != widths[1] || widths[0] <= 0 || widths[2] <= 0 ||
      widths[0] + widths[1] + widths[2] != width || widths[0] % heads ||
      widths[2] % heads)
    return invalid("operands `input` ", dimsToString(in[0].dims),
                   " and `weights` ", dimsToString(in[1].dims),
                   " do not divide into ", heads, " heads of widths ",
                   dimsToString(widths),
                   " (attributes `num_heads` and "
                   "`qkv_hidden_sizes`)");
  result.batch = in[0].dims[0];
  projected.type = DType::F32;
  projected.dims = {result.batch, in[0].dims[1], width};
  auto part = [&](int64_t size, int64_t at) {
    return BiasedHeads{HeadView::joined(projected, heads, size / heads, at)};
  };
  result.query = part(widths[0], 0);
  result.key = part(widths[1], widths[0]);
  result.value = part(widths[2], widths[0] + widths[1]);
  if (const Tensor *bias = operandAt(in, 2)) {
    SOL_NN_TRY(checkSameType(*bias, "bias", in[0].type));
    SOL_NN_TRY(checkDims(*bias, "bias", {width}));
    result.query.bias = result.key.bias = result.value.bias = bias;
    result.key.biasAt = widths[0];
    result.value.biasAt = widths[0] + widths[1];
  }
  if (const Tensor *past = operandAt(in, 4)) {
    if (past->rank() != 5 || widths[2] != widths[0])
      return invalid("operand `past` has shape ", dimsToString(past->dims),
                     ", must have rank 5 and equal head sizes");
    result.past = past->dims[3];
    SOL_NN_TRY(checkSameType(*past, "past", in[0].type));
    SOL_NN_TRY(
        checkDims(*past, "past",
                  {2, result.batch, heads, result.past, widths[0] / heads}));
    result.pastKey = result.pastValue = past;
    result.pastValueAt = past->size() / 2;
  }
  result.total = result.past + in[0].dims[1];
  if (operandAt(in, 6))
    return invalid("operand `past_sequence_length` is not supported");
  SOL_NN_TRY(readAttributes(call, result));
  SOL_NN_TRY(readMasks(operandAt(in, 3), operandAt(in, 5), result));
  return result;
}

absl::Status inferAttention(const KernelCall &call, Inputs in, Outputs out) {
  Tensor projected;
  SOL_NN_ASSIGN(MultiHeadCall m, describeProjected(call, in, projected));
  SOL_NN_TRY(setOutput(
      out, 0, in[0].type,
      {m.batch, m.query.view.length, m.query.view.heads * m.value.view.size}));
  if (outputAt(out, 1) && m.key.view.size != m.value.view.size)
    return invalid("output `present` needs keys and values of one head size");
  return setOutput(out, 1, in[0].type,
                   {2, m.batch, m.key.view.heads, m.total, m.key.view.size});
}

absl::Status runAttention(const KernelCall &call, KernelContext &context,
                          Inputs in, Outputs out) {
  Tensor projected;
  SOL_NN_ASSIGN(MultiHeadCall m, describeProjected(call, in, projected));
  int64_t rows = product(in[0].dims, 0, 2), depth = in[0].dims[2];
  int64_t width = in[1].dims[1];
  int threads = context.threadCount();
  ScratchLayout layout;
  size_t inputAt = layout.add<float>(rows * depth);
  size_t projectedAt = layout.add<float>(rows * width);
  size_t productAt =
      layout.add<float>(productWorkspace(threads, 1, width, depth));
  size_t attendAt = layout.add<float>(attendWorkspace(threads, m.sizes()));
  SOL_NN_TRY(layout.take(context));
  float *input = layout.at<float>(inputAt);
  float *result = layout.at<float>(projectedAt);
  projected.data = result;
  loadRow(in[0], 0, rows * depth, input);
  MatrixOperand weights{&in[1], width, 1, {}, {}};
  auto left = [&](int64_t) -> const float * { return input; };
  auto fill = [&](int64_t, int64_t column, int64_t count, float *panel) {
    fillPanel(weights, 0, depth, column, count, panel);
  };
  auto store = [&](int64_t, int64_t row, int64_t column, int64_t count,
                   const float *sums) {
    std::copy_n(sums, count, result + row * width + column);
  };
  runPanelProduct<float>(context, {1, rows, width, depth, left, fill, store},
                         layout.at<float>(productAt));
  Runner runner(m, out[0]);
  if (Tensor *present = outputAt(out, 1)) {
    runner.append(m.key, m.pastKey, 0, *present, 0);
    runner.append(m.value, m.pastValue, m.pastValueAt, *present,
                  present->size() / 2);
  }
  return runner.run(context, layout.at<float>(attendAt));
}

} // namespace

void registerMultiHeadKernels() {
  registerKernel({"onnx.microsoft.MultiHeadAttention", nullptr, inferMultiHead,
                  runMultiHead});
  registerKernel(
      {"onnx.microsoft.Attention", nullptr, inferAttention, runAttention});
}

} // namespace sol::nn
