//===- pool.cpp - pools over sliding windows ------------------------------===//
//
// MaxPool (with indices), AveragePool, LpPool and the global pools: one output
// pixel at a time.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/nn_ops/convolution/families.h"
#include "runtime/cpu/nn_ops/convolution/window.h"
#include "runtime/cpu/nn_ops/elements.h"

#include <limits>

namespace sol::nn {
namespace {

enum class Kind { Max, Average, Lp };

struct PoolCall {
  Window window;
  Kind kind = Kind::Max;
  int64_t planes = 0, power = 2;
  bool countPadding = false, columnMajor = false;
};

absl::StatusOr<PoolCall> describe(const KernelCall &call, Inputs in, Kind kind,
                                  bool global) {
  PoolCall pool;
  pool.kind = kind;
  SOL_NN_TRY(checkCount(in, 1, 1));
  const Tensor &x = in[0];
  SOL_NN_TRY(checkRank(x, "X", 3, 16));
  if (kind == Kind::Max && !global) {
    SOL_NN_TRY(checkType(x, "X",
                         {DType::F32, DType::F16, DType::BF16, DType::F64,
                          DType::I8, DType::U8}));
  } else {
    SOL_NN_TRY(checkFloat(x, "X"));
  }
  pool.planes = x.dims[0] * x.dims[1];
  absl::Span<const int64_t> input = absl::MakeSpan(x.dims).subspan(2);
  if (global) {
    pool.window.input = pool.window.kernel = Dims(input.begin(), input.end());
    size_t rank = input.size();
    pool.window.output = pool.window.strides = pool.window.dilations =
        Dims(rank, 1);
    pool.window.before = pool.window.after = Dims(rank, 0);
  } else {
    SOL_NN_ASSIGN(absl::Span<const int64_t> kernel,
                  call.attributes.integers("kernel_shape"));
    SOL_NN_ASSIGN(pool.window, Window::create(call, input, kernel));
  }
  SOL_NN_ASSIGN(pool.power, call.attributes.integer("p", 2));
  if (kind == Kind::Lp && pool.power <= 0)
    return invalid("attribute `p` is ", pool.power, ", must be positive");
  SOL_NN_ASSIGN(int64_t counted,
                call.attributes.integer("count_include_pad", 0));
  SOL_NN_ASSIGN(int64_t order, call.attributes.integer("storage_order", 0));
  pool.countPadding = counted != 0;
  pool.columnMajor = order != 0;
  return pool;
}

absl::Status infer(const KernelCall &call, Inputs in, Outputs out, Kind kind,
                   bool global) {
  SOL_NN_ASSIGN(PoolCall pool, describe(call, in, kind, global));
  Dims dims = {in[0].dims[0], in[0].dims[1]};
  dims.insert(dims.end(), pool.window.output.begin(), pool.window.output.end());
  SOL_NN_TRY(setOutput(out, 0, in[0].type, dims));
  if (kind != Kind::Max && outputAt(out, 1))
    return invalid("only MaxPool has a second output");
  return setOutput(out, 1, DType::I64, dims);
}

/// Positions of a window that lie on the input or its declared padding: a
/// window that begins inside may hang over the end when sizes are rounded up.
int64_t countWithPadding(const Window &window, int64_t pixel) {
  int64_t count = 1;
  for (size_t i = window.rank(); i-- > 0;) {
    int64_t start = pixel % window.output[i] * window.strides[i];
    int64_t end = window.input[i] + window.before[i] + window.after[i];
    int64_t inside = 0;
    for (int64_t k = 0; k < window.kernel[i]; ++k)
      inside += start + k * window.dilations[i] < end;
    count *= inside;
    pixel /= window.output[i];
  }
  return count;
}

/// Number of a pixel with its spatial axes reversed.
int64_t columnMajorPixel(const Window &window, int64_t pixel) {
  int64_t result = 0, step = elementCount(window.input);
  for (size_t i = window.rank(); i-- > 0;) {
    step /= window.input[i];
    result += pixel % window.input[i] * step;
    pixel /= window.input[i];
  }
  return result;
}

template <typename T> T absolutePower(T value, int64_t power) {
  T base = std::abs(value), result = 1;
  for (int64_t i = 0; i < power; ++i)
    result *= base;
  return result;
}

template <typename T> struct Pooled {
  T value;
  int64_t pixel; ///< of the maximum
};

template <typename T>
Pooled<T> poolOne(const PoolCall &pool, const Tensor &x, int64_t plane,
                  int64_t pixel) {
  const Window &window = pool.window;
  int64_t first = plane * window.inputPixels(), seen = 0, best = 0;
  T sum = 0, most = -std::numeric_limits<T>::infinity();
  for (int64_t k = 0, taps = window.kernelPixels(); k < taps; ++k) {
    int64_t at = window.inputPixel(k, pixel);
    if (at < 0)
      continue;
    T value;
    loadRow(x, first + at, 1, &value);
    if (seen == 0 || value > most || (value != value && most == most)) {
      most = value;
      best = at;
    }
    sum += pool.kind == Kind::Lp ? absolutePower(value, pool.power) : value;
    ++seen;
  }
  if (pool.kind == Kind::Max)
    return {most, best};
  if (pool.kind == Kind::Lp)
    return {pool.power == 1   ? sum
            : pool.power == 2 ? std::sqrt(sum)
                              : elementary::pow(sum, T(1) / T(pool.power)),
            0};
  int64_t count = pool.countPadding ? countWithPadding(window, pixel) : seen;
  return {sum / static_cast<T>(count), 0};
}

template <typename T>
void runAll(const PoolCall &pool, KernelContext &context, Inputs in,
            Outputs out) {
  int64_t pixels = pool.window.outputPixels();
  bool isSmall = isInteger(in[0].type);
  context.parallelFor(pool.planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin * pixels; n < end * pixels; ++n) {
      int64_t plane = n / pixels;
      Pooled<T> result = poolOne<T>(pool, in[0], plane, n % pixels);
      if (isSmall)
        out[0].as<uint8_t>()[n] =
            static_cast<uint8_t>(static_cast<int32_t>(result.value));
      else
        storeRow(&result.value, 1, out[0], n);
      if (Tensor *indices = outputAt(out, 1))
        indices->as<int64_t>()[n] =
            plane * pool.window.inputPixels() +
            (pool.columnMajor ? columnMajorPixel(pool.window, result.pixel)
                              : result.pixel);
    }
  });
}

template <Kind kind, bool global>
absl::Status inferPool(const KernelCall &call, Inputs in, Outputs out) {
  return infer(call, in, out, kind, global);
}

template <Kind kind, bool global>
absl::Status runPool(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  SOL_NN_ASSIGN(PoolCall pool, describe(call, in, kind, global));
  if (in[0].type == DType::F64)
    runAll<double>(pool, context, in, out);
  else
    runAll<float>(pool, context, in, out);
  return absl::OkStatus();
}

template <Kind kind, bool global> void add(std::string_view name) {
  registerKernel(
      {name, nullptr, inferPool<kind, global>, runPool<kind, global>});
}

} // namespace

void registerPoolKernels() {
  add<Kind::Max, false>("onnx.MaxPool");
  add<Kind::Average, false>("onnx.AveragePool");
  add<Kind::Lp, false>("onnx.LpPool");
  add<Kind::Max, true>("onnx.GlobalMaxPool");
  add<Kind::Average, true>("onnx.GlobalAveragePool");
  add<Kind::Lp, true>("onnx.GlobalLpPool");
}

} // namespace sol::nn
