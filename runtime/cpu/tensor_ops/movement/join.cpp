//===- join.cpp - Concat and Split ----------------------------------------===//
#include "runtime/cpu/tensor_ops/movement/movement.h"

#include <cstring>

namespace sol::ops {

namespace {
absl::Status inferConcat(const KernelCall &call, Inputs inputs,
                         Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, inputs.size()));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  Dims dims = inputs[0].dims;
  for (size_t k = 1; k < inputs.size(); ++k) {
    SOL_NN_TRY(nn::checkSameType(inputs[k], absl::StrCat("input ", k),
                                 inputs[0].type));
    Dims expected = inputs[k].dims;
    if (expected.size() == dims.size())
      expected[axis] = dims[axis];
    if (expected != dims)
      return invalid("input ", k, " has shape ", dimsToString(inputs[k].dims),
                     ", input 0 ", dimsToString(inputs[0].dims),
                     "; they may differ only along axis ", axis);
    if (__builtin_add_overflow(dims[axis], inputs[k].dims[axis], &dims[axis]))
      return invalid("the joined size of axis ", axis, " exceeds int64");
  }
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

/// One of the tensors and the bytes that one outer index of it has.
struct Part {
  char *data;
  int64_t bytes;
};

/// Copies between `whole`, rows of `rowBytes`, and parts of each row.
void copyParts(KernelContext &context, char *whole, int64_t rowBytes,
               absl::Span<const Part> parts, int64_t rows, bool joining) {
  int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, rowBytes));
  context.parallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      char *at = whole + row * rowBytes;
      for (const Part &part : parts) {
        char *piece = part.data + row * part.bytes;
        if (part.bytes > 0)
          std::memcpy(joining ? at : piece, joining ? piece : at, part.bytes);
        at += part.bytes;
      }
    }
  });
}

template <typename Tensors>
absl::InlinedVector<Part, 8> partsOf(const Tensors &tensors, int64_t axis) {
  absl::InlinedVector<Part, 8> parts;
  for (const Tensor &tensor : tensors)
    parts.push_back({static_cast<char *>(tensor.data),
                     wordBytes(tensor.type) *
                         nn::product(tensor.dims, axis, tensor.dims.size())});
  return parts;
}

absl::Status runConcat(const KernelCall &call, KernelContext &context,
                       Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    const Dims &dims = out[0].dims;
    copyParts(context, out[0].as<char>(),
              wordBytes(out[0].type) * nn::product(dims, axis, dims.size()),
              partsOf(in, axis), nn::product(dims, 0, axis), true);
    return absl::OkStatus();
  });
}

/// Sizes of the parts along the axis.
absl::StatusOr<Dims> splitSizes(const KernelCall &call, Inputs inputs,
                                size_t parts, int64_t size) {
  Dims sizes;
  if (const Tensor *operand = nn::operandAt(inputs, 1)) {
    SOL_NN_ASSIGN(sizes, readIntegers(*operand, "split"));
    int64_t total = 0;
    for (int64_t part : sizes)
      if (part < 0 || part > size - total)
        return invalid("operand `split` ", dimsToString(sizes),
                       " does not add up to the axis's size ", size);
      else
        total += part;
    if (total != size || sizes.size() != parts)
      return invalid("operand `split` ", dimsToString(sizes), " has ",
                     sizes.size(), " parts that add up to ", total,
                     "; expected ", parts, " that add up to ", size);
    return sizes;
  }
  SOL_NN_ASSIGN(int64_t count, call.attributes.integer("num_outputs", parts));
  if (count < 1 || count != static_cast<int64_t>(parts))
    return invalid("attribute `num_outputs` is ", count, ", the node has ",
                   parts, " outputs");
  int64_t each = (size + count - 1) / count, rest = size;
  for (int64_t i = 0; i < count; ++i, rest -= sizes.back())
    sizes.push_back(std::min(each, rest));
  return sizes;
}

absl::Status inferSplit(const KernelCall &call, Inputs inputs,
                        Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 2));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  Dims dims = inputs[0].dims;
  // Trailing outputs that the model leaves out still count.
  SOL_NN_ASSIGN(int64_t named,
                call.attributes.integer("num_outputs", outputs.size()));
  size_t parts = outputs.size();
  if (nn::operandAt(inputs, 1))
    parts = std::max<size_t>(parts, inputs[1].size());
  else if (named > static_cast<int64_t>(parts))
    parts = named;
  SOL_NN_ASSIGN(Dims sizes, splitSizes(call, inputs, parts, dims[axis]));
  for (size_t k = 0; k < outputs.size(); ++k) {
    dims[axis] = sizes[k];
    if (outputs[k].present())
      SOL_NN_TRY(nn::setOutput(outputs, k, inputs[0].type, dims));
  }
  return absl::OkStatus();
}

absl::Status runSplit(const KernelCall &call, KernelContext &context,
                      Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  SOL_NN_ASSIGN(int64_t named,
                call.attributes.integer("num_outputs", outputs.size()));
  size_t parts = std::max<int64_t>(named, outputs.size());
  if (nn::operandAt(inputs, 1))
    parts = inputs[1].size();
  SOL_NN_ASSIGN(Dims sizes,
                splitSizes(call, inputs, parts, inputs[0].dims[axis]));
  return onWholeWords(
      context, inputs.subspan(0, 1), outputs, [&](Inputs in, Outputs out) {
        const Dims &dims = in[0].dims;
        int64_t bytes =
            wordBytes(in[0].type) * nn::product(dims, axis + 1, dims.size());
        int64_t rowBytes = bytes * dims[axis],
                rows = nn::product(dims, 0, axis);
        char *at = static_cast<char *>(in[0].data);
        for (size_t k = 0; k < out.size(); at += sizes[k] * bytes, ++k)
          if (out[k].present())
            copyParts(context, at, rowBytes,
                      {Part{out[k].template as<char>(), sizes[k] * bytes}},
                      rows, false);
        return absl::OkStatus();
      });
}
} // namespace

void registerJoinKernels() {
  registerKernel(
      {.name = "onnx.Concat", .infer = inferConcat, .run = runConcat});
  registerKernel({.name = "onnx.Split", .infer = inferSplit, .run = runSplit});
}

} // namespace sol::ops
