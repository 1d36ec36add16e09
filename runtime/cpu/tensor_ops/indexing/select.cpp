//===- select.cpp - Trilu, OneHot, NonZero, Compress, ReverseSequence -----===//
#include "runtime/cpu/tensor_ops/elements.h"
#include "runtime/cpu/tensor_ops/indexing/indexing.h"

#include <algorithm>
#include <cstring>

namespace sol::ops {

namespace {
absl::Status inferTrilu(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 2));
  SOL_NN_TRY(nn::checkRank(inputs[0], "input", 2, 64));
  if (const Tensor *k = nn::operandAt(inputs, 1)) {
    SOL_NN_TRY(nn::checkSameType(*k, "k", DType::I64));
    SOL_NN_TRY(nn::checkElements(*k, "k", 1));
  }
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

absl::Status runTrilu(const KernelCall &call, KernelContext &context,
                      Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t upper, call.attributes.integer("upper", 1));
  int64_t rows = outputs[0].dims[outputs[0].rank() - 2];
  int64_t columns = outputs[0].dims.back();
  int64_t k = 0;
  if (const Tensor *operand = nn::operandAt(inputs, 1))
    k = std::clamp(*operand->as<int64_t>(), -rows - 1, columns + 1);
  return onWholeWords(
      context, inputs.subspan(0, 1), outputs, [&](Inputs in, Outputs out) {
        int64_t bytes = wordBytes(out[0].type);
        int64_t total = columns ? out[0].size() / columns : 0;
        for (int64_t row = 0; row < total; ++row) {
          // Elements kept: from the diagonal on, or up to it.
          int64_t diagonal = row % rows + k;
          int64_t first = std::clamp<int64_t>(upper ? diagonal : 0, 0, columns);
          int64_t end =
              std::clamp<int64_t>(upper ? columns : diagonal + 1, 0, columns);
          char *target = out[0].as<char>() + row * columns * bytes;
          const char *source = in[0].as<char>() + row * columns * bytes;
          if (target != source)
            std::memcpy(target + first * bytes, source + first * bytes,
                        std::max<int64_t>(0, end - first) * bytes);
          std::memset(target, 0, first * bytes);
          std::memset(target + end * bytes, 0, (columns - end) * bytes);
        }
        return absl::OkStatus();
      });
}

absl::Status inferOneHot(const KernelCall &call, Inputs inputs,
                         Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 3, 3));
  SOL_NN_TRY(nn::checkElements(inputs[1], "depth", 1));
  SOL_NN_TRY(nn::checkElements(inputs[2], "values", 2));
  if (!inputs[1].data)
    return invalid("operand `depth` must be known to infer the result's shape");
  int64_t depth;
  loadElements(inputs[1].type, inputs[1].data, 0, 1, &depth);
  if (depth < 0)
    return invalid("operand `depth` is ", depth, ", expected no less than 0");
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank() + 1));
  Dims dims = inputs[0].dims;
  dims.insert(dims.begin() + axis, depth);
  return nn::setOutput(outputs, 0, inputs[2].type, dims);
}

absl::Status runOneHot(const KernelCall &call, KernelContext &context,
                       Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, outputs[0].rank()));
  const Tensor &indices = inputs[0];
  int64_t depth = outputs[0].dims[axis];
  int64_t inner = nn::product(indices.dims, axis, indices.dims.size());
  Tensor values = inputs[2];
  return onWholeWords(
      context, {&values, 1}, outputs, [&](Inputs in, Outputs out) {
        withWord(out[0].type, [&](auto word) {
          using W = typename decltype(word)::Type;
          const W *choice = in[0].as<W>();
          W *target = out[0].as<W>();
          std::fill_n(target, out[0].size(), choice[0]);
          for (int64_t i = 0, n = indices.size(); i < n; ++i) {
            int64_t index;
            loadElements(indices.type, indices.data, i, 1, &index);
            index += index < 0 ? depth : 0;
            if (index >= 0 && index < depth)
              target[(i / inner * depth + index) * inner + i % inner] =
                  choice[1];
          }
        });
        return absl::OkStatus();
      });
}

/// Calls `body(i)` for each element that is not zero.
template <typename Body> void forEachNonZero(const Tensor &tensor, Body body) {
  double buffer[chunkSize];
  int64_t size = tensor.size();
  for (int64_t first = 0; first < size; first += chunkSize) {
    int64_t count = std::min(size - first, chunkSize);
    loadElements(tensor.type, tensor.data, first, count, buffer);
    for (int64_t i = 0; i < count; ++i)
      if (buffer[i] != 0.0)
        body(first + i);
  }
}

absl::Status needsData(const Tensor &tensor, std::string_view name) {
  if (tensor.size() > 0 && !tensor.data)
    return invalid("the elements of operand `", std::string(name),
                   "` must be known to infer the result's shape");
  return absl::OkStatus();
}

absl::Status inferNonZero(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_TRY(needsData(inputs[0], "X"));
  int64_t count = 0;
  forEachNonZero(inputs[0], [&](int64_t) { ++count; });
  return nn::setOutput(outputs, 0, DType::I64, {inputs[0].rank(), count});
}

