//===- rotary.cpp - RotaryEmbedding of both domains -----------------------===//
//
// Rotation in float32 (float64 for float64), rounded once. Positions out of the
// table are errors.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/attention/rotary.h"
#include "runtime/cpu/nn_ops/attention/families.h"
#include "runtime/cpu/nn_ops/attention/head_view.h"
#include "runtime/cpu/nn_ops/normalization/rows.h"

namespace sol::nn {
namespace {

struct RotaryCall {
  HeadView heads;
  int64_t batch = 0;
  RotaryTable table;
  const Tensor *positions = nullptr;
  bool countFromPosition = false; ///< one position, the first token's
  bool perToken = false;          ///< tables of [batch or 1, length, half]

  /// Row of the table for one token, or -1 if there is none.
  int64_t tableRow(int64_t b, int64_t i) const {
    int64_t rows = table.cosines->dims[0];
    if (perToken)
      return (rows == 1 ? 0 : b) * heads.length + i;
    const int64_t *ids = positions->as<int64_t>();
    int64_t row = countFromPosition ? ids[0] : ids[b * heads.length + i];
    if (row < 0 || row >= rows)
      return -1;
    row += countFromPosition ? i : 0;
    return row < rows ? row : -1;
  }
};

absl::Status readTable(const KernelCall &call, const Tensor &cosines,
                       const Tensor &sines, const Tensor &input,
                       RotaryCall &result) {
  SOL_NN_TRY(checkSameType(cosines, "cos_cache", input.type));
  SOL_NN_TRY(checkSameType(sines, "sin_cache", input.type));
  SOL_NN_TRY(checkDims(sines, "sin_cache", cosines.dims));
  SOL_NN_ASSIGN(int64_t interleaved, call.attributes.integer("interleaved", 0));
  result.table = {&cosines, &sines, cosines.dims.back(), interleaved != 0};
  return absl::OkStatus();
}

/// The heads of a rank-3 or rank-4 input; `size` 0 means width / heads.
absl::Status readHeads(const Tensor &input, int64_t count, int64_t size,
                       RotaryCall &result) {
  result.batch = input.dims[0];
  if (input.rank() == 4) {
    result.heads = HeadView::split(input);
    return absl::OkStatus();
  }
  int64_t width = input.dims[2];
  if (size == 0 && count > 0)
    size = width / count;
  if (size <= 0 || width % size || (count > 0 && width / size != count))
    return invalid("operand `X` of shape ", dimsToString(input.dims),
                   " does not divide into ", count, " heads of size ", size,
                   " (attribute `num_heads`)");
  result.heads = HeadView::joined(input, width / size, size);
  return absl::OkStatus();
}

absl::Status checkPart(const RotaryCall &result, int64_t part) {
  if (part < 0 || part > result.heads.size || part % 2 ||
      result.table.half * 2 != (part ? part : result.heads.size))
    return invalid("the tables hold ", result.table.half,
                   " angles a row, the head size is ", result.heads.size,
                   " and attribute `rotary_embedding_dim` ", part,
                   ": angles must be half of what is rotated");
  return absl::OkStatus();
}

absl::StatusOr<RotaryCall> describeOnnx(const KernelCall &call, Inputs in) {
  RotaryCall result;
  SOL_NN_TRY(checkCount(in, 3, 4));
  SOL_NN_TRY(checkFloat(in[0], "X"));
  SOL_NN_TRY(checkRank(in[0], "X", 3, 4));
  result.positions = operandAt(in, 3);
  int rank = result.positions ? 2 : 3;
  SOL_NN_TRY(checkRank(in[1], "cos_cache", rank, rank));
  SOL_NN_TRY(readTable(call, in[1], in[2], in[0], result));
  SOL_NN_ASSIGN(int64_t count, call.attributes.integer("num_heads", 0));
  SOL_NN_ASSIGN(int64_t part,
                call.attributes.integer("rotary_embedding_dim", 0));
  if (in[0].rank() == 3 && count <= 0)
    return invalid("attribute `num_heads` is ", count,
                   ", must be positive with an operand of rank 3");
  SOL_NN_TRY(readHeads(in[0], count, 0, result));
  SOL_NN_TRY(checkPart(result, part));
  if (result.positions) {
    SOL_NN_TRY(checkSameType(*result.positions, "position_ids", DType::I64));
    SOL_NN_TRY(checkDims(*result.positions, "position_ids",
                         {result.batch, result.heads.length}));
    return result;
  }
  result.perToken = true;
  if ((in[1].dims[0] != 1 && in[1].dims[0] != result.batch) ||
      in[1].dims[1] != result.heads.length)
    return invalid("operand `cos_cache` has shape ", dimsToString(in[1].dims),
                   ", must begin with [", result.batch, ", ",
                   result.heads.length, "]");
  return result;
}

absl::StatusOr<RotaryCall> describeContrib(const KernelCall &call, Inputs in) {
  RotaryCall result;
  SOL_NN_TRY(checkCount(in, 4, 4));
  SOL_NN_TRY(checkType(in[0], "input", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(checkRank(in[0], "input", 3, 4));
  SOL_NN_TRY(checkRank(in[2], "cos_cache", 2, 2));
  SOL_NN_TRY(readTable(call, in[2], in[3], in[0], result));
  SOL_NN_ASSIGN(int64_t count, call.attributes.integer("num_heads", 0));
  SOL_NN_ASSIGN(int64_t part,
                call.attributes.integer("rotary_embedding_dim", 0));
  SOL_NN_ASSIGN(int64_t packed,
                call.attributes.integer("is_packed_batching", 0));
  if (packed)
    return invalid("attribute `is_packed_batching` is ", packed,
                   ": packed batches are not supported, must be 0");
  if (part > 0 && count <= 0 && in[0].rank() == 3)
    return invalid("attribute `num_heads` is ", count,
                   ", must be positive with `rotary_embedding_dim` ", part);
  // Without a part, the tables say how wide a head is.
  SOL_NN_TRY(readHeads(in[0], part > 0 ? count : 0,
                       part > 0 ? 0 : 2 * result.table.half, result));
  SOL_NN_TRY(checkPart(result, part));
  SOL_NN_TRY(checkSameType(in[1], "position_ids", DType::I64));
  result.positions = &in[1];
  result.countFromPosition = in[1].rank() < 2;
  if (result.countFromPosition)
    SOL_NN_TRY(checkElements(in[1], "position_ids", 1));
  else
    SOL_NN_TRY(
        checkDims(in[1], "position_ids", {result.batch, result.heads.length}));
  return result;
}

template <typename T>
absl::Status rotateAll(const RotaryCall &call, KernelContext &context,
                       Tensor &out) {
  const HeadView &heads = call.heads;
  int64_t perBatch = heads.heads * heads.length;
  HeadView target = heads;
  target.tensor = &out;
  return forRows<T>(
      context, call.batch * perBatch, heads.size, 0, [](T *) {},
      [&](int64_t row, T *own) {
        int64_t b = row / perBatch, h = row / heads.length % heads.heads,
                i = row % heads.length;
        heads.load(b, h, i, own);
        call.table.rotate(call.tableRow(b, i), own);
        storeRow(own, heads.size, out, target.at(b, h, i));
      });
}

absl::Status runDescribed(const RotaryCall &call, KernelContext &context,
                          Tensor &out) {
  for (int64_t b = 0; b < call.batch; ++b)
    for (int64_t i = 0; i < call.heads.length; ++i)
      if (call.tableRow(b, i) < 0) {
        const int64_t *ids = call.positions->as<int64_t>();
        int64_t position =
            call.countFromPosition ? ids[0] : ids[b * call.heads.length + i];
        return outOfRange("operand `position_ids` holds ", position,
                          " for token ", i, " of row ", b, ", the tables have ",
                          call.table.cosines->dims[0], " positions");
      }
  if (out.type == DType::F64)
    return rotateAll<double>(call, context, out);
  return rotateAll<float>(call, context, out);
}

absl::Status inferOnnx(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(describeOnnx(call, in).status());
  return setOutput(out, 0, in[0].type, in[0].dims);
}
absl::Status runOnnx(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  SOL_NN_ASSIGN(RotaryCall rotary, describeOnnx(call, in));
  return runDescribed(rotary, context, out[0]);
}
absl::Status inferContrib(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(describeContrib(call, in).status());
  return setOutput(out, 0, in[0].type, in[0].dims);
}
absl::Status runContrib(const KernelCall &call, KernelContext &context,
                        Inputs in, Outputs out) {
  SOL_NN_ASSIGN(RotaryCall rotary, describeContrib(call, in));
  return runDescribed(rotary, context, out[0]);
}

} // namespace

void registerRotaryKernels() {
  registerKernel({"onnx.RotaryEmbedding", nullptr, inferOnnx, runOnnx});
  registerKernel(
      {"onnx.microsoft.RotaryEmbedding", nullptr, inferContrib, runContrib});
}

} // namespace sol::nn
