//===- scatter.cpp - ScatterElements, ScatterND, TensorScatter ------------===//
//
// The output begins as a copy of the data (or is the data, in place), and
// updates are applied one after the other, as the specification's loops do.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor_ops/elements.h"
#include "runtime/cpu/tensor_ops/indexing/indexing.h"

#include <cstring>

namespace sol::ops {

namespace {
enum class Reduction { None, Add, Mul, Max, Min };

absl::StatusOr<Reduction> reductionOf(const KernelCall &call) {
  SOL_NN_ASSIGN(std::string name, call.attributes.text("reduction", "none"));
  if (name == "none")
    return Reduction::None;
  if (name == "add")
    return Reduction::Add;
  if (name == "mul")
    return Reduction::Mul;
  if (name == "max")
    return Reduction::Max;
  if (name == "min")
    return Reduction::Min;
  return invalid("attribute `reduction` is `", name,
                 "`, expected `none`, `add`, `mul`, `max` or `min`");
}

template <typename C> C reduced(Reduction reduction, C a, C b) {
  switch (reduction) {
  case Reduction::None:
    return b;
  case Reduction::Add:
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(uint64_t(a) + uint64_t(b));
    else
      return a + b;
  case Reduction::Mul:
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(uint64_t(a) * uint64_t(b));
    else
      return a * b;
  case Reduction::Max:
    return a > b || a != a ? a : b;
  case Reduction::Min:
    return a < b || a != a ? a : b;
  }
  return b;
}

void copyData(const Tensor &data, Tensor &output) {
  if (output.bytes() > 0 && output.data != data.data)
    std::memcpy(output.data, data.data, output.bytes());
}

/// target[at + i] = reduced(target[at + i], source[from + i]).
void reduceRun(Reduction reduction, const Tensor &source, int64_t from,
               Tensor &target, int64_t at, int64_t count) {
  withArithmetic(target.type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    C a[64], b[64];
    for (int64_t i = 0; i < count; i += 64) {
      int64_t n = std::min<int64_t>(64, count - i);
      loadElements(target.type, target.data, at + i, n, a);
      loadElements(source.type, source.data, from + i, n, b);
      for (int64_t j = 0; j < n; ++j)
        a[j] = reduced(reduction, a[j], b[j]);
      storeElements(target.type, a, n, target.data, at + i);
    }
  });
}

absl::Status inferScatterElements(const KernelCall &call, Inputs inputs,
                                  Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 3, 3));
  SOL_NN_TRY(reductionOf(call).status());
  SOL_NN_TRY(checkIndexType(inputs[1], "indices"));
  SOL_NN_TRY(nn::checkSameType(inputs[2], "updates", inputs[0].type));
  SOL_NN_TRY(nn::checkDims(inputs[2], "updates", inputs[1].dims));
  SOL_NN_TRY(checkElementwiseIndices(call, inputs[0], inputs[1]));
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

absl::Status runScatterElements(const KernelCall &call, KernelContext &context,
                                Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(Reduction reduction, reductionOf(call));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  const Tensor &indices = inputs[1];
  int64_t size = inputs[0].dims[axis];
  SOL_NN_TRY(checkIndices(indices, axis, size));
  Dims steps = denseSteps(inputs[0].dims);
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    copyData(in[0], out[0]);
    const Dims &dims = indices.dims;
    for (int64_t i = 0, n = indices.size(); i < n; ++i) {
      int64_t rest = i, at = 0;
      for (size_t k = dims.size(); k-- > 0; rest /= dims[k])
        at += steps[k] * (static_cast<int64_t>(k) == axis
                              ? frontIndexAt(indices, i, size)
                              : rest % dims[k]);
      int64_t bytes = wordBytes(out[0].type);
      if (reduction == Reduction::None)
        std::memcpy(out[0].as<char>() + at * bytes,
                    in[2].as<char>() + i * bytes, bytes);
      else
        reduceRun(reduction, in[2], i, out[0], at, 1);
    }
    return absl::OkStatus();
  });
}

absl::Status inferScatterND(const KernelCall &call, Inputs inputs,
                            Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 3, 3));
  SOL_NN_TRY(reductionOf(call).status());
  SOL_NN_TRY(checkIndexType(inputs[1], "indices"));
  SOL_NN_TRY(nn::checkRank(inputs[1], "indices", 1, 64));
  SOL_NN_TRY(nn::checkSameType(inputs[2], "updates", inputs[0].type));
  const Dims &data = inputs[0].dims, &index = inputs[1].dims;
  int64_t width = index.back();
  if (width > inputs[0].rank())
    return invalid("indices of shape ", dimsToString(index),
                   " name more axes than data of shape ", dimsToString(data),
                   " has");
  Dims updates(index.begin(), index.end() - 1);
  updates.insert(updates.end(), data.begin() + width, data.end());
  SOL_NN_TRY(nn::checkDims(inputs[2], "updates", updates));
  return nn::setOutput(outputs, 0, inputs[0].type, data);
}

