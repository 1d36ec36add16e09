//===- convolution.cpp - convolutions as products -------------------------===//
//
// For each image and group: the filters times a panel of sixteen output pixels'
// windows, gathered as the product asks for them. The window matrix never
// exists as a whole.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/convolution/families.h"
#include "runtime/cpu/nn_ops/convolution/window.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/product/panel_product.h"
#include "runtime/cpu/nn_ops/quantization/dynamic_scale.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

namespace sol::nn {
namespace {

struct ConvCall {
  Window window;
  bool transposed = false;
  int64_t images = 0, groups = 1;
  int64_t channels = 0, filters = 0; ///< of a group, in and out
  int64_t depth() const { return channels * window.kernelPixels(); }
  Dims outDims() const {
    Dims dims = {images, groups * filters};
    dims.insert(dims.end(), window.output.begin(), window.output.end());
    return dims;
  }
};

absl::StatusOr<ConvCall> describe(const KernelCall &call, const Tensor &x,
                                  const Tensor &w, bool transposed) {
  ConvCall conv;
  conv.transposed = transposed;
  SOL_NN_TRY(checkRank(x, "X", 3, 16));
  SOL_NN_TRY(checkRank(w, "W", x.rank(), x.rank()));
  SOL_NN_ASSIGN(conv.groups, call.attributes.integer("group", 1));
  conv.images = x.dims[0];
  int64_t groups = conv.groups;
  if (groups <= 0 || x.dims[1] % groups || w.dims[0] % groups)
    return invalid("attribute `group` is ", groups, ", must divide the ",
                   x.dims[1], " channels and the ", w.dims[0], " of `W`");
  conv.channels = x.dims[1] / groups;
  conv.filters = transposed ? w.dims[1] : w.dims[0] / groups;
  int64_t taken = transposed ? w.dims[0] / groups : w.dims[1];
  if (taken != conv.channels)
    return invalid("operand `W` of shape ", dimsToString(w.dims), " takes ",
                   taken, " channels in each of ", groups,
                   " groups, operand `X` of shape ", dimsToString(x.dims),
                   " gives ", conv.channels);
  absl::Span<const int64_t> input = absl::MakeSpan(x.dims).subspan(2);
  absl::Span<const int64_t> kernel = absl::MakeSpan(w.dims).subspan(2);
  SOL_NN_ASSIGN(absl::Span<const int64_t> stated,
                call.attributes.integers("kernel_shape"));
  if (!stated.empty() && stated != kernel)
    return invalid("attribute `kernel_shape` is ", dimsToString(stated),
                   ", operand `W` has ", dimsToString(kernel));
  if (transposed) {
    SOL_NN_ASSIGN(conv.window, Window::createTransposed(call, input, kernel));
  } else {
    SOL_NN_ASSIGN(conv.window, Window::create(call, input, kernel));
  }
  return conv;
}

/// `store(image, filter, pixel, count, sums)`, the filter counted over groups.
template <typename T>
using ConvStore =
    absl::FunctionRef<void(int64_t image, int64_t filter, int64_t pixel,
                           int64_t count, const T *sums)>;

/// Convolves numbers that are already T. `filters` is [groups * filters,
/// depth]; `workspace` as the product wants it.
template <typename T>
void convolve(KernelContext &context, const ConvCall &conv, const T *images,
              const T *filters, T *workspace, ConvStore<T> store) {
  const Window &window = conv.window;
  int64_t inPixels = window.inputPixels(), taps = window.kernelPixels();
  auto left = [&](int64_t batch) -> const T * {
    return filters + batch % conv.groups * conv.filters * conv.depth();
  };
  auto fill = [&](int64_t batch, int64_t pixel, int64_t count, T *panel) {
    const T *from = images + batch * conv.channels * inPixels;
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t places[panelWidth];
      for (int64_t c = 0; c < panelWidth; ++c)
        places[c] = c >= count        ? -1
                    : conv.transposed ? window.spreadPixel(tap, pixel + c)
                                      : window.inputPixel(tap, pixel + c);
      for (int64_t channel = 0; channel < conv.channels; ++channel) {
        T *to = panel + (channel * taps + tap) * panelWidth;
        const T *plane = from + channel * inPixels;
        for (int64_t c = 0; c < panelWidth; ++c)
          to[c] = places[c] < 0 ? T(0) : plane[places[c]];
      }
    }
  };
  auto keep = [&](int64_t batch, int64_t row, int64_t pixel, int64_t count,
                  const T *sums) {
    store(batch / conv.groups, batch % conv.groups * conv.filters + row, pixel,
          count, sums);
  };
  runPanelProduct<T>(context,
                     {conv.images * conv.groups, conv.filters,
                      window.outputPixels(), conv.depth(), left, fill, keep},
                     workspace);
}

int64_t workspaceOf(KernelContext &context, const ConvCall &conv) {
  return productWorkspace(context.threadCount(), conv.images * conv.groups,
                          conv.window.outputPixels(), conv.depth());
}

//===----------------------------------------------------------------------===//
// Conv and ConvTranspose
//===----------------------------------------------------------------------===//

absl::Status inferFloat(const KernelCall &call, Inputs in, Outputs out,
                        bool transposed) {
  SOL_NN_TRY(checkCount(in, 2, 3));
  SOL_NN_TRY(checkFloat(in[0], "X"));
  SOL_NN_TRY(checkSameType(in[1], "W", in[0].type));
  SOL_NN_ASSIGN(ConvCall conv, describe(call, in[0], in[1], transposed));
  if (const Tensor *bias = operandAt(in, 2)) {
    SOL_NN_TRY(checkSameType(*bias, "B", in[0].type));
    SOL_NN_TRY(checkDims(*bias, "B", {conv.groups * conv.filters}));
  }
  return setOutput(out, 0, in[0].type, conv.outDims());
}

/// ConvTranspose's filters are [channel, filter, tap]: brought into the order
/// of the product's rows.
template <typename T>
void reorderFilters(const ConvCall &conv, const Tensor &w, T *filters) {
  int64_t taps = conv.window.kernelPixels();
  for (int64_t g = 0; g < conv.groups; ++g)
    for (int64_t f = 0; f < conv.filters; ++f)
      for (int64_t c = 0; c < conv.channels; ++c)
        loadRow(w, ((g * conv.channels + c) * conv.filters + f) * taps, taps,
                filters + ((g * conv.filters + f) * conv.channels + c) * taps);
}

template <typename T>
absl::Status runTyped(const ConvCall &conv, KernelContext &context, Inputs in,
                      Tensor &out) {
  bool direct =
      in[0].type == (std::is_same_v<T, double> ? DType::F64 : DType::F32);
  ScratchLayout layout;
  size_t images = layout.add<T>(direct ? 0 : in[0].size());
  size_t filters = layout.add<T>(direct && !conv.transposed ? 0 : in[1].size());
  size_t workspace = layout.add<T>(workspaceOf(context, conv));
  SOL_NN_TRY(layout.take(context));
  const T *x = in[0].as<T>(), *w = in[1].as<T>();
  if (!direct) {
    loadRow(in[0], 0, in[0].size(), layout.at<T>(images));
    x = layout.at<T>(images);
  }
  if (conv.transposed)
    reorderFilters(conv, in[1], layout.at<T>(filters));
  else if (!direct)
    loadRow(in[1], 0, in[1].size(), layout.at<T>(filters));
  if (conv.transposed || !direct)
    w = layout.at<T>(filters);
  const Tensor *bias = operandAt(in, 2);
  int64_t pixels = conv.window.outputPixels();
  convolve<T>(context, conv, x, w, layout.at<T>(workspace),
              [&](int64_t image, int64_t filter, int64_t pixel, int64_t count,
                  const T *sums) {
                T values[panelWidth], added = 0;
                if (bias)
                  loadRow(*bias, filter, 1, &added);
                for (int64_t i = 0; i < count; ++i)
                  values[i] = bias ? sums[i] + added : sums[i];
                int64_t plane = image * conv.groups * conv.filters + filter;
                storeRow(values, count, out, plane * pixels + pixel);
              });
  return absl::OkStatus();
}

absl::Status runFloat(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out, bool transposed) {
  SOL_NN_ASSIGN(ConvCall conv, describe(call, in[0], in[1], transposed));
  if (in[0].type == DType::F64)
    return runTyped<double>(conv, context, in, out[0]);
  return runTyped<float>(conv, context, in, out[0]);
}

absl::Status inferConv(const KernelCall &call, Inputs in, Outputs out) {
  return inferFloat(call, in, out, false);
}
absl::Status runConv(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  return runFloat(call, context, in, out, false);
}
absl::Status inferConvTranspose(const KernelCall &call, Inputs in,
                                Outputs out) {
  return inferFloat(call, in, out, true);
}
absl::Status runConvTranspose(const KernelCall &call, KernelContext &context,
                              Inputs in, Outputs out) {
  return runFloat(call, context, in, out, true);
}

//===----------------------------------------------------------------------===//
// ConvInteger and QLinearConv
//===----------------------------------------------------------------------===//

/// The integer operands of both operators.
struct IntegerConv {
  ConvCall conv;
  const Tensor *x = nullptr, *w = nullptr, *xZero = nullptr, *wZero = nullptr;
};

absl::StatusOr<IntegerConv> describeInteger(const KernelCall &call,
                                            const Tensor &x, const Tensor &w,
                                            const Tensor *xZero,
                                            const Tensor *wZero) {
  IntegerConv result{{}, &x, &w, xZero, wZero};
  SOL_NN_TRY(checkType(x, "x", {DType::U8, DType::I8}));
  SOL_NN_TRY(checkType(w, "w", {DType::U8, DType::I8}));
  SOL_NN_ASSIGN(result.conv, describe(call, x, w, false));
  if (xZero) {
    SOL_NN_TRY(checkSameType(*xZero, "x_zero_point", x.type));
    SOL_NN_TRY(checkElements(*xZero, "x_zero_point", 1));
  }
  if (wZero) {
    SOL_NN_TRY(checkSameType(*wZero, "w_zero_point", w.type));
    if (wZero->size() != 1)
      SOL_NN_TRY(checkElements(*wZero, "w_zero_point", w.dims[0]));
  }
  return result;
}

int32_t smallInteger(const Tensor &tensor, int64_t index) {
  return tensor.type == DType::I8 ? int32_t(tensor.as<int8_t>()[index])
                                  : int32_t(tensor.as<uint8_t>()[index]);
}

absl::Status runInteger(const IntegerConv &integer, KernelContext &context,
                        ConvStore<uint32_t> store) {
  const Tensor &x = *integer.x, &w = *integer.w;
  ScratchLayout layout;
  size_t images = layout.add<uint32_t>(x.size());
  size_t filters = layout.add<uint32_t>(w.size());
  size_t workspace = layout.add<uint32_t>(workspaceOf(context, integer.conv));
  SOL_NN_TRY(layout.take(context));
  auto *xs = layout.at<uint32_t>(images);
  auto *ws = layout.at<uint32_t>(filters);
  int32_t zero = integer.xZero ? smallInteger(*integer.xZero, 0) : 0;
  // Padding holds the zero point, so it is 0 after the subtraction.
  for (int64_t i = 0, n = x.size(); i < n; ++i)
    xs[i] = static_cast<uint32_t>(smallInteger(x, i) - zero);
  int64_t perFilter = integer.conv.depth();
  for (int64_t i = 0, n = w.size(); i < n; ++i) {
    const Tensor *zeros = integer.wZero;
    int64_t at = zeros && zeros->size() > 1 ? i / perFilter : 0;
    ws[i] = static_cast<uint32_t>(smallInteger(w, i) -
                                  (zeros ? smallInteger(*zeros, at) : 0));
  }
  convolve<uint32_t>(context, integer.conv, xs, ws,
                     layout.at<uint32_t>(workspace), store);
  return absl::OkStatus();
}

absl::Status inferConvInteger(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 4));
  SOL_NN_ASSIGN(
      IntegerConv integer,
      describeInteger(call, in[0], in[1], operandAt(in, 2), operandAt(in, 3)));
  return setOutput(out, 0, DType::I32, integer.conv.outDims());
}

