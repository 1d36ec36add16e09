//===- words.cpp - strided copies, packed operands, index operands --------===//
#include "runtime/cpu/tensor_ops/words.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace sol::ops {

namespace {
bool isPacked(const Tensor &tensor) {
  return tensor.present() && bitWidth(tensor.type) < 8;
}

/// A copy of the operand as bytes at `memory`, which moves past it.
Tensor spread(const Tensor &tensor, uint8_t *&memory) {
  Tensor bytes = tensor;
  bytes.type = DType::U8;
  bytes.data = memory;
  memory += tensor.size();
  return bytes;
}
} // namespace

absl::Status onWholeWords(KernelContext &context, Inputs inputs,
                          Outputs outputs, WordsBody body) {
  int64_t total = 0;
  for (const Tensor &tensor : inputs)
    total += isPacked(tensor) ? tensor.size() : 0;
  bool any = total > 0;
  for (const Tensor &tensor : outputs) {
    total += isPacked(tensor) ? tensor.size() : 0;
    any |= isPacked(tensor);
  }
  if (!any)
    return body(inputs, outputs);
  auto *memory = static_cast<uint8_t *>(context.scratch(total + 1));
  if (!memory)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", total, " bytes of unpacked elements"));
  absl::InlinedVector<Tensor, 4> in(inputs.begin(), inputs.end());
  absl::InlinedVector<Tensor, 4> out(outputs.begin(), outputs.end());
  for (Tensor &tensor : in)
    if (isPacked(tensor)) {
      Tensor packed = tensor;
      tensor = spread(tensor, memory);
      int width = bitWidth(packed.type);
      for (int64_t i = 0, n = packed.size(); i < n; ++i)
        tensor.as<uint8_t>()[i] = packedCode(packed.data, i, width);
    }
  for (Tensor &tensor : out)
    if (isPacked(tensor))
      tensor = spread(tensor, memory);
  SOL_NN_TRY(body(in, absl::MakeSpan(out)));
  for (size_t k = 0; k < outputs.size(); ++k)
    if (isPacked(outputs[k])) {
      int width = bitWidth(outputs[k].type);
      std::memset(outputs[k].data, 0, outputs[k].bytes());
      for (int64_t i = 0, n = outputs[k].size(); i < n; ++i)
        setPackedCode(outputs[k].data, i, width, out[k].as<uint8_t>()[i]);
    }
  return absl::OkStatus();
}

Dims denseSteps(absl::Span<const int64_t> dims) {
  Dims steps(dims.size(), 1);
  for (size_t axis = dims.size(); axis-- > 1;)
    steps[axis - 1] = steps[axis] * dims[axis];
  return steps;
}

namespace {
/// Axes of size 1 dropped and neighbours that advance alike merged; at least
/// one axis is left.
StridedView merged(const StridedView &view) {
  StridedView result;
  result.offset = view.offset;
  for (size_t axis = 0; axis < view.dims.size(); ++axis) {
    if (view.dims[axis] == 1)
      continue;
    if (!result.dims.empty() &&
        result.steps.back() == view.steps[axis] * view.dims[axis]) {
      result.dims.back() *= view.dims[axis];
      result.steps.back() = view.steps[axis];
    } else {
      result.dims.push_back(view.dims[axis]);
      result.steps.push_back(view.steps[axis]);
    }
  }
  if (result.dims.empty()) {
    result.dims.push_back(1);
    result.steps.push_back(1);
  }
  return result;
}

template <typename W>
void copyRow(const W *source, int64_t step, W *target, int64_t count) {
  if (step == 1)
    std::memcpy(target, source, count * sizeof(W));
  else if (step == 0)
    std::fill_n(target, count, *source);
  else
    for (int64_t i = 0; i < count; ++i)
      target[i] = source[i * step];
}

template <typename W>
void copyRows(KernelContext &context, const StridedView &view, const W *source,
              W *target) {
  size_t last = view.dims.size() - 1;
  int64_t width = view.dims[last], rows = 1;
  for (size_t axis = 0; axis < last; ++axis)
    rows *= view.dims[axis];
  // One long row is cut as well, so pieces are numbered by element.
  context.parallelFor(rows * width, 65536, [&](int64_t begin, int64_t end) {
    absl::InlinedVector<int64_t, 6> place(last + 1);
    int64_t rest = begin / width, at = view.offset;
    place[last] = begin % width;
    for (size_t axis = last; axis-- > 0;) {
      place[axis] = rest % view.dims[axis];
      rest /= view.dims[axis];
      at += place[axis] * view.steps[axis];
    }
    for (int64_t first = begin; first < end;) {
      int64_t count = std::min(end - first, width - place[last]);
      copyRow(source + at + place[last] * view.steps[last], view.steps[last],
              target + first, count);
      first += count;
      place[last] = 0;
      for (size_t axis = last; axis-- > 0;) {
        at += view.steps[axis];
        if (++place[axis] < view.dims[axis])
          break;
        at -= view.steps[axis] * view.dims[axis];
        place[axis] = 0;
      }
    }
  });
}

/// Where another axis than the last is contiguous in the source: both are
/// walked in square tiles, so that each cache line is used whole.
template <typename W>
void copyTiles(KernelContext &context, const StridedView &view, size_t inner,
               const W *source, W *target) {
  constexpr int64_t tile = 32;
  size_t last = view.dims.size() - 1;
  Dims outSteps = denseSteps(view.dims);
  int64_t high = view.dims[inner], wide = view.dims[last];
  int64_t bands = (high + tile - 1) / tile, outer = 1;
  for (size_t axis = 0; axis < last; ++axis)
    outer *= axis == inner ? 1 : view.dims[axis];
  int64_t sourceStep = view.steps[last], targetStep = outSteps[inner];
  auto band = [&](int64_t number) {
    int64_t i0 = number % bands * tile, rest = number / bands;
    int64_t from = view.offset + i0, to = i0 * targetStep;
    for (size_t axis = last; axis-- > 0;)
      if (axis != inner) {
        int64_t place = rest % view.dims[axis];
        rest /= view.dims[axis];
        from += place * view.steps[axis];
        to += place * outSteps[axis];
      }
    int64_t rows = std::min(tile, high - i0);
    for (int64_t j0 = 0; j0 < wide; j0 += tile)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = j0, end = std::min(wide, j0 + tile); j < end; ++j)
          target[to + i * targetStep + j] = source[from + i + j * sourceStep];
  };
  int64_t grain = std::max<int64_t>(1, 65536 / (tile * wide));
  context.parallelFor(outer * bands, grain, [&](int64_t begin, int64_t end) {
    for (int64_t number = begin; number < end; ++number)
      band(number);
  });
}
} // namespace

