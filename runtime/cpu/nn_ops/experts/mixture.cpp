//===- mixture.cpp - MoE and QMoE of com.microsoft ------------------------===//
//
// Each token goes through the experts that its router logits choose. Tokens are
// gathered by expert, so that an expert's weights are read (and dequantized)
// once for all of its tokens; contributions are added in the order of choice,
// so a token's result does not depend on its company.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/activation.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/experts/families.h"
#include "runtime/cpu/nn_ops/experts/routing.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/nn_ops/product/panel_product.h"
#include "runtime/cpu/nn_ops/quantization/block_weights.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

#include <limits>

namespace sol::nn {
namespace {

/// One of an expert's matrices, [outputs, inputs], for all experts.
struct ExpertMatrix {
  int64_t outputs = 0, inputs = 0;
  const Tensor *weights = nullptr, *bias = nullptr;
  bool quantized = false;
  BlockWeights blocks; ///< of the first expert, where quantized

  /// Panel `column`.. of expert `e`.
  void fill(int64_t e, int64_t column, int64_t count, float *panel) const {
    if (quantized) {
      BlockWeights own = blocks;
      own.codes += e * outputs * own.rowBytes;
      own.firstScale = e * outputs * own.blocks;
      own.firstZero =
          e * outputs *
          (own.zeros && own.zeros->type == DType::U8 ? own.zeroRowBytes
                                                     : own.blocks);
      own.fill(column, count, panel);
      return;
    }
    float row[64];
    for (int64_t c = 0; c < panelWidth; ++c)
      for (int64_t k = 0; k < inputs; k += 64) {
        int64_t run = std::min<int64_t>(64, inputs - k);
        if (c < count)
          loadRow(*weights, (e * outputs + column + c) * inputs + k, run, row);
        for (int64_t i = 0; i < run; ++i)
          panel[(k + i) * panelWidth + c] = c < count ? row[i] : 0.0f;
      }
  }
};

struct MixtureCall {
  int64_t tokens = 0, width = 0, experts = 0, inner = 0;
  Routing routing;
  ExpertMatrix first, second, third;
  bool gated = false; ///< swiglu: gate and linear part
  int64_t fusion = 0; ///< 0 third matrix, 1 interleaved, 2 halves
  float alpha = 1, beta = 0, limit = std::numeric_limits<float>::infinity();
  Activation activation;
};

/// Where MoE and QMoE have their operands.
struct OperandNumbers {
  size_t weights, scales, bias, zeros; ///< 0: none
};

absl::Status readMatrix(Inputs in, OperandNumbers numbers, int64_t experts,
                        int64_t outputs, int64_t inputs, int64_t bits,
                        int64_t block, ExpertMatrix &matrix) {
  matrix.outputs = outputs;
  matrix.inputs = inputs;
  matrix.weights = operandAt(in, numbers.weights);
  matrix.bias = operandAt(in, numbers.bias);
  if (matrix.bias) {
    SOL_NN_TRY(checkType(*matrix.bias, "experts_bias",
                         {DType::F32, DType::F16, DType::BF16}));
    SOL_NN_TRY(checkElements(*matrix.bias, "experts_bias", experts * outputs));
  }
  if (numbers.scales == 0) {
    SOL_NN_TRY(checkSameType(*matrix.weights, "experts_weights", in[0].type));
    return checkDims(*matrix.weights, "experts_weights",
                     {experts, outputs, inputs});
  }
  matrix.quantized = true;
  BlockWeights &blocks = matrix.blocks;
  const Tensor *scales = operandAt(in, numbers.scales);
  if (!scales)
    return invalid("operand ", numbers.scales, " (scales) is left out");
  SOL_NN_TRY(
      checkType(*scales, "scales", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(checkSameType(*matrix.weights, "experts_weights", DType::U8));
  if (inputs * bits % 8)
    return invalid("rows of ", inputs, " codes of ", bits,
                   " bits do not fill whole bytes");
  blocks.bits = static_cast<int>(bits);
  blocks.depth = inputs;
  blocks.block = block > 0 ? block : inputs;
  blocks.blocks = blocks.block ? (inputs + blocks.block - 1) / blocks.block : 0;
  blocks.rowBytes = inputs * bits / 8;
  blocks.codes = matrix.weights->as<uint8_t>();
  blocks.scales = scales;
  SOL_NN_TRY(checkDims(*matrix.weights, "experts_weights",
                       {experts, outputs, blocks.rowBytes}));
  SOL_NN_TRY(
      checkElements(*scales, "scales", experts * outputs * blocks.blocks));
  blocks.zeros = operandAt(in, numbers.zeros);
  if (!blocks.zeros)
    return absl::OkStatus();
  if (block <= 0)
    return invalid("operand ", numbers.zeros,
                   " (zero points) needs attribute "
                   "`block_size`");
  blocks.zeroRowBytes = (blocks.blocks * bits + 7) / 8;
  SOL_NN_TRY(checkSameType(*blocks.zeros, "zero_points", DType::U8));
  return checkElements(*blocks.zeros, "zero_points",
                       experts * outputs * blocks.zeroRowBytes);
}

absl::Status readActivation(const KernelCall &call, MixtureCall &result) {
  const Attributes &attributes = call.attributes;
  SOL_NN_ASSIGN(std::string name, attributes.text("activation_type", "relu"));
  SOL_NN_ASSIGN(result.fusion, attributes.integer("swiglu_fusion", 0));
  SOL_NN_ASSIGN(result.alpha, attributes.real("activation_alpha", 1.0f));
  SOL_NN_ASSIGN(result.beta, attributes.real("activation_beta", 0.0f));
  SOL_NN_ASSIGN(result.limit, attributes.real("swiglu_limit", result.limit));
  SOL_NN_ASSIGN(int64_t late,
                attributes.integer("swiglu_limit_after_activation", 0));
  if (late != 0)
    return invalid("attribute `swiglu_limit_after_activation` is ", late,
                   ", which is not supported: must be 0");
  if (result.fusion < 0 || result.fusion > 2)
    return invalid("attribute `swiglu_fusion` is ", result.fusion,
                   ", must be 0, 1 or 2");
  if (name == "swiglu") {
    result.gated = true;
    return absl::OkStatus();
  }
  if (result.fusion != 0)
    return invalid("attribute `swiglu_fusion` is ", result.fusion,
                   " with activation `", name, "`, must be 0");
  SOL_NN_TRY(result.activation.setKind(name));
  // Experts use the tanh form where others use the error function.
  if (result.activation.kind == Activation::Kind::Gelu)
    result.activation.kind = Activation::Kind::GeluTanh;
  return absl::OkStatus();
}

/// Sizes, from the second matrix [experts, width, inner].
absl::StatusOr<MixtureCall> describe(const KernelCall &call, Inputs in,
                                     bool quantized) {
  MixtureCall result;
  SOL_NN_TRY(checkCount(in, quantized ? 6 : 5, quantized ? 21 : 8,
                        quantized ? 1u << 4 : 1u << 3));
  SOL_NN_TRY(checkType(in[0], "input", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(checkRank(in[0], "input", 2, 3));
  result.width = in[0].dims.back();
  result.tokens = product(in[0].dims, 0, in[0].dims.size() - 1);
  SOL_NN_TRY(readActivation(call, result));
  const Attributes &attributes = call.attributes;
  SOL_NN_ASSIGN(int64_t block, attributes.integer("block_size", 0));
  SOL_NN_ASSIGN(int64_t bits, attributes.integer("expert_weight_bits", 4));
  SOL_NN_ASSIGN(std::string format, attributes.text("quant_type", "int"));
  SOL_NN_ASSIGN(int64_t packed, attributes.integer("weights_prepacked", -1));
  if (quantized && (format != "int" || (bits != 2 && bits != 4 && bits != 8)))
    return invalid("attributes `quant_type` ", format,
                   " and `expert_weight_bits` ", bits,
                   " must be int and 2, 4 or 8");
  if (quantized && packed > 0)
    return invalid("attribute `weights_prepacked` is ", packed,
                   ", which is for other devices: must be 0");
  if (block < 0)
    return invalid("attribute `block_size` is ", block,
                   ", must not be negative");
  size_t secondAt = quantized ? 5 : 4;
  SOL_NN_TRY(checkRank(in[2], "fc1_experts_weights", 3, 3));
  SOL_NN_TRY(checkRank(in[secondAt], "fc2_experts_weights", 3, 3));
  result.experts = in[2].dims[0];
  result.inner = in[secondAt].dims[2] * (quantized ? 8 / bits : 1);
  int64_t outer =
      result.gated && result.fusion ? 2 * result.inner : result.inner;
  OperandNumbers one =
      quantized ? OperandNumbers{2, 3, 4, 11} : OperandNumbers{2, 0, 3, 99};
  OperandNumbers two =
      quantized ? OperandNumbers{5, 6, 7, 12} : OperandNumbers{4, 0, 5, 99};
  OperandNumbers three =
      quantized ? OperandNumbers{8, 9, 10, 13} : OperandNumbers{6, 0, 7, 99};
  SOL_NN_TRY(readMatrix(in, one, result.experts, outer, result.width, bits,
                        block, result.first));
  SOL_NN_TRY(readMatrix(in, two, result.experts, result.width, result.inner,
                        bits, block, result.second));
  bool hasThird = operandAt(in, three.weights) != nullptr;
  if (hasThird != (result.gated && result.fusion == 0))
    return invalid("operand `fc3_experts_weights` belongs to activation "
                   "`swiglu` with `swiglu_fusion` 0, and to no other");
  if (hasThird)
    SOL_NN_TRY(readMatrix(in, three, result.experts, outer, result.width, bits,
                          block, result.third));
  for (size_t i = 14; quantized && i < in.size(); ++i)
    if (operandAt(in, i))
      return invalid("operand ", i, " is not supported");
  SOL_NN_TRY(result.routing.read(call, in[1], result.tokens, result.experts,
                                 quantized));
  return result;
}

template <bool quantized>
absl::Status infer(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(describe(call, in, quantized).status());
  return setOutput(out, 0, in[0].type, in[0].dims);
}

class Runner {
public:
  Runner(const MixtureCall &call, KernelContext &context)
      : m(call), context(context) {}

  absl::Status run(const Tensor &input, const Tensor &logits, Tensor &out) {
    int64_t tokens = m.tokens, chosen = m.routing.count;
    int64_t outer = m.first.outputs;
    ScratchLayout layout;
    size_t picks = layout.add<Routing::Pick>(tokens * chosen);
    size_t routeRow = layout.add<float>(m.experts);
    size_t members = layout.add<int64_t>(tokens);
    size_t rowsAt = layout.add<float>(tokens * m.width);
    size_t hiddenAt = layout.add<float>(tokens * outer);
    size_t linearAt = layout.add<float>(m.third.weights ? tokens * outer : 0);
    size_t innerAt = layout.add<float>(tokens * m.inner);
    size_t partsAt = layout.add<float>(tokens * chosen * m.width);
    int threads = context.threadCount();
    size_t workspaceAt = layout.add<float>(
        std::max(productWorkspace(threads, 1, outer, m.width),
                 productWorkspace(threads, 1, m.width, m.inner)));
    SOL_NN_TRY(layout.take(context));
    workspace = layout.at<float>(workspaceAt);
    auto *pick = layout.at<Routing::Pick>(picks);
    for (int64_t t = 0; t < tokens; ++t)
      m.routing.choose(logits, t, layout.at<float>(routeRow),
                       pick + t * chosen);
    auto *member = layout.at<int64_t>(members);
    float *rows = layout.at<float>(rowsAt),
          *hidden = layout.at<float>(hiddenAt),
          *linear = layout.at<float>(linearAt),
          *inner = layout.at<float>(innerAt),
          *parts = layout.at<float>(partsAt);
    for (int64_t e = 0; e < m.experts; ++e) {
      int64_t count = 0;
      for (int64_t n = 0; n < tokens * chosen; ++n)
        if (pick[n].expert == e)
          member[count++] = n;
      if (count == 0)
        continue;
      for (int64_t r = 0; r < count; ++r)
        loadRow(input, member[r] / chosen * m.width, m.width,
                rows + r * m.width);
      multiply(m.first, e, rows, count, hidden);
      if (m.third.weights)
        multiply(m.third, e, rows, count, linear);
      for (int64_t r = 0; r < count; ++r)
        activate(hidden + r * outer, linear + r * outer, inner + r * m.inner);
      multiplyInto(m.second, e, inner, count,
                   [&](int64_t r) { return parts + member[r] * m.width; });
    }
    return combine(pick, parts, rows, out);
  }

private:
  void multiply(const ExpertMatrix &matrix, int64_t e, const float *rows,
                int64_t count, float *results) {
    multiplyInto(matrix, e, rows, count,
                 [&](int64_t r) { return results + r * matrix.outputs; });
  }
  void multiplyInto(const ExpertMatrix &matrix, int64_t e, const float *rows,
                    int64_t count,
                    absl::FunctionRef<float *(int64_t row)> target) {
    auto left = [&](int64_t) { return rows; };
    auto fill = [&](int64_t, int64_t column, int64_t width, float *panel) {
      matrix.fill(e, column, width, panel);
    };
    auto store = [&](int64_t, int64_t row, int64_t column, int64_t width,
                     const float *sums) {
      float bias[panelWidth] = {};
      if (matrix.bias)
        loadRow(*matrix.bias, e * matrix.outputs + column, width, bias);
      for (int64_t i = 0; i < width; ++i)
        target(row)[column + i] = sums[i] + bias[i];
    };
    runPanelProduct<float>(
        context, {1, count, matrix.outputs, matrix.inputs, left, fill, store},
        workspace);
  }
  void activate(const float *hidden, const float *linear, float *inner) const {
    for (int64_t i = 0; i < m.inner; ++i) {
      if (!m.gated) {
        inner[i] = m.activation.apply(hidden[i]);
        continue;
      }
      float gate = m.fusion == 1 ? hidden[2 * i] : hidden[i];
      float up = m.fusion == 0   ? linear[i]
                 : m.fusion == 1 ? hidden[2 * i + 1]
                                 : hidden[m.inner + i];
      gate = gate > m.limit ? m.limit : gate;
      up = up > m.limit ? m.limit : up < -m.limit ? -m.limit : up;
      inner[i] = swish(gate, m.alpha) * (up + m.beta);
    }
  }
  absl::Status combine(const Routing::Pick *pick, const float *parts,
                       float *row, Tensor &out) {
    for (int64_t t = 0; t < m.tokens; ++t) {
      std::fill_n(row, m.width, 0.0f);
      for (int64_t n = 0; n < m.routing.count; ++n) {
        int64_t place = t * m.routing.count + n;
        bool routed = pick[place].expert >= 0;
        for (int64_t i = 0; i < m.width; ++i)
          row[i] += routed ? pick[place].weight * parts[place * m.width + i]
                           : std::numeric_limits<float>::quiet_NaN();
      }
      storeRow(row, m.width, out, t * m.width);
    }
    return absl::OkStatus();
  }

  const MixtureCall &m;
  KernelContext &context;
  float *workspace = nullptr;
};

template <bool quantized>
absl::Status run(const KernelCall &call, KernelContext &context, Inputs in,
                 Outputs out) {
  SOL_NN_ASSIGN(MixtureCall mixture, describe(call, in, quantized));
  return Runner(mixture, context).run(in[0], in[1], out[0]);
}

} // namespace

void registerExpertMixtureKernels() {
  registerKernel({"onnx.microsoft.MoE", nullptr, infer<false>, run<false>});
  registerKernel({"onnx.microsoft.QMoE", nullptr, infer<true>, run<true>});
}

} // namespace sol::nn
