//===- skip_norm.cpp - norms of a sum, as ONNX Runtime fuses them ---------===//
//
// SkipLayerNormalization, SkipSimplifiedLayerNormalization and
// EmbedLayerNormalization. Sums and statistics in float32.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/normalization/families.h"
#include "runtime/cpu/nn_ops/normalization/norm_row.h"
#include "runtime/cpu/nn_ops/normalization/rows.h"

namespace sol::nn {
namespace {

struct SkipCall {
  int64_t rows = 0, width = 0, skipRows = 0;
  float epsilon = 0;
  bool isRms = false;
  const Tensor *beta = nullptr, *bias = nullptr;
};

absl::StatusOr<SkipCall> describe(const KernelCall &call, Inputs in,
                                  bool isRms) {
  SkipCall skip;
  skip.isRms = isRms;
  SOL_NN_TRY(checkCount(in, 3, isRms ? 4 : 5));
  SOL_NN_TRY(checkType(in[0], "input", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(checkRank(in[0], "input", 2, 3));
  const Dims &dims = in[0].dims;
  skip.width = dims.back();
  skip.rows = product(dims, 0, dims.size() - 1);
  SOL_NN_TRY(checkSameType(in[1], "skip", in[0].type));
  // The skip may lack the batch axis or have size 1 there.
  SOL_NN_TRY(broadcastSteps(in[1].dims, dims, "skip").status());
  if (in[1].rank() < 2 || in[1].dims.back() != skip.width ||
      in[1].dims[in[1].rank() - 2] != dims[dims.size() - 2])
    return invalid("operand `skip` has shape ", dimsToString(in[1].dims),
                   ", must end as the input's ", dimsToString(dims));
  skip.skipRows = product(in[1].dims, 0, in[1].dims.size() - 1);
  skip.beta = isRms ? nullptr : operandAt(in, 3);
  skip.bias = operandAt(in, isRms ? 3 : 4);
  for (const Tensor *vector : {&in[2], skip.beta, skip.bias})
    if (vector) {
      SOL_NN_TRY(checkSameType(*vector, "gamma, beta or bias", in[0].type));
      SOL_NN_TRY(checkDims(*vector, "gamma, beta or bias", {skip.width}));
    }
  SOL_NN_ASSIGN(skip.epsilon, call.attributes.real("epsilon", 1e-12f));
  return skip;
}

absl::Status inferSkip(const KernelCall &call, Inputs in, Outputs out,
                       bool isRms) {
  SOL_NN_TRY(describe(call, in, isRms).status());
  SOL_NN_TRY(setOutput(out, 0, in[0].type, in[0].dims));
  Dims reduced = in[0].dims;
  reduced.back() = 1;
  SOL_NN_TRY(setOutput(out, 1, DType::F32, reduced));
  SOL_NN_TRY(setOutput(out, 2, DType::F32, reduced));
  return setOutput(out, 3, in[0].type, in[0].dims);
}

absl::Status runSkip(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out, bool isRms) {
  SOL_NN_ASSIGN(SkipCall skip, describe(call, in, isRms));
  int64_t width = skip.width;
  float *gamma = nullptr, *beta = nullptr, *bias = nullptr;
  auto setup = [&](float *shared) {
    gamma = shared;
    loadRow(in[2], 0, width, gamma);
    if (skip.beta)
      loadRow(*skip.beta, 0, width, beta = shared + width);
    if (skip.bias)
      loadRow(*skip.bias, 0, width, bias = shared + 2 * width);
  };
  auto body = [&](int64_t row, float *own) {
    float *added = own + width;
    loadRow(in[0], row * width, width, own);
    loadRow(in[1], row % skip.skipRows * width, width, added);
    for (int64_t i = 0; i < width; ++i)
      own[i] += added[i];
    for (int64_t i = 0; bias && i < width; ++i)
      own[i] += bias[i];
    if (Tensor *sum = outputAt(out, 3))
      storeRow(own, width, *sum, row * width);
    RowMoments<float> moments = isRms
                                    ? rmsNormalizeRow(own, width, skip.epsilon)
                                    : standardizeRow(own, width, skip.epsilon);
    if (Tensor *mean = outputAt(out, 1))
      storeRow(&moments.mean, 1, *mean, row);
    if (Tensor *inverse = outputAt(out, 2))
      storeRow(&moments.inverseDeviation, 1, *inverse, row);
    scaleRow(DType::F32, own, width, gamma, beta);
    storeRow(own, width, out[0], row * width);
  };
  return forRows<float>(context, skip.rows, 2 * width, 3 * width, setup, body);
}

absl::Status inferSkipLayerNorm(const KernelCall &call, Inputs in,
                                Outputs out) {
  return inferSkip(call, in, out, false);
}
absl::Status runSkipLayerNorm(const KernelCall &call, KernelContext &context,
                              Inputs in, Outputs out) {
  return runSkip(call, context, in, out, false);
}
absl::Status inferSkipRmsNorm(const KernelCall &call, Inputs in, Outputs out) {
  return inferSkip(call, in, out, true);
}
absl::Status runSkipRmsNorm(const KernelCall &call, KernelContext &context,
                            Inputs in, Outputs out) {
  return runSkip(call, context, in, out, true);
}

//===----------------------------------------------------------------------===//
// EmbedLayerNormalization
//===----------------------------------------------------------------------===//

struct EmbedCall {
  int64_t batch = 0, length = 0, width = 0;
  const Tensor *segments = nullptr, *segmentTable = nullptr, *mask = nullptr,
               *positions = nullptr;
  float epsilon = 0;
};

absl::StatusOr<EmbedCall> describeEmbed(const KernelCall &call, Inputs in) {
  EmbedCall embed;
  SOL_NN_TRY(checkCount(in, 7, 9, 1u << 1 | 1u << 4));
  SOL_NN_TRY(checkSameType(in[0], "input_ids", DType::I32));
  SOL_NN_TRY(checkRank(in[0], "input_ids", 2, 2));
  SOL_NN_TRY(checkType(in[2], "word_embedding", {DType::F32, DType::F16}));
  SOL_NN_TRY(checkRank(in[2], "word_embedding", 2, 2));
  embed.batch = in[0].dims[0];
  embed.length = in[0].dims[1];
  embed.width = in[2].dims[1];
  embed.segments = operandAt(in, 1);
  embed.segmentTable = operandAt(in, 4);
  if (!embed.segments != !embed.segmentTable)
    return invalid("operands `segment_ids` and `segment_embedding` must be "
                   "given together");
  embed.mask = operandAt(in, 7);
  embed.positions = operandAt(in, 8);
  for (const Tensor *table : {&in[3], embed.segmentTable})
    if (table) {
      SOL_NN_TRY(checkSameType(*table, "embedding table", in[2].type));
      SOL_NN_TRY(checkDims(*table, "embedding table",
                           {table->rank() ? table->dims[0] : 0, embed.width}));
    }
  for (size_t i : {5, 6}) {
    SOL_NN_TRY(checkSameType(in[i], "gamma or beta", in[2].type));
    SOL_NN_TRY(checkDims(in[i], "gamma or beta", {embed.width}));
  }
  for (const Tensor *ids : {embed.segments, embed.mask})
    if (ids) {
      SOL_NN_TRY(checkSameType(*ids, "segment_ids or mask", DType::I32));
      SOL_NN_TRY(checkDims(*ids, "segment_ids or mask", in[0].dims));
    }
  if (embed.positions) {
    SOL_NN_TRY(checkSameType(*embed.positions, "position_ids", DType::I32));
    if (embed.positions->dims != Dims{1, embed.length})
      SOL_NN_TRY(checkDims(*embed.positions, "position_ids", in[0].dims));
  }
  SOL_NN_ASSIGN(embed.epsilon, call.attributes.real("epsilon", 1e-12f));
  return embed;
}

absl::Status inferEmbed(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(EmbedCall embed, describeEmbed(call, in));
  Dims dims = {embed.batch, embed.length, embed.width};
  SOL_NN_TRY(setOutput(out, 0, in[2].type, dims));
  SOL_NN_TRY(setOutput(out, 1, DType::I32, {embed.batch}));
  return setOutput(out, 2, in[2].type, dims);
}

absl::Status checkIndices(const int32_t *ids, int64_t count,
                          const Tensor &table, std::string_view name) {
  for (int64_t i = 0; i < count; ++i)
    if (ids[i] < 0 || ids[i] >= table.dims[0])
      return outOfRange("operand `", name, "` holds ", ids[i],
                        ", the table has ", table.dims[0], " rows");
  return absl::OkStatus();
}

absl::Status runEmbed(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out) {
  SOL_NN_ASSIGN(EmbedCall embed, describeEmbed(call, in));
  int64_t rows = embed.batch * embed.length, width = embed.width;
  const int32_t *ids = in[0].as<int32_t>();
  const int32_t *segments =
      embed.segments ? embed.segments->as<int32_t>() : nullptr;
  const int32_t *positions =
      embed.positions ? embed.positions->as<int32_t>() : nullptr;
  SOL_NN_TRY(checkIndices(ids, rows, in[2], "input_ids"));
  if (segments)
    SOL_NN_TRY(
        checkIndices(segments, rows, *embed.segmentTable, "segment_ids"));
  int64_t positionCount = positions ? embed.positions->size() : 0;
  if (positions)
    SOL_NN_TRY(checkIndices(positions, positionCount, in[3], "position_ids"));
  else if (rows > 0 && embed.length > in[3].dims[0])
    return outOfRange("the sequence has ", embed.length,
                      " positions, the position table ", in[3].dims[0]);
  if (Tensor *maskIndex = outputAt(out, 1))
    for (int64_t b = 0; b < embed.batch; ++b) {
      int32_t kept = 0;
      for (int64_t i = 0; embed.mask && i < embed.length; ++i)
        kept += embed.mask->as<int32_t>()[b * embed.length + i] == 1;
      maskIndex->as<int32_t>()[b] = kept;
    }
  float *shared = nullptr;
  auto setup = [&](float *buffer) {
    shared = buffer;
    loadRow(in[5], 0, width, shared);
    loadRow(in[6], 0, width, shared + width);
  };
  auto body = [&](int64_t row, float *own) {
    float *added = own + width;
    loadRow(in[2], ids[row] * width, width, own);
    int64_t position =
        positions ? positions[row % positionCount] : row % embed.length;
    loadRow(in[3], position * width, width, added);
    for (int64_t i = 0; i < width; ++i)
      own[i] += added[i];
    if (segments) {
      loadRow(*embed.segmentTable, segments[row] * width, width, added);
      for (int64_t i = 0; i < width; ++i)
        own[i] += added[i];
    }
    if (Tensor *sum = outputAt(out, 2))
      storeRow(own, width, *sum, row * width);
    standardizeRow(own, width, embed.epsilon);
    scaleRow(DType::F32, own, width, shared, shared + width);
    storeRow(own, width, out[0], row * width);
  };
  return forRows<float>(context, rows, 2 * width, 2 * width, setup, body);
}

} // namespace

void registerSkipNormKernels() {
  registerKernel({"onnx.microsoft.SkipLayerNormalization", nullptr,
                  inferSkipLayerNorm, runSkipLayerNorm});
  registerKernel({"onnx.microsoft.SkipSimplifiedLayerNormalization", nullptr,
                  inferSkipRmsNorm, runSkipRmsNorm});
  registerKernel({"onnx.microsoft.EmbedLayerNormalization", nullptr, inferEmbed,
                  runEmbed});
}

} // namespace sol::nn
