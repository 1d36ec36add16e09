//===- reduce.cpp - the Reduce operators ----------------------------------===//
//
// Axes are merged into [outer, reduced, inner]; where kept and reduced axes
// alternate more than that, the operand is transposed into scratch memory
// first. Narrow floats accumulate in float32 and integers wrap in 64 bits.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/kernel_families.h"
#include "runtime/cpu/tensor_ops/elementwise/maps.h"
#include "runtime/cpu/tensor_ops/reduction/reduction.h"

#include <limits>

namespace sol::ops {

namespace {
template <typename C> constexpr bool isReal = std::is_floating_point_v<C>;
template <typename C> C wrappingSum(C a, C b) {
  if constexpr (isReal<C>)
    return a + b;
  else
    return static_cast<C>(uint64_t(a) + uint64_t(b));
}
template <typename C> C wrappingProduct(C a, C b) {
  if constexpr (isReal<C>)
    return a * b;
  else
    return static_cast<C>(uint64_t(a) * uint64_t(b));
}

// A reduction: the value of nothing, how an element enters, how partial results
// join, and the last step. `real` ones compute integers in float64.
struct Sum {
  static constexpr bool real = false;
  template <typename C> static C nothing() { return 0; }
  template <typename C> static C enter(C x) { return x; }
  template <typename C> static C join(C a, C b) { return wrappingSum(a, b); }
  template <typename C> static C finish(C sum, int64_t) { return sum; }
};
struct Mean : Sum {
  template <typename C> static C finish(C sum, int64_t count) {
    if constexpr (isReal<C>)
      return sum / static_cast<C>(count);
    else
      return count ? sum / static_cast<C>(count) : 0;
  }
};
struct L1 : Sum {
  template <typename C> static C enter(C x) {
    return std::is_signed_v<C> && x < C(0) ? wrappingProduct(x, C(-1)) : x;
  }
};
struct SumSquare : Sum {
  template <typename C> static C enter(C x) { return wrappingProduct(x, x); }
};
struct L2 : Sum {
  static constexpr bool real = true;
  template <typename C> static C enter(C x) { return x * x; }
  template <typename C> static C finish(C sum, int64_t) {
    return elementary::sqrt(sum);
  }
};
struct LogSum : Sum {
  static constexpr bool real = true;
  template <typename C> static C finish(C sum, int64_t) {
    return elementary::log(sum);
  }
};
struct Product : Sum {
  template <typename C> static C nothing() { return 1; }
  template <typename C> static C join(C a, C b) {
    return wrappingProduct(a, b);
  }
};
struct Largest : Sum {
  template <typename C> static C nothing() {
    return isReal<C> ? -std::numeric_limits<C>::infinity()
                     : std::numeric_limits<C>::lowest();
  }
  template <typename C> static C join(C a, C b) {
    return a > b || a != a ? a : b;
  }
};
struct Smallest : Sum {
  template <typename C> static C nothing() {
    return isReal<C> ? std::numeric_limits<C>::infinity()
                     : std::numeric_limits<C>::max();
  }
  template <typename C> static C join(C a, C b) {
    return a < b || a != a ? a : b;
  }
};
struct LogSumExp : Sum {
  static constexpr bool real = true;
};

/// Which axes are reduced.
absl::StatusOr<absl::InlinedVector<bool, 8>> reducedAxes(const KernelCall &call,
                                                         Inputs inputs) {
  int64_t rank = inputs[0].rank();
  absl::InlinedVector<bool, 8> reduced(rank, false);
  Dims named;
  if (const Tensor *operand = nn::operandAt(inputs, 1)) {
    SOL_NN_ASSIGN(named, readIntegers(*operand, "axes"));
  }
  if (named.empty()) {
    SOL_NN_ASSIGN(int64_t noop,
                  call.attributes.integer("noop_with_empty_axes", 0));
    if (!noop)
      reduced.assign(rank, true);
    return reduced;
  }
  SOL_NN_ASSIGN(Dims axes, frontAxes(named, rank));
  for (int64_t axis : axes)
    reduced[axis] = true;
  return reduced;
}

template <Domain domain>
absl::Status inferReduce(const KernelCall &call, Inputs inputs,
                         Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 2));
  SOL_NN_TRY(checkDomain(inputs[0], "data", domain));
  SOL_NN_ASSIGN(auto reduced, reducedAxes(call, inputs));
  SOL_NN_ASSIGN(int64_t keep, call.attributes.integer("keepdims", 1));
  Dims dims;
  for (size_t axis = 0; axis < reduced.size(); ++axis)
    if (!reduced[axis])
      dims.push_back(inputs[0].dims[axis]);
    else if (keep)
      dims.push_back(1);
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

/// The operand, transposed into scratch memory if need be, as [outer, reduced,
/// inner].
absl::StatusOr<AxisView> arrange(KernelContext &context, Tensor &input,
                                 absl::Span<const bool> reduced) {
  // Merge runs of kept and of reduced axes, leaving out those of size 1.
  absl::InlinedVector<std::pair<bool, int64_t>, 8> runs;
  for (size_t axis = 0; axis < reduced.size(); ++axis) {
    int64_t dim = input.dims[axis];
    if (dim == 1)
      continue;
    if (!runs.empty() && runs.back().first == reduced[axis])
      runs.back().second *= dim;
    else
      runs.emplace_back(reduced[axis], dim);
  }
  if (runs.empty())
    return AxisView{1, 1, 1};
  if (runs.size() == 1)
    return runs[0].first ? AxisView{1, runs[0].second, 1}
                         : AxisView{1, 1, runs[0].second};
  if (runs.size() == 2)
    return runs[0].first ? AxisView{1, runs[0].second, runs[1].second}
                         : AxisView{runs[0].second, runs[1].second, 1};
  if (runs.size() == 3 && !runs[0].first)
    return AxisView{runs[0].second, runs[1].second, runs[2].second};
  Dims steps = denseSteps(input.dims);
  StridedView view;
  AxisView result{1, 1, 1};
  for (bool wanted : {false, true})
    for (size_t axis = 0; axis < reduced.size(); ++axis)
      if (reduced[axis] == wanted) {
        view.dims.push_back(input.dims[axis]);
        view.steps.push_back(steps[axis]);
        (wanted ? result.count : result.outer) *= input.dims[axis];
      }
  void *memory = context.scratch(input.bytes());
  if (!memory && input.bytes() > 0)
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for a transposed operand of ", input.bytes(), " bytes"));
  copyStrided(context, input.type, view, input.data, memory);
  input.data = memory;
  return result;
}

template <typename Op, typename C> C joinLanes(const C (&lanes)[8]) {
  return Op::join(
      Op::join(Op::join(lanes[0], lanes[4]), Op::join(lanes[2], lanes[6])),
      Op::join(Op::join(lanes[1], lanes[5]), Op::join(lanes[3], lanes[7])));
}

/// One contiguous row.
template <typename Op, typename C>
C reduceRow(const Tensor &input, int64_t start, int64_t length) {
  C lanes[8], buffer[chunkSize];
  std::fill_n(lanes, 8, Op::template nothing<C>());
  for (int64_t first = 0; first < length; first += chunkSize) {
    int64_t count = std::min(length - first, chunkSize), i = 0;
    const C *x = viewElements(input, start + first, count, buffer);
    for (; i + 8 <= count; i += 8)
      for (int lane = 0; lane < 8; ++lane)
        lanes[lane] = Op::join(lanes[lane], Op::enter(x[i + lane]));
    for (; i < count; ++i)
      lanes[i % 8] = Op::join(lanes[i % 8], Op::enter(x[i]));
  }
  return joinLanes<Op>(lanes);
}

/// `width` neighbouring columns at once; lanes as in reduceRow.
template <typename Op, typename C>
void reduceColumns(const Tensor &input, int64_t start, int64_t length,
                   int64_t step, int64_t width, C *results) {
  constexpr int64_t most = 64;
  C lanes[8][most], buffer[most];
  for (auto &lane : lanes)
    std::fill_n(lane, most, Op::template nothing<C>());
  for (int64_t i = 0; i < length; ++i) {
    const C *x = viewElements(input, start + i * step, width, buffer);
    C *lane = lanes[i % 8];
    for (int64_t j = 0; j < width; ++j)
      lane[j] = Op::join(lane[j], Op::enter(x[j]));
  }
  for (int64_t j = 0; j < width; ++j) {
    C column[8];
    for (int lane = 0; lane < 8; ++lane)
      column[lane] = lanes[lane][j];
    results[j] = joinLanes<Op>(column);
  }
}

template <typename Op, typename C>
void reduceAll(KernelContext &context, const Tensor &input,
               const AxisView &view, Tensor &output) {
  if (view.inner == 1) {
    context.parallelFor(
        view.outer, rowGrain(view, cheapGrain),
        [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            C value = Op::finish(
                reduceRow<Op, C>(input, row * view.count, view.count),
                view.count);
            storeElements(output.type, &value, 1, output.data, row);
          }
        });
    return;
  }
  constexpr int64_t most = 64;
  int64_t blocks = (view.inner + most - 1) / most;
  context.parallelFor(
      view.outer * blocks, rowGrain(view, cheapGrain / most),
      [&](int64_t begin, int64_t end) {
        C values[most];
        for (int64_t block = begin; block < end; ++block) {
          int64_t column = block % blocks * most, outer = block / blocks;
          int64_t width = std::min(most, view.inner - column);
          reduceColumns<Op, C>(input, outer * view.count * view.inner + column,
                               view.count, view.inner, width, values);
          for (int64_t j = 0; j < width; ++j)
            values[j] = Op::finish(values[j], view.count);
          storeElements(output.type, values, width, output.data,
                        outer * view.inner + column);
        }
      });
}

