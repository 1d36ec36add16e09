//===- pad.cpp - Pad in all its modes -------------------------------------===//
//
// Each axis has a table that says which source place an output place shows, or
// -1 for the constant. Negative amounts cut.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor_ops/movement/movement.h"

#include <algorithm>
#include <vector>

namespace sol::ops {

namespace {
struct Padding {
  Dims begin, end; ///< for each axis
};

absl::StatusOr<Padding> paddingOf(Inputs inputs) {
  int64_t rank = inputs[0].rank();
  SOL_NN_ASSIGN(Dims pads, readIntegers(inputs[1], "pads"));
  Dims axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    axes.push_back(axis);
  if (const Tensor *operand = nn::operandAt(inputs, 3)) {
    SOL_NN_ASSIGN(axes, readIntegers(*operand, "axes"));
    SOL_NN_ASSIGN(axes, frontAxes(axes, rank));
  }
  if (pads.size() != 2 * axes.size())
    return invalid("operand `pads` has ", pads.size(), " entries, expected ",
                   2 * axes.size());
  Padding padding{Dims(rank, 0), Dims(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    padding.begin[axes[i]] = pads[i];
    padding.end[axes[i]] = pads[axes.size() + i];
  }
  return padding;
}

absl::Status inferPad(const KernelCall &call, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 4));
  SOL_NN_ASSIGN(std::string mode, call.attributes.text("mode", "constant"));
  if (mode != "constant" && mode != "reflect" && mode != "edge" &&
      mode != "wrap")
    return invalid("attribute `mode` is `", mode,
                   "`, expected `constant`, `reflect`, `edge` or `wrap`");
  if (const Tensor *value = nn::operandAt(inputs, 2)) {
    SOL_NN_TRY(nn::checkSameType(*value, "constant_value", inputs[0].type));
    SOL_NN_TRY(nn::checkElements(*value, "constant_value", 1));
  }
  SOL_NN_ASSIGN(Padding padding, paddingOf(inputs));
  Dims dims = inputs[0].dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    int64_t size = dims[axis];
    if (__builtin_add_overflow(dims[axis], padding.begin[axis], &dims[axis]) ||
        __builtin_add_overflow(dims[axis], padding.end[axis], &dims[axis]) ||
        dims[axis] < 0)
      return invalid("axis ", axis, " of size ", size, " cannot be padded by ",
                     padding.begin[axis], " and ", padding.end[axis]);
    if (mode != "constant" && size == 0 && dims[axis] > 0)
      return invalid("axis ", axis, " is empty and cannot be padded in mode `",
                     mode, "`");
  }
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

/// The source place that place `at` (relative to the source) shows, or -1.
int64_t shownPlace(int64_t at, int64_t size, std::string_view mode) {
  if (at >= 0 && at < size)
    return at;
  if (mode == "edge")
    return at < 0 ? 0 : size - 1;
  if (mode == "wrap")
    return (at % size + size) % size;
  if (mode == "reflect") {
    if (size == 1)
      return 0;
    int64_t period = 2 * (size - 1);
    int64_t folded = (at % period + period) % period;
    return folded < size ? folded : period - folded;
  }
  return -1;
}

template <typename W>
void padWords(KernelContext &context, const Tensor &input, Tensor &output,
              absl::Span<const std::vector<int64_t>> places, W constant) {
  size_t last = output.dims.size() - 1;
  int64_t width = output.dims[last];
  Dims steps = denseSteps(input.dims);
  const W *source = input.as<W>();
  W *target = output.as<W>();
  int64_t rows = nn::product(output.dims, 0, last);
  int64_t grain = std::max<int64_t>(1, 16384 / width);
  context.parallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t at = 0, rest = row;
      bool outside = false;
      for (size_t axis = last; axis-- > 0;) {
        int64_t place = places[axis][rest % output.dims[axis]];
        rest /= output.dims[axis];
        outside |= place < 0;
        at += place * steps[axis];
      }
      W *out = target + row * width;
      if (outside) {
        std::fill_n(out, width, constant);
        continue;
      }
      for (int64_t i = 0; i < width; ++i) {
        int64_t place = places[last][i];
        out[i] = place < 0 ? constant : source[at + place];
      }
    }
  });
}

absl::Status runPad(const KernelCall &call, KernelContext &context,
                    Inputs inputs, Outputs outputs) {
  if (outputs[0].size() == 0)
    return absl::OkStatus();
  SOL_NN_ASSIGN(std::string mode, call.attributes.text("mode", "constant"));
  SOL_NN_ASSIGN(Padding padding, paddingOf(inputs));
  if (inputs[0].rank() == 0)
    return runCopy(call, context, inputs, outputs);
  std::vector<std::vector<int64_t>> places;
  for (size_t axis = 0; axis < outputs[0].dims.size(); ++axis) {
    std::vector<int64_t> &table = places.emplace_back();
    for (int64_t i = 0; i < outputs[0].dims[axis]; ++i)
      table.push_back(
          shownPlace(i - padding.begin[axis], inputs[0].dims[axis], mode));
  }
  // The operands that hold elements, without those read above.
  absl::InlinedVector<Tensor, 2> operands = {inputs[0]};
  if (const Tensor *value = nn::operandAt(inputs, 2))
    operands.push_back(*value);
  return onWholeWords(context, operands, outputs, [&](Inputs in, Outputs out) {
    withWord(in[0].type, [&](auto word) {
      using W = typename decltype(word)::Type;
      W constant = in.size() > 1 ? in[1].as<W>()[0] : W(0);
      padWords<W>(context, in[0], out[0], places, constant);
    });
    return absl::OkStatus();
  });
}
} // namespace

void registerPadKernels() {
  registerKernel({.name = "onnx.Pad", .infer = inferPad, .run = runPad});
}

} // namespace sol::ops
