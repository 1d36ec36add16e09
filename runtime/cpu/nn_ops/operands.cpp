//===- operands.cpp - checks of operands and attributes -------------------===//
//
// See operands.h. Computes nothing.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/operands.h"

#include <algorithm>

namespace sol::nn {

const Tensor *operandAt(Inputs inputs, size_t index) {
  return index < inputs.size() && inputs[index].present() ? &inputs[index]
                                                          : nullptr;
}

absl::Status checkCount(Inputs inputs, size_t least, size_t most,
                        unsigned mayMiss) {
  if (inputs.size() < least || inputs.size() > most)
    return invalid("takes ", least, " to ", most, " operands, got ",
                   inputs.size());
  for (size_t i = 0; i < least; ++i)
    if (!inputs[i].present() && !(mayMiss >> i & 1))
      return invalid("operand ", i, " is required but left out");
  return absl::OkStatus();
}

absl::Status checkType(const Tensor &tensor, std::string_view name,
                       std::initializer_list<DType> allowed) {
  if (std::find(allowed.begin(), allowed.end(), tensor.type) != allowed.end())
    return absl::OkStatus();
  std::string list;
  for (DType type : allowed)
    absl::StrAppend(&list, list.empty() ? "" : ", ",
                    messagePart(dtypeName(type)));
  return invalid("operand `", name, "` has element type ",
                 dtypeName(tensor.type), ", must be one of ", list);
}

absl::Status checkSameType(const Tensor &tensor, std::string_view name,
                           DType wanted) {
  if (tensor.type == wanted)
    return absl::OkStatus();
  return invalid("operand `", name, "` has element type ",
                 dtypeName(tensor.type), ", must be ", dtypeName(wanted));
}

absl::Status checkRank(const Tensor &tensor, std::string_view name, int least,
                       int most) {
  if (tensor.rank() >= least && tensor.rank() <= most)
    return absl::OkStatus();
  if (least == most)
    return invalid("operand `", name, "` has shape ", dimsToString(tensor.dims),
                   ", must have rank ", least);
  return invalid("operand `", name, "` has shape ", dimsToString(tensor.dims),
                 ", must have rank ", least, " to ", most);
}

absl::Status checkDims(const Tensor &tensor, std::string_view name,
                       absl::Span<const int64_t> wanted) {
  if (absl::MakeConstSpan(tensor.dims) == wanted)
    return absl::OkStatus();
  return invalid("operand `", name, "` has shape ", dimsToString(tensor.dims),
                 ", must be ", dimsToString(wanted));
}

absl::Status checkElements(const Tensor &tensor, std::string_view name,
                           int64_t wanted) {
  if (tensor.size() == wanted)
    return absl::OkStatus();
  return invalid("operand `", name, "` of shape ", dimsToString(tensor.dims),
                 " has ", tensor.size(), " elements, must have ", wanted);
}

absl::StatusOr<int64_t> frontAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return invalid("attribute `axis` is ", axis, ", must lie in [", -rank, ", ",
                   rank, ")");
  return axis < 0 ? axis + rank : axis;
}

absl::Status setOutput(Outputs outputs, size_t index, DType type,
                       absl::Span<const int64_t> dims) {
  Tensor *output = outputAt(outputs, index);
  if (!output)
    return absl::OkStatus();
  if (output->type != type)
    return invalid("output ", index, " has element type ", dtypeName(type),
                   ", the plan expects ", dtypeName(output->type));
  if (elementCount(dims) < 0)
    return invalid("output ", index, " would have shape ", dimsToString(dims),
                   ", which is negative or too large");
  output->dims.assign(dims.begin(), dims.end());
  return absl::OkStatus();
}

Tensor *outputAt(Outputs outputs, size_t index) {
  return index < outputs.size() && outputs[index].present() ? &outputs[index]
                                                            : nullptr;
}

bool isFloatStorage(DType type) {
  return type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

absl::Status checkFloat(const Tensor &tensor, std::string_view name) {
  return checkType(tensor, name,
                   {DType::F32, DType::F16, DType::BF16, DType::F64});
}

int64_t product(absl::Span<const int64_t> dims, size_t from, size_t to) {
  int64_t result = 1;
  for (size_t i = from; i < to; ++i)
    result *= dims[i];
  return result;
}

absl::StatusOr<Dims> broadcastShapes(absl::Span<const int64_t> a,
                                     absl::Span<const int64_t> b) {
  size_t rank = std::max(a.size(), b.size());
  Dims result(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1)
      return invalid("shapes ", dimsToString(a), " and ", dimsToString(b),
                     " do not broadcast");
    result[rank - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

absl::StatusOr<Dims> broadcastSteps(absl::Span<const int64_t> from,
                                    absl::Span<const int64_t> to,
                                    std::string_view name) {
  Dims steps(to.size(), 0);
  if (from.size() > to.size())
    return invalid("operand `", name, "` of shape ", dimsToString(from),
                   " does not broadcast to ", dimsToString(to));
  int64_t step = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t size = from[from.size() - 1 - i], wanted = to[to.size() - 1 - i];
    if (size != wanted && size != 1)
      return invalid("operand `", name, "` of shape ", dimsToString(from),
                     " does not broadcast to ", dimsToString(to));
    if (size != 1)
      steps[to.size() - 1 - i] = step;
    step *= size;
  }
  return steps;
}

int64_t steppedOffset(int64_t index, absl::Span<const int64_t> shape,
                      absl::Span<const int64_t> steps) {
  int64_t offset = 0;
  for (size_t i = shape.size(); i-- > 0;) {
    offset += index % shape[i] * steps[i];
    index /= shape[i];
  }
  return offset;
}

} // namespace sol::nn
