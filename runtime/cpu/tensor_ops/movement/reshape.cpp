//===- reshape.cpp - operators that keep the bytes and change the shape ---===//
//
// Their output is a view; `run` copies for a caller that needs other memory.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor_ops/movement/movement.h"

#include <cstring>

namespace sol::ops {

absl::Status runCopy(const KernelCall &, KernelContext &, Inputs inputs,
                     Outputs outputs) {
  if (outputs[0].bytes() > 0 && outputs[0].data != inputs[0].data)
    std::memcpy(outputs[0].data, inputs[0].data, outputs[0].bytes());
  return absl::OkStatus();
}

namespace {
absl::Status inferIdentity(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

absl::Status inferReshape(const KernelCall &call, Inputs inputs,
                          Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_ASSIGN(int64_t allowZero, call.attributes.integer("allowzero", 0));
  SOL_NN_ASSIGN(Dims dims, readIntegers(inputs[1], "shape"));
  int64_t free = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allowZero) {
      if (i >= inputs[0].dims.size())
        return invalid("operand `shape` ", dimsToString(dims), " copies size ",
                       i, " of an input of shape ",
                       dimsToString(inputs[0].dims));
      dims[i] = inputs[0].dims[i];
    } else if (dims[i] == -1) {
      if (free >= 0)
        return invalid("operand `shape` ", dimsToString(dims),
                       " leaves more than one size free");
      free = i;
    } else if (dims[i] < 0) {
      return invalid("operand `shape` ", dimsToString(dims),
                     " has a negative size");
    }
  }
  int64_t size = inputs[0].size();
  Dims wanted = dims;
  if (free >= 0) {
    wanted[free] = 1;
    int64_t rest = elementCount(wanted);
    wanted[free] = -1;
    if (rest <= 0 || size % rest != 0)
      return invalid("cannot reshape ", dimsToString(inputs[0].dims), " to ",
                     dimsToString(wanted), ": ", size,
                     " elements do not divide by ", rest);
    dims[free] = size / rest;
  }
  if (elementCount(dims) != size)
    return invalid("cannot reshape ", dimsToString(inputs[0].dims), " to ",
                   dimsToString(dims), ": ", size, " elements against ",
                   elementCount(dims));
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::Status inferFlatten(const KernelCall &call, Inputs inputs,
                          Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 1));
  int64_t rank = inputs[0].rank();
  if (axis < -rank || axis > rank)
    return invalid("attribute `axis` is ", axis, ", expected ", -rank, " to ",
                   rank);
  size_t cut = axis < 0 ? axis + rank : axis;
  Dims dims = {nn::product(inputs[0].dims, 0, cut),
               nn::product(inputs[0].dims, cut, rank)};
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::Status inferSqueeze(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 2));
  const Dims &from = inputs[0].dims;
  absl::InlinedVector<bool, 8> dropped(from.size(), false);
  if (const Tensor *operand = nn::operandAt(inputs, 1)) {
    SOL_NN_ASSIGN(Dims named, readIntegers(*operand, "axes"));
    SOL_NN_ASSIGN(Dims axes, frontAxes(named, from.size()));
    for (int64_t axis : axes) {
      if (from[axis] != 1)
        return invalid("axis ", axis, " has size ", from[axis],
                       ", only axes of size 1 can be squeezed");
      dropped[axis] = true;
    }
  } else {
    for (size_t axis = 0; axis < from.size(); ++axis)
      dropped[axis] = from[axis] == 1;
  }
  Dims dims;
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (!dropped[axis])
      dims.push_back(from[axis]);
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::Status inferUnsqueeze(const KernelCall &, Inputs inputs,
                            Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_ASSIGN(Dims named, readIntegers(inputs[1], "axes"));
  int64_t rank = inputs[0].rank() + static_cast<int64_t>(named.size());
  SOL_NN_ASSIGN(Dims axes, frontAxes(named, rank));
  Dims dims(rank, -1);
  for (int64_t axis : axes)
    dims[axis] = 1;
  size_t next = 0;
  for (int64_t &dim : dims)
    if (dim < 0)
      dim = inputs[0].dims[next++];
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

void addView(std::string_view name,
             absl::Status (*infer)(const KernelCall &, Inputs, Outputs)) {
  registerKernel({.name = name,
                  .infer = infer,
                  .run = runCopy,
                  .inPlace = 0,
                  .isView = true});
}
} // namespace

void registerReshapeKernels() {
  addView("onnx.Identity", inferIdentity);
  addView("onnx.Reshape", inferReshape);
  addView("onnx.Flatten", inferFlatten);
  addView("onnx.Squeeze", inferSqueeze);
  addView("onnx.Unsqueeze", inferUnsqueeze);
}

} // namespace sol::ops
