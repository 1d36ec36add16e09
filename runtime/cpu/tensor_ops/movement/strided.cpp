//===- strided.cpp - operators that read their input in another order -----===//
//
// Transpose, Slice, Expand, Tile, DepthToSpace, SpaceToDepth: each is a dense
// result read from the input with steps.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor_ops/movement/movement.h"

#include <algorithm>

namespace sol::ops {

namespace {
/// Runs the view that `viewOf(call, inputs, outputs)` gives.
template <auto viewOf>
absl::Status runView(const KernelCall &call, KernelContext &context,
                     Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(StridedView view, viewOf(call, inputs, outputs));
  return onWholeWords(
      context, inputs.subspan(0, 1), outputs, [&](Inputs in, Outputs out) {
        copyStrided(context, in[0].type, view, in[0].data, out[0].data);
        return absl::OkStatus();
      });
}

absl::StatusOr<Dims> permutation(const KernelCall &call, int64_t rank) {
  SOL_NN_ASSIGN(absl::Span<const int64_t> perm,
                call.attributes.integers("perm"));
  Dims order;
  if (!call.attributes.has("perm")) {
    for (int64_t axis = rank; axis-- > 0;)
      order.push_back(axis);
    return order;
  }
  if (static_cast<int64_t>(perm.size()) != rank)
    return invalid("attribute `perm` ", dimsToString(perm), " has ",
                   perm.size(), " entries, the input has rank ", rank);
  return frontAxes(perm, rank);
}

absl::Status inferTranspose(const KernelCall &call, Inputs inputs,
                            Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_ASSIGN(Dims order, permutation(call, inputs[0].rank()));
  Dims dims;
  for (int64_t axis : order)
    dims.push_back(inputs[0].dims[axis]);
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::StatusOr<StridedView> transposeView(const KernelCall &call, Inputs inputs,
                                          Outputs outputs) {
  SOL_NN_ASSIGN(Dims order, permutation(call, inputs[0].rank()));
  Dims steps = denseSteps(inputs[0].dims);
  StridedView view{outputs[0].dims, {}, 0};
  for (int64_t axis : order)
    view.steps.push_back(steps[axis]);
  return view;
}

absl::StatusOr<StridedView> sliceView(Inputs inputs) {
  const Dims &dims = inputs[0].dims;
  int64_t rank = inputs[0].rank();
  SOL_NN_ASSIGN(Dims starts, readIntegers(inputs[1], "starts"));
  SOL_NN_ASSIGN(Dims ends, readIntegers(inputs[2], "ends"));
  Dims axes, steps(starts.size(), 1);
  for (size_t i = 0; i < starts.size(); ++i)
    axes.push_back(i);
  if (const Tensor *operand = nn::operandAt(inputs, 3)) {
    SOL_NN_ASSIGN(axes, readIntegers(*operand, "axes"));
  }
  if (const Tensor *operand = nn::operandAt(inputs, 4)) {
    SOL_NN_ASSIGN(steps, readIntegers(*operand, "steps"));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return invalid("`starts` has ", starts.size(), " entries, `ends` ",
                   ends.size(), ", `axes` ", axes.size(), ", `steps` ",
                   steps.size(), "; expected as many of each");
  SOL_NN_ASSIGN(axes, frontAxes(axes, rank));
  StridedView view{dims, denseSteps(dims), 0};
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis = axes[i], size = dims[axis], step = steps[i];
    if (step == 0)
      return invalid("the step along axis ", axis, " is 0");
    // Counted from the front, then clamped: [0, size] forward, [-1, size - 1]
    // backward. The far ends may be the largest int64.
    int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    auto placed = [&](int64_t at) {
      return std::clamp(at < 0 ? at + size : at, least, std::max(most, least));
    };
    int64_t start = placed(starts[i]), end = placed(ends[i]);
    int64_t length = 0;
    if (step > 0 && end > start)
      length = (end - start - 1) / step + 1;
    else if (step < 0 && start > end)
      // Written so that the least int64 as step does not overflow.
      length = (end - start + 1) / step + 1;
    view.dims[axis] = length;
    if (length > 0)
      view.offset += start * view.steps[axis];
    // A single element needs no step, which may be huge.
    view.steps[axis] = length > 1 ? view.steps[axis] * step : 0;
  }
  return view;
}

absl::Status inferSlice(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 3, 5));
  SOL_NN_ASSIGN(StridedView view, sliceView(inputs));
  return nn::setOutput(outputs, 0, inputs[0].type, view.dims);
}

absl::StatusOr<StridedView> sliceOf(const KernelCall &, Inputs inputs,
                                    Outputs) {
  return sliceView(inputs);
}

absl::Status inferExpand(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_ASSIGN(Dims shape, readIntegers(inputs[1], "shape"));
  for (int64_t dim : shape)
    if (dim < 0)
      return invalid("operand `shape` ", dimsToString(shape),
                     " has a negative size");
  SOL_NN_ASSIGN(Dims dims, nn::broadcastShapes(inputs[0].dims, shape));
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::StatusOr<StridedView> expandView(const KernelCall &, Inputs inputs,
                                       Outputs outputs) {
  SOL_NN_ASSIGN(Dims steps,
                nn::broadcastSteps(inputs[0].dims, outputs[0].dims, "input"));
  return StridedView{outputs[0].dims, steps, 0};
}

absl::Status inferTile(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_ASSIGN(Dims repeats, readIntegers(inputs[1], "repeats"));
  if (repeats.size() != inputs[0].dims.size())
    return invalid("operand `repeats` has ", repeats.size(),
                   " entries, the input has rank ", inputs[0].rank());
  Dims dims = inputs[0].dims;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (repeats[axis] < 0 ||
        __builtin_mul_overflow(dims[axis], repeats[axis], &dims[axis]))
      return invalid("cannot repeat axis ", axis, " of size ",
                     inputs[0].dims[axis], " ", repeats[axis], " times");
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::StatusOr<StridedView> tileView(const KernelCall &, Inputs inputs,
                                     Outputs) {
  SOL_NN_ASSIGN(Dims repeats, readIntegers(inputs[1], "repeats"));
  Dims steps = denseSteps(inputs[0].dims);
  StridedView view;
  for (size_t axis = 0; axis < steps.size(); ++axis) {
    view.dims.push_back(repeats[axis]);
    view.steps.push_back(0);
    view.dims.push_back(inputs[0].dims[axis]);
    view.steps.push_back(steps[axis]);
  }
  return view;
}

absl::StatusOr<int64_t> blockSize(const KernelCall &call, Inputs inputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_TRY(nn::checkRank(inputs[0], "input", 4, 4));
  SOL_NN_ASSIGN(int64_t block, call.attributes.integer("blocksize", 0));
  if (block < 1 || block > (1 << 15))
    return invalid("attribute `blocksize` is ", block, ", expected 1 to ",
                   1 << 15);
  return block;
}

absl::Status inferDepthToSpace(const KernelCall &call, Inputs inputs,
                               Outputs outputs) {
  SOL_NN_ASSIGN(int64_t block, blockSize(call, inputs));
  SOL_NN_ASSIGN(std::string mode, call.attributes.text("mode", "DCR"));
  const Dims &d = inputs[0].dims;
  if (mode != "DCR" && mode != "CRD")
    return invalid("attribute `mode` is `", mode, "`, expected `DCR` or `CRD`");
  if (d[1] % (block * block) != 0)
    return invalid(d[1],
                   " channels do not divide by blocksize² = ", block * block);
  Dims dims = {d[0], d[1] / (block * block), d[2] * block, d[3] * block};
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::StatusOr<StridedView> depthToSpaceView(const KernelCall &call,
                                             Inputs inputs, Outputs) {
  SOL_NN_ASSIGN(int64_t b, blockSize(call, inputs));
  SOL_NN_ASSIGN(std::string mode, call.attributes.text("mode", "DCR"));
  const Dims &d = inputs[0].dims;
  int64_t c = d[1] / (b * b), plane = d[2] * d[3];
  // Channels are (block row, block column, channel) or, in CRD, channel first.
  int64_t channel = mode == "DCR" ? plane : plane * b * b;
  int64_t row = mode == "DCR" ? plane * c * b : plane * b;
  int64_t column = mode == "DCR" ? plane * c : plane;
  return StridedView{{d[0], c, d[2], b, d[3], b},
                     {plane * d[1], channel, d[3], row, 1, column},
                     0};
}

absl::Status inferSpaceToDepth(const KernelCall &call, Inputs inputs,
                               Outputs outputs) {
  SOL_NN_ASSIGN(int64_t block, blockSize(call, inputs));
  const Dims &d = inputs[0].dims;
  if (d[2] % block != 0 || d[3] % block != 0)
    return invalid("the plane ", d[2], " x ", d[3],
                   " does not divide by blocksize ", block);
  Dims dims = {d[0], d[1] * block * block, d[2] / block, d[3] / block};
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::StatusOr<StridedView> spaceToDepthView(const KernelCall &call,
                                             Inputs inputs, Outputs) {
  SOL_NN_ASSIGN(int64_t b, blockSize(call, inputs));
  SOL_NN_ASSIGN(std::string mode, call.attributes.text("mode", "DCR"));
  const Dims &d = inputs[0].dims;
  int64_t plane = d[2] * d[3], height = d[2] / b, width = d[3] / b;
  if (mode == "CRD")
    return StridedView{{d[0], d[1], b, b, height, width},
                       {plane * d[1], plane, d[3], 1, d[3] * b, b},
                       0};
  return StridedView{{d[0], b, b, d[1], height, width},
                     {plane * d[1], d[3], 1, plane, d[3] * b, b},
                     0};
}
} // namespace

void registerStridedKernels() {
  registerKernel({.name = "onnx.Transpose",
                  .infer = inferTranspose,
                  .run = runView<transposeView>});
  registerKernel(
      {.name = "onnx.Slice", .infer = inferSlice, .run = runView<sliceOf>});
  registerKernel({.name = "onnx.Expand",
                  .infer = inferExpand,
                  .run = runView<expandView>});
  registerKernel(
      {.name = "onnx.Tile", .infer = inferTile, .run = runView<tileView>});
  registerKernel({.name = "onnx.DepthToSpace",
                  .infer = inferDepthToSpace,
                  .run = runView<depthToSpaceView>});
  registerKernel({.name = "onnx.SpaceToDepth",
                  .infer = inferSpaceToDepth,
                  .run = runView<spaceToDepthView>});
}

} // namespace sol::ops