void copyStrided(KernelContext &context, DType type, const StridedView &view,
                 const void *source, void *target) {
  if (elementCount(view.dims) <= 0)
    return;
  StridedView plan = merged(view);
  size_t last = plan.dims.size() - 1, inner = last;
  if (plan.steps[last] != 1 && plan.steps[last] != 0 && plan.dims[last] >= 4)
    for (size_t axis = 0; axis < last; ++axis)
      if (plan.steps[axis] == 1 && plan.dims[axis] >= 4)
        inner = axis;
  withWord(type, [&](auto word) {
    using W = typename decltype(word)::Type;
    const W *from = static_cast<const W *>(source);
    W *to = static_cast<W *>(target);
    if (inner == last)
      copyRows(context, plan, from, to);
    else
      copyTiles(context, plan, inner, from, to);
  });
}

absl::StatusOr<Dims> readIntegers(const Tensor &tensor, std::string_view name) {
  int64_t count = tensor.size();
  if (tensor.type != DType::I64 && tensor.type != DType::I32)
    return invalid("operand `", std::string(name), "` has element type ",
                   std::string(dtypeName(tensor.type)),
                   ", expected int64 or int32");
  if (tensor.rank() > 1)
    return invalid("operand `", std::string(name), "` has shape ",
                   dimsToString(tensor.dims), ", expected a list");
  if (count > 0 && !tensor.data)
    return invalid("the elements of operand `", std::string(name),
                   "` must be known to infer the result's shape");
  if (count > 1024)
    return invalid("operand `", std::string(name), "` has ", count,
                   " elements, more than the 1024 that a list of axes or "
                   "sizes may have");
  Dims values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = tensor.type == DType::I64 ? tensor.as<int64_t>()[i]
                                          : tensor.as<int32_t>()[i];
  return values;
}

absl::StatusOr<int64_t> readInteger(const Tensor &tensor,
                                    std::string_view name) {
  Tensor flat = tensor;
  if (flat.size() == 1)
    flat.dims.clear();
  SOL_NN_ASSIGN(Dims values, readIntegers(flat, name));
  if (values.size() != 1)
    return invalid("operand `", std::string(name), "` has shape ",
                   dimsToString(tensor.dims), ", expected one element");
  return values[0];
}

absl::StatusOr<Dims> frontAxes(absl::Span<const int64_t> axes, int64_t rank) {
  Dims result;
  absl::InlinedVector<bool, 8> seen(rank, false);
  for (int64_t axis : axes) {
    SOL_NN_ASSIGN(int64_t front, nn::frontAxis(axis, rank));
    if (seen[front])
      return invalid("axis ", axis, " is named twice");
    seen[front] = true;
    result.push_back(front);
  }
  return result;
}

absl::Status indexError(int64_t index, int64_t axis, int64_t size) {
  return absl::OutOfRangeError(
      absl::StrCat("index ", index, " is out of range for axis ", axis,
                   " of size ", size, ", expected ", -size, " to ", size - 1));
}

} // namespace sol::ops