/// log(sum(exp(x))), the largest element taken out first.
template <typename C>
void logSumExp(KernelContext &context, const Tensor &input,
               const AxisView &view, Tensor &output) {
  context.parallelFor(
      view.rows(), rowGrain(view, costlyGrain),
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          auto at = [&](int64_t i) {
            C x;
            loadElements(input.type, input.data,
                         view.start(row) + i * view.inner, 1, &x);
            return x;
          };
          C largest = Largest::nothing<C>();
          for (int64_t i = 0; i < view.count; ++i)
            largest = Largest::join(largest, at(i));
          // An infinite maximum would only make NaNs of the differences.
          C shift = std::fabs(largest) < std::numeric_limits<C>::infinity()
                        ? largest
                        : C(0);
          C lanes[8] = {};
          for (int64_t i = 0; i < view.count; ++i)
            lanes[i % 8] += elementary::exp(at(i) - shift);
          C value = elementary::log(joinLanes<Sum>(lanes)) + shift;
          storeElements(output.type, &value, 1, output.data, row);
        }
      });
}

template <typename Op>
absl::Status runReduce(const KernelCall &call, KernelContext &context,
                       Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(auto reduced, reducedAxes(call, inputs));
  if (outputs[0].size() == 0)
    return absl::OkStatus();
  Tensor input = inputs[0];
  SOL_NN_ASSIGN(AxisView view, arrange(context, input, reduced));
  withArithmetic(input.type, [&](auto arithmetic) {
    using Exact = typename decltype(arithmetic)::Type;
    using C = std::conditional_t<Op::real && std::is_integral_v<Exact>, double,
                                 Exact>;
    if constexpr (std::is_same_v<Op, LogSumExp>)
      logSumExp<C>(context, input, view, outputs[0]);
    else
      reduceAll<Op, C>(context, input, view, outputs[0]);
  });
  return absl::OkStatus();
}

template <typename Op, Domain domain = Domain::Numbers>
void add(std::string_view name) {
  registerKernel(
      {.name = name, .infer = inferReduce<domain>, .run = runReduce<Op>});
}
} // namespace

void registerReduceKernels() {
  add<Sum>("onnx.ReduceSum");
  add<Mean>("onnx.ReduceMean");
  add<Largest, Domain::NumbersAndBools>("onnx.ReduceMax");
  add<Smallest, Domain::NumbersAndBools>("onnx.ReduceMin");
  add<Product>("onnx.ReduceProd");
  add<L1>("onnx.ReduceL1");
  add<L2>("onnx.ReduceL2");
  add<SumSquare>("onnx.ReduceSumSquare");
  add<LogSum>("onnx.ReduceLogSum");
  add<LogSumExp>("onnx.ReduceLogSumExp");
}

} // namespace sol::ops

namespace sol {
void registerReductionKernels() {
  ops::registerReduceKernels();
  ops::registerArgumentKernels();
  ops::registerScanKernels();
  ops::registerSoftmaxKernels();
  ops::registerEinsumKernels();
}
} // namespace sol
