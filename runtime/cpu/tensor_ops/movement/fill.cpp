//===- fill.cpp - tensors from shapes: Shape, Range, EyeLike and kin ------===//
#include "runtime/cpu/kernel_families.h"
#include "runtime/cpu/tensor_ops/elements.h"
#include "runtime/cpu/tensor_ops/movement/movement.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sol::ops {

namespace {
/// The axes [start, end) that Shape reports.
absl::StatusOr<std::pair<int64_t, int64_t>> shapeBounds(const KernelCall &call,
                                                        int64_t rank) {
  SOL_NN_ASSIGN(int64_t start, call.attributes.integer("start", 0));
  SOL_NN_ASSIGN(int64_t end, call.attributes.integer("end", rank));
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, start, rank);
  return std::pair(start, end);
}

absl::Status inferShape(const KernelCall &call, Inputs inputs,
                        Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_ASSIGN(auto bounds, shapeBounds(call, inputs[0].rank()));
  return nn::setOutput(outputs, 0, DType::I64, {bounds.second - bounds.first});
}

absl::Status runShape(const KernelCall &call, KernelContext &, Inputs inputs,
                      Outputs outputs) {
  SOL_NN_ASSIGN(auto bounds, shapeBounds(call, inputs[0].rank()));
  std::copy(inputs[0].dims.begin() + bounds.first,
            inputs[0].dims.begin() + bounds.second, outputs[0].as<int64_t>());
  return absl::OkStatus();
}

absl::Status inferSize(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  return nn::setOutput(outputs, 0, DType::I64, {});
}

absl::Status runSize(const KernelCall &, KernelContext &, Inputs inputs,
                     Outputs outputs) {
  *outputs[0].as<int64_t>() = inputs[0].size();
  return absl::OkStatus();
}

/// The value of an integer or float attribute that stands for a one-element
/// tensor (`value` of ConstantOfShape), and its type unless the plan says.
absl::Status inferConstantOfShape(const KernelCall &call, Inputs inputs,
                                  Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 2));
  SOL_NN_ASSIGN(Dims dims, readIntegers(inputs[0], "input"));
  for (int64_t dim : dims)
    if (dim < 0)
      return invalid("operand `input` ", dimsToString(dims),
                     " has a negative size");
  DType type = DType::F32;
  if (const Tensor *value = nn::operandAt(inputs, 1)) {
    SOL_NN_TRY(nn::checkElements(*value, "value", 1));
    type = value->type;
  } else if (call.attributes.has("value")) {
    // As a number: the plan's type says which one.
    type = outputs[0].present() ? outputs[0].type : DType::F32;
  }
  return nn::setOutput(outputs, 0, type, dims);
}

/// Every element of `output` becomes element 0 of `value`, of the same type.
void fillWith(KernelContext &context, const Tensor &value, Tensor &output) {
  if (bitWidth(output.type) < 8) {
    int width = bitWidth(output.type);
    uint8_t byte = 0;
    for (int shift = 0; shift < 8; shift += width)
      byte |= packedCode(value.data, 0, width) << shift;
    if (output.bytes() > 0)
      std::memset(output.data, byte, output.bytes());
    return;
  }
  StridedView view{output.dims, Dims(output.dims.size(), 0), 0};
  copyStrided(context, output.type, view, value.data, output.data);
}

absl::Status runConstantOfShape(const KernelCall &call, KernelContext &context,
                                Inputs inputs, Outputs outputs) {
  if (const Tensor *value = nn::operandAt(inputs, 1)) {
    fillWith(context, *value, outputs[0]);
    return absl::OkStatus();
  }
  uint64_t storage = 0;
  const auto &all = call.attributes.all();
  if (auto it = all.find("value"); it != all.end()) {
    if (const auto *whole = std::get_if<int64_t>(&it->second))
      storeElements(outputs[0].type, whole, 1, &storage, 0);
    else if (const auto *real = std::get_if<float>(&it->second))
      storeElements(outputs[0].type, real, 1, &storage, 0);
    else
      return invalid("attribute `value` must be an integer or a float");
  }
  Tensor value{outputs[0].type, {}, &storage};
  fillWith(context, value, outputs[0]);
  return absl::OkStatus();
}

/// Number of elements of [start, limit) by delta, or -1 if beyond int64.
absl::StatusOr<int64_t> rangeLength(Inputs inputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 3, 3));
  const char *names[] = {"start", "limit", "delta"};
  for (int k = 0; k < 3; ++k) {
    SOL_NN_TRY(nn::checkType(inputs[k], names[k],
                             {DType::F32, DType::F64, DType::I16, DType::I32,
                              DType::I64, DType::F16, DType::BF16}));
    SOL_NN_TRY(nn::checkSameType(inputs[k], names[k], inputs[0].type));
    SOL_NN_TRY(nn::checkElements(inputs[k], names[k], 1));
    if (!inputs[k].data)
      return invalid("operand `", names[k],
                     "` must be known to infer the result's shape");
  }
  if (isFloat(inputs[0].type)) {
    double v[3];
    for (int k = 0; k < 3; ++k)
      loadElements(inputs[k].type, inputs[k].data, 0, 1, &v[k]);
    double length = std::ceil((v[1] - v[0]) / v[2]);
    if (v[2] == 0.0 || !(length < 0x1p62))
      return invalid("the range from ", v[0], " to ", v[1], " by ", v[2],
                     " has no finite number of elements");
    return length > 0 ? static_cast<int64_t>(length) : 0;
  }
  int64_t v[3];
  for (int k = 0; k < 3; ++k)
    loadElements(inputs[k].type, inputs[k].data, 0, 1, &v[k]);
  if (v[2] == 0)
    return invalid("the range from ", v[0], " to ", v[1], " by 0 has no end");
  __int128 span = static_cast<__int128>(v[1]) - v[0], delta = v[2];
  if ((span > 0) != (delta > 0) || span == 0)
    return 0;
  __int128 length = (span + delta - (delta > 0 ? 1 : -1)) / delta;
  if (length > INT64_MAX)
    return invalid("the range from ", v[0], " to ", v[1], " by ", v[2],
                   " has more elements than int64 can count");
  return static_cast<int64_t>(length);
}

