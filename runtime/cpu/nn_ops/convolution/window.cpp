//===- window.cpp - where a sliding window lies in its input --------------===//
//
// See window.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/convolution/window.h"

#include <algorithm>

namespace sol::nn {
namespace {

constexpr int64_t largest = int64_t(1) << 31;

/// A list attribute with one number for each of `rank` axes, or `fallback`.
absl::StatusOr<Dims> listOf(const KernelCall &call, std::string_view name,
                            size_t rank, int64_t fallback, int64_t least) {
  SOL_NN_ASSIGN(absl::Span<const int64_t> values,
                call.attributes.integers(name));
  if (values.empty())
    return Dims(rank, fallback);
  if (values.size() != rank)
    return invalid("attribute `", name, "` has ", values.size(),
                   " numbers, must have ", rank);
  for (int64_t value : values)
    if (value < least || value > largest)
      return invalid("attribute `", name, "` holds ", value, ", must lie in [",
                     least, ", ", largest, "]");
  return Dims(values.begin(), values.end());
}

absl::Status readLists(const KernelCall &call, Window &window) {
  size_t rank = window.rank();
  if (window.kernel.size() != rank || rank == 0)
    return invalid("the window has ", window.kernel.size(),
                   " axes, the operand ", rank, " spatial ones");
  for (size_t i = 0; i < rank; ++i)
    if (window.kernel[i] <= 0 || window.kernel[i] > largest ||
        window.input[i] > largest)
      return invalid("window ", dimsToString(window.kernel), " over ",
                     dimsToString(window.input), " is out of range");
  SOL_NN_ASSIGN(window.strides, listOf(call, "strides", rank, 1, 1));
  SOL_NN_ASSIGN(window.dilations, listOf(call, "dilations", rank, 1, 1));
  SOL_NN_ASSIGN(Dims pads, listOf(call, "pads", 2 * rank, 0, -largest));
  window.before.assign(pads.begin(), pads.begin() + rank);
  window.after.assign(pads.begin() + rank, pads.end());
  return absl::OkStatus();
}

/// SAME_UPPER and SAME_LOWER split `total` padding over both ends.
void splitPadding(Window &window, size_t axis, int64_t total, bool upper) {
  total = std::max<int64_t>(total, 0);
  int64_t small = total / 2;
  window.before[axis] = upper ? small : total - small;
  window.after[axis] = total - window.before[axis];
}

absl::StatusOr<std::string> readAutoPad(const KernelCall &call) {
  SOL_NN_ASSIGN(std::string name, call.attributes.text("auto_pad", "NOTSET"));
  if (name.empty())
    name = "NOTSET";
  if (name != "NOTSET" && name != "VALID" && name != "SAME_UPPER" &&
      name != "SAME_LOWER")
    return invalid("attribute `auto_pad` is ", name,
                   ", must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return name;
}

} // namespace

absl::StatusOr<Window> Window::create(const KernelCall &call,
                                      absl::Span<const int64_t> input,
                                      absl::Span<const int64_t> kernel) {
  Window window;
  window.input.assign(input.begin(), input.end());
  window.kernel.assign(kernel.begin(), kernel.end());
  SOL_NN_TRY(readLists(call, window));
  SOL_NN_ASSIGN(std::string autoPad, readAutoPad(call));
  SOL_NN_ASSIGN(int64_t ceilMode, call.attributes.integer("ceil_mode", 0));
  for (size_t i = 0; i < window.rank(); ++i) {
    int64_t stride = window.strides[i];
    int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    if (autoPad == "VALID")
      window.before[i] = window.after[i] = 0;
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
      int64_t size = (input[i] + stride - 1) / stride;
      splitPadding(window, i, (size - 1) * stride + span - input[i],
                   autoPad == "SAME_UPPER");
      window.output.push_back(size);
      continue;
    }
    int64_t padded = input[i] + window.before[i] + window.after[i];
    int64_t room = padded - span;
    int64_t size = room < 0 ? 0 : room / stride + 1;
    // Rounded up, but the last window must begin inside the input.
    if (ceilMode && room >= 0 && room % stride != 0 &&
        size * stride < input[i] + window.before[i])
      ++size;
    if (size <= 0 && input[i] > 0)
      return invalid("a window that spans ", span, " does not fit axis ", i,
                     ", which has ", padded, " with padding");
    window.output.push_back(size);
  }
  return window;
}

absl::StatusOr<Window>
Window::createTransposed(const KernelCall &call,
                         absl::Span<const int64_t> input,
                         absl::Span<const int64_t> kernel) {
  Window window;
  window.input.assign(input.begin(), input.end());
  window.kernel.assign(kernel.begin(), kernel.end());
  SOL_NN_TRY(readLists(call, window));
  SOL_NN_ASSIGN(std::string autoPad, readAutoPad(call));
  size_t rank = window.rank();
  SOL_NN_ASSIGN(Dims extra, listOf(call, "output_padding", rank, 0, 0));
  SOL_NN_ASSIGN(absl::Span<const int64_t> shape,
                call.attributes.integers("output_shape"));
  if (!shape.empty() && shape.size() != rank && shape.size() != rank + 2)
    return invalid("attribute `output_shape` has ", shape.size(),
                   " numbers, must have ", rank);
  if (!shape.empty())
    shape = shape.subspan(shape.size() - rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t full = window.strides[i] * (input[i] - 1) + extra[i] + span;
    int64_t size = full - window.before[i] - window.after[i];
    bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
    if (!shape.empty() || same) {
      size = shape.empty() ? input[i] * window.strides[i] : shape[i];
      splitPadding(window, i, full - size, autoPad == "SAME_UPPER");
    }
    if (size < 0 || size > largest)
      return invalid("axis ", i, " of the result would have size ", size);
    window.output.push_back(size);
  }
  return window;
}

int64_t Window::inputPixel(int64_t position, int64_t pixel) const {
  int64_t result = 0, step = 1;
  for (size_t i = rank(); i-- > 0;) {
    int64_t at = pixel % output[i] * strides[i] +
                 position % kernel[i] * dilations[i] - before[i];
    if (at < 0 || at >= input[i])
      return -1;
    result += at * step;
    step *= input[i];
    pixel /= output[i];
    position /= kernel[i];
  }
  return result;
}

int64_t Window::spreadPixel(int64_t position, int64_t pixel) const {
  int64_t result = 0, step = 1;
  for (size_t i = rank(); i-- > 0;) {
    int64_t at =
        pixel % output[i] + before[i] - position % kernel[i] * dilations[i];
    if (at < 0 || at % strides[i] || at / strides[i] >= input[i])
      return -1;
    result += at / strides[i] * step;
    step *= input[i];
    pixel /= output[i];
    position /= kernel[i];
  }
  return result;
}

} // namespace sol::nn