absl::Status runConvInteger(const KernelCall &call, KernelContext &context,
                            Inputs in, Outputs out) {
  SOL_NN_ASSIGN(
      IntegerConv integer,
      describeInteger(call, in[0], in[1], operandAt(in, 2), operandAt(in, 3)));
  int64_t pixels = integer.conv.window.outputPixels();
  int64_t planes = integer.conv.groups * integer.conv.filters;
  uint32_t *result = out[0].as<uint32_t>();
  return runInteger(integer, context,
                    [&](int64_t image, int64_t filter, int64_t pixel,
                        int64_t count, const uint32_t *sums) {
                      std::copy_n(sums, count,
                                  result + (image * planes + filter) * pixels +
                                      pixel);
                    });
}

absl::StatusOr<IntegerConv> describeQLinear(const KernelCall &call, Inputs in) {
  SOL_NN_TRY(checkCount(in, 8, 9));
  for (size_t i : {1, 4, 6})
    SOL_NN_TRY(checkSameType(in[i], "scale", DType::F32));
  SOL_NN_TRY(checkElements(in[1], "x_scale", 1));
  SOL_NN_TRY(checkElements(in[6], "y_scale", 1));
  SOL_NN_TRY(checkType(in[7], "y_zero_point", {DType::U8, DType::I8}));
  SOL_NN_TRY(checkElements(in[7], "y_zero_point", 1));
  SOL_NN_ASSIGN(IntegerConv integer,
                describeInteger(call, in[0], in[3], &in[2], &in[5]));
  if (in[4].size() != 1)
    SOL_NN_TRY(checkElements(in[4], "w_scale", in[3].dims[0]));
  if (const Tensor *bias = operandAt(in, 8)) {
    SOL_NN_TRY(checkSameType(*bias, "B", DType::I32));
    SOL_NN_TRY(checkElements(*bias, "B", in[3].dims[0]));
  }
  return integer;
}