absl::Status inferRange(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t length, rangeLength(inputs));
  return nn::setOutput(outputs, 0, inputs[0].type, {length});
}

absl::Status runRange(const KernelCall &, KernelContext &, Inputs inputs,
                      Outputs outputs) {
  withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    C start, delta, chunk[chunkSize];
    loadElements(inputs[0].type, inputs[0].data, 0, 1, &start);
    loadElements(inputs[2].type, inputs[2].data, 0, 1, &delta);
    int64_t size = outputs[0].size();
    for (int64_t first = 0; first < size; first += chunkSize) {
      int64_t count = std::min(size - first, chunkSize);
      for (int64_t i = 0; i < count; ++i)
        chunk[i] = start + static_cast<C>(first + i) * delta;
      storeElements(outputs[0].type, chunk, count, outputs[0].data, first);
    }
  });
  return absl::OkStatus();
}

absl::Status inferEyeLike(const KernelCall &call, Inputs inputs,
                          Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_TRY(nn::checkRank(inputs[0], "input", 2, 2));
  SOL_NN_ASSIGN(int64_t type,
                call.attributes.integer("dtype", int(inputs[0].type)));
  if (!isKnownDType(type))
    return invalid("attribute `dtype` is ", type, ", no known element type");
  return nn::setOutput(outputs, 0, static_cast<DType>(type), inputs[0].dims);
}

absl::Status runEyeLike(const KernelCall &call, KernelContext &, Inputs inputs,
                        Outputs outputs) {
  SOL_NN_ASSIGN(int64_t k, call.attributes.integer("k", 0));
  Tensor &out = outputs[0];
  if (out.bytes() > 0)
    std::memset(out.data, 0, out.bytes());
  int64_t rows = out.dims[0], columns = out.dims[1];
  float one = 1.0f;
  if (k > columns || k < -rows)
    return absl::OkStatus();
  for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns;
       ++row)
    storeElements(out.type, &one, 1, out.data, row * columns + row + k);
  return absl::OkStatus();
}

absl::Status inferDropout(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 3));
  if (const Tensor *training = nn::operandAt(inputs, 2)) {
    SOL_NN_TRY(nn::checkSameType(*training, "training_mode", DType::Bool));
    SOL_NN_TRY(nn::checkElements(*training, "training_mode", 1));
  }
  SOL_NN_TRY(nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims));
  if (outputs.size() > 1 && outputs[1].present())
    return nn::setOutput(outputs, 1, DType::Bool, inputs[0].dims);
  return absl::OkStatus();
}

absl::Status runDropout(const KernelCall &call, KernelContext &context,
                        Inputs inputs, Outputs outputs) {
  const Tensor *training = nn::operandAt(inputs, 2);
  if (training && *training->as<uint8_t>()) {
    double ratio = 0.5;
    if (const Tensor *operand = nn::operandAt(inputs, 1))
      loadElements(operand->type, operand->data, 0, 1, &ratio);
    if (ratio != 0.0)
      return absl::UnimplementedError(absl::StrCat(
          "operand `training_mode` asks to drop elements at random (ratio ",
          ratio, "); only inference is supported"));
  }
  if (outputs.size() > 1 && outputs[1].present() && outputs[1].bytes() > 0)
    std::memset(outputs[1].data, 1, outputs[1].bytes());
  return outputs[0].present() ? runCopy(call, context, inputs, outputs)
                              : absl::OkStatus();
}
} // namespace

void registerFillKernels() {
  registerKernel({.name = "onnx.Shape", .infer = inferShape, .run = runShape});
  registerKernel({.name = "onnx.Size", .infer = inferSize, .run = runSize});
  registerKernel({.name = "onnx.ConstantOfShape",
                  .infer = inferConstantOfShape,
                  .run = runConstantOfShape});
  registerKernel({.name = "onnx.Range", .infer = inferRange, .run = runRange});
  registerKernel(
      {.name = "onnx.EyeLike", .infer = inferEyeLike, .run = runEyeLike});
  registerKernel({.name = "onnx.Dropout",
                  .infer = inferDropout,
                  .run = runDropout,
                  .inPlace = 0});
}

} // namespace sol::ops

namespace sol {
void registerMovementKernels() {
  ops::registerReshapeKernels();
  ops::registerStridedKernels();
  ops::registerJoinKernels();
  ops::registerPadKernels();
  ops::registerFillKernels();
}
} // namespace sol