absl::Status runNonZero(const KernelCall &, KernelContext &, Inputs inputs,
                        Outputs outputs) {
  int64_t count = outputs[0].dims[1], next = 0;
  const Dims &dims = inputs[0].dims;
  forEachNonZero(inputs[0], [&](int64_t i) {
    for (size_t axis = dims.size(); axis-- > 0; i /= dims[axis])
      outputs[0].as<int64_t>()[axis * count + next] = i % dims[axis];
    ++next;
  });
  return absl::OkStatus();
}

/// The axis of Compress, or -1 to flatten.
absl::StatusOr<int64_t> compressAxis(const KernelCall &call, int64_t rank) {
  if (!call.attributes.has("axis"))
    return -1;
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  return nn::frontAxis(axis, rank);
}

absl::Status inferCompress(const KernelCall &call, Inputs inputs,
                           Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(nn::checkSameType(inputs[1], "condition", DType::Bool));
  SOL_NN_TRY(nn::checkRank(inputs[1], "condition", 1, 1));
  SOL_NN_TRY(needsData(inputs[1], "condition"));
  SOL_NN_ASSIGN(int64_t axis, compressAxis(call, inputs[0].rank()));
  int64_t size = axis < 0 ? inputs[0].size() : inputs[0].dims[axis], count = 0;
  if (inputs[1].dims[0] > size)
    return invalid("operand `condition` has ", inputs[1].dims[0],
                   " elements, more than the ", size, " to choose from");
  forEachNonZero(inputs[1], [&](int64_t) { ++count; });
  Dims dims = inputs[0].dims;
  if (axis < 0)
    dims = {count};
  else
    dims[axis] = count;
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::Status runCompress(const KernelCall &call, KernelContext &context,
                         Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, compressAxis(call, inputs[0].rank()));
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    Dims dims = axis < 0 ? Dims{in[0].size()} : in[0].dims;
    int64_t at = std::max<int64_t>(axis, 0), next = 0;
    int64_t bytes =
        wordBytes(in[0].type) * nn::product(dims, at + 1, dims.size());
    for (int64_t o = 0, outer = nn::product(dims, 0, at); o < outer; ++o)
      forEachNonZero(in[1], [&](int64_t i) {
        std::memcpy(out[0].as<char>() + next++ * bytes,
                    in[0].as<char>() + (o * dims[at] + i) * bytes, bytes);
      });
    return absl::OkStatus();
  });
}

absl::Status inferReverseSequence(const KernelCall &call, Inputs inputs,
                                  Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(nn::checkRank(inputs[0], "input", 2, 64));
  SOL_NN_TRY(nn::checkSameType(inputs[1], "sequence_lens", DType::I64));
  SOL_NN_ASSIGN(int64_t time, call.attributes.integer("time_axis", 0));
  SOL_NN_ASSIGN(int64_t batch, call.attributes.integer("batch_axis", 1));
  if (time < 0 || time > 1 || batch != 1 - time)
    return invalid("`time_axis` is ", time, " and `batch_axis` ", batch,
                   ", expected 0 and 1 or 1 and 0");
  SOL_NN_TRY(
      nn::checkDims(inputs[1], "sequence_lens", {inputs[0].dims[batch]}));
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

absl::Status runReverseSequence(const KernelCall &call, KernelContext &context,
                                Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t time, call.attributes.integer("time_axis", 0));
  const Dims &dims = inputs[0].dims;
  int64_t steps = dims[time], rows = dims[1 - time];
  const int64_t *lengths = inputs[1].as<int64_t>();
  for (int64_t b = 0; b < rows; ++b)
    if (lengths[b] < 0 || lengths[b] > steps)
      return absl::OutOfRangeError(
          absl::StrCat("sequence length ", lengths[b], " of row ", b,
                       " is out of range for axis ", time, " of size ", steps));
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    int64_t bytes = wordBytes(in[0].type) * nn::product(dims, 2, dims.size());
    for (int64_t b = 0; b < rows; ++b)
      for (int64_t t = 0; t < steps; ++t) {
        int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
        auto place = [&](int64_t s) {
          return (time == 0 ? s * rows + b : b * steps + s) * bytes;
        };
        std::memcpy(out[0].as<char>() + place(t),
                    in[0].as<char>() + place(from), bytes);
      }
    return absl::OkStatus();
  });
}
} // namespace

void registerSelectKernels() {
  registerKernel({.name = "onnx.Trilu",
                  .infer = inferTrilu,
                  .run = runTrilu,
                  .inPlace = 0});
  registerKernel(
      {.name = "onnx.OneHot", .infer = inferOneHot, .run = runOneHot});
  registerKernel(
      {.name = "onnx.NonZero", .infer = inferNonZero, .run = runNonZero});
  registerKernel(
      {.name = "onnx.Compress", .infer = inferCompress, .run = runCompress});
  registerKernel({.name = "onnx.ReverseSequence",
                  .infer = inferReverseSequence,
                  .run = runReverseSequence});
}

} // namespace sol::ops
