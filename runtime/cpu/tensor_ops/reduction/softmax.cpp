//===- softmax.cpp - Softmax, LogSoftmax, Hardmax -------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/tensor_ops/elementwise/maps.h"
#include "runtime/cpu/tensor_ops/reduction/reduction.h"

#include <limits>

namespace sol::ops {

namespace {
absl::Status inferRows(const KernelCall &call, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  SOL_NN_TRY(checkDomain(inputs[0], "input", Domain::Floats));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));
  SOL_NN_TRY(nn::frontAxis(axis, inputs[0].rank()).status());
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

template <typename C> C largestOf(const C *x, int64_t count) {
  // NaN need not win here: it spoils the sum anyway.
  C lanes[8];
  std::fill_n(lanes, 8, -std::numeric_limits<C>::infinity());
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int lane = 0; lane < 8; ++lane)
      lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
  for (; i < count; ++i)
    lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
  return *std::max_element(lanes, lanes + 8);
}

template <typename C> C sumOf(const C *x, int64_t count) {
  C lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int lane = 0; lane < 8; ++lane)
      lanes[lane] += x[i + lane];
  for (; i < count; ++i)
    lanes[i % 8] += x[i];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

struct Softmax {
  template <typename C> static void row(C *x, C *, int64_t count) {
    C largest = largestOf(x, count);
    for (int64_t i = 0; i < count; ++i)
      x[i] = elementary::exp(x[i] - largest);
    C sum = sumOf(x, count);
    for (int64_t i = 0; i < count; ++i)
      x[i] /= sum;
  }
};
struct LogSoftmax {
  template <typename C> static void row(C *x, C *terms, int64_t count) {
    C largest = largestOf(x, count);
    for (int64_t i = 0; i < count; ++i) {
      x[i] -= largest;
      terms[i] = elementary::exp(x[i]);
    }
    C logarithm = elementary::log(sumOf(terms, count));
    for (int64_t i = 0; i < count; ++i)
      x[i] -= logarithm;
  }
};
struct Hardmax {
  template <typename C> static void row(C *x, C *, int64_t count) {
    int64_t best = std::max_element(x, x + count) - x;
    std::fill_n(x, count, C(0));
    x[best] = 1;
  }
};

template <typename Op>
absl::Status runRows(const KernelCall &call, KernelContext &context,
                     Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  if (outputs[0].size() == 0)
    return absl::OkStatus();
  AxisView view = viewAlong(inputs[0].dims, axis);
  withFloatArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    context.parallelFor(view.rows(), rowGrain(view, costlyGrain),
                        [&](int64_t begin, int64_t end) {
                          absl::InlinedVector<C, 2048> values(2 * view.count);
                          C *x = values.data();
                          for (int64_t row = begin; row < end; ++row) {
                            loadRow(inputs[0], view, row, x);
                            Op::row(x, x + view.count, view.count);
                            storeRow(x, outputs[0], view, row);
                          }
                        });
  });
  return absl::OkStatus();
}

template <typename Op> void add(std::string_view name) {
  registerKernel(
      {.name = name, .infer = inferRows, .run = runRows<Op>, .inPlace = 0});
}
} // namespace

void registerSoftmaxKernels() {
  add<Softmax>("onnx.Softmax");
  add<LogSoftmax>("onnx.LogSoftmax");
  add<Hardmax>("onnx.Hardmax");
}

} // namespace sol::ops