absl::Status inferQLinearConv(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(IntegerConv integer, describeQLinear(call, in));
  return setOutput(out, 0, in[7].type, integer.conv.outDims());
}

absl::Status runQLinearConv(const KernelCall &call, KernelContext &context,
                            Inputs in, Outputs out) {
  SOL_NN_ASSIGN(IntegerConv integer, describeQLinear(call, in));
  int64_t pixels = integer.conv.window.outputPixels();
  int64_t planes = integer.conv.groups * integer.conv.filters;
  const Tensor *bias = operandAt(in, 8);
  bool isSigned = in[7].type == DType::I8;
  float zero = static_cast<float>(smallInteger(in[7], 0));
  return runInteger(
      integer, context,
      [&](int64_t image, int64_t filter, int64_t pixel, int64_t count,
          const uint32_t *sums) {
        float scale = in[1].as<float>()[0] *
                      in[4].as<float>()[in[4].size() > 1 ? filter : 0] /
                      in[6].as<float>()[0];
        uint32_t added = bias ? bias->as<uint32_t>()[filter] : 0;
        uint8_t *to =
            out[0].as<uint8_t>() + (image * planes + filter) * pixels + pixel;
        for (int64_t i = 0; i < count; ++i) {
          auto sum = static_cast<int32_t>(sums[i] + added);
          float value = roundEven(static_cast<float>(sum) * scale) + zero;
          to[i] = static_cast<uint8_t>(
              clampToInteger(value, isSigned ? -128 : 0, isSigned ? 127 : 255));
        }
      });
}

} // namespace

void registerConvolutionKernels() {
  registerKernel({"onnx.Conv", nullptr, inferConv, runConv});
  registerKernel(
      {"onnx.ConvTranspose", nullptr, inferConvTranspose, runConvTranspose});
  registerKernel(
      {"onnx.ConvInteger", nullptr, inferConvInteger, runConvInteger});
  registerKernel(
      {"onnx.QLinearConv", nullptr, inferQLinearConv, runQLinearConv});
}

} // namespace sol::nn