absl::Status runScatterND(const KernelCall &call, KernelContext &context,
                          Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(Reduction reduction, reductionOf(call));
  const Tensor &indices = inputs[1];
  SOL_NN_TRY(checkIndexTuples(indices, inputs[0].dims, 0));
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    copyData(in[0], out[0]);
    const Dims &dims = in[0].dims;
    int64_t width = indices.dims.back(), bytes = wordBytes(out[0].type);
    int64_t run = nn::product(dims, width, dims.size());
    int64_t rows = nn::product(indices.dims, 0, indices.dims.size() - 1);
    for (int64_t row = 0; row < rows && run > 0; ++row) {
      int64_t at = tupleOffset(indices, row, dims, 0);
      if (reduction == Reduction::None)
        std::memcpy(out[0].as<char>() + at * bytes,
                    in[2].as<char>() + row * run * bytes, run * bytes);
      else
        reduceRun(reduction, in[2], row * run, out[0], at, run);
    }
    return absl::OkStatus();
  });
}

absl::Status inferTensorScatter(const KernelCall &call, Inputs inputs,
                                Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 3));
  SOL_NN_ASSIGN(std::string mode, call.attributes.text("mode", "linear"));
  if (mode != "linear" && mode != "circular")
    return invalid("attribute `mode` is `", mode,
                   "`, expected `linear` or `circular`");
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -2));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  if (axis == 0)
    return invalid("attribute `axis` names the batch axis 0");
  SOL_NN_TRY(nn::checkSameType(inputs[1], "update", inputs[0].type));
  Dims wanted = inputs[0].dims;
  if (inputs[1].rank() == inputs[0].rank())
    wanted[axis] = inputs[1].dims[axis];
  SOL_NN_TRY(nn::checkDims(inputs[1], "update", wanted));
  if (wanted[axis] > inputs[0].dims[axis])
    return invalid("operand `update` has ", wanted[axis],
                   " positions, the cache ", inputs[0].dims[axis]);
  if (const Tensor *indices = nn::operandAt(inputs, 2)) {
    SOL_NN_TRY(checkIndexType(*indices, "write_indices"));
    SOL_NN_TRY(nn::checkDims(*indices, "write_indices", {inputs[0].dims[0]}));
  }
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

absl::Status runTensorScatter(const KernelCall &call, KernelContext &context,
                              Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -2));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  SOL_NN_ASSIGN(std::string mode, call.attributes.text("mode", "linear"));
  bool circular = mode == "circular";
  const Tensor *indices = nn::operandAt(inputs, 2);
  int64_t room = inputs[0].dims[axis], length = inputs[1].dims[axis];
  for (int64_t b = 0; indices && !circular && b < indices->size(); ++b) {
    int64_t first = indexAt(*indices, b);
    if (first < 0 || first > room - length)
      return absl::OutOfRangeError(
          absl::StrCat("write index ", first, " of row ", b, " with ", length,
                       " positions is out of range for axis ", axis,
                       " of size ", room, ", expected 0 to ", room - length));
  }
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    copyData(in[0], out[0]);
    const Dims &dims = in[0].dims;
    int64_t bytes =
        wordBytes(out[0].type) * nn::product(dims, axis + 1, dims.size());
    int64_t outer = nn::product(dims, 0, axis);
    int64_t perRow = nn::product(dims, 1, axis);
    for (int64_t o = 0; o < outer && bytes > 0; ++o) {
      int64_t first = indices ? indexAt(*indices, o / perRow) : 0;
      if (circular && room > 0)
        first = (first % room + room) % room;
      for (int64_t s = 0; s < length; ++s)
        std::memcpy(out[0].as<char>() + (o * room + (first + s) % room) * bytes,
                    in[1].as<char>() + (o * length + s) * bytes, bytes);
    }
    return absl::OkStatus();
  });
}
} // namespace

void registerScatterKernels() {
  registerKernel({.name = "onnx.ScatterElements",
                  .infer = inferScatterElements,
                  .run = runScatterElements,
                  .inPlace = 0});
  registerKernel({.name = "onnx.ScatterND",
                  .infer = inferScatterND,
                  .run = runScatterND,
                  .inPlace = 0});
  registerKernel({.name = "onnx.TensorScatter",
                  .infer = inferTensorScatter,
                  .run = runTensorScatter,
                  .inPlace = 0});
}

} // namespace sol::ops
