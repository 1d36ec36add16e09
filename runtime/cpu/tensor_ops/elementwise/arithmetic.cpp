//===- arithmetic.cpp - sums, products, quotients, powers -----------------===//
//
// Integers wrap. Integer division truncates, and a zero divisor is an error
// that says where.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/tensor_ops/elementwise/maps.h"

#include <atomic>

namespace sol::ops {

namespace {
namespace el = elementary;

template <typename C> constexpr bool isReal = std::is_floating_point_v<C>;

#define SOL_WRAPPING(Name, symbol)                                             \
  struct Name {                                                                \
    template <typename C> C operator()(C a, C b) const {                       \
      if constexpr (isReal<C>)                                                 \
        return a symbol b;                                                     \
      else                                                                     \
        return static_cast<C>(uint64_t(a) symbol uint64_t(b));                 \
    }                                                                          \
  };
SOL_WRAPPING(Add, +)
SOL_WRAPPING(Sub, -)
SOL_WRAPPING(Mul, *)
#undef SOL_WRAPPING

/// Quotients of integers, zero divisors having been refused.
struct Div {
  template <typename C> C operator()(C a, C b) const {
    if constexpr (isReal<C>)
      return a / b;
    else if constexpr (std::is_signed_v<C>)
      return b == C(-1) ? static_cast<C>(-uint64_t(a)) : a / b;
    else
      return a / b;
  }
};

/// The remainder with the sign of the divisor, as Python's `%`.
struct FloorMod {
  template <typename C> C operator()(C a, C b) const {
    if constexpr (isReal<C>) {
      C r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else if constexpr (std::is_signed_v<C>) {
      if (b == C(-1))
        return 0;
      C r = a % b;
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else {
      return a % b;
    }
  }
};

/// The remainder with the sign of the dividend, as C's fmod, which is exact.
struct TruncatedMod {
  template <typename C> C operator()(C a, C b) const {
    if constexpr (isReal<C>)
      return std::fmod(a, b);
    else if constexpr (std::is_signed_v<C>)
      return b == C(-1) ? C(0) : a % b;
    else
      return a % b;
  }
};

absl::Status refuseZeros(const Tensor &divisor) {
  if (isFloat(divisor.type))
    return absl::OkStatus();
  uint64_t buffer[chunkSize];
  int64_t size = divisor.size();
  for (int64_t first = 0; first < size; first += chunkSize) {
    int64_t count = std::min(size - first, chunkSize);
    loadElements(divisor.type, divisor.data, first, count, buffer);
    for (int64_t i = 0; i < count; ++i)
      if (buffer[i] == 0)
        return invalid("integer division by zero: element ", first + i,
                       " of operand `B` of shape ", dimsToString(divisor.dims),
                       " is 0");
  }
  return absl::OkStatus();
}

absl::Status runDiv(const KernelCall &call, KernelContext &context,
                    Inputs inputs, Outputs outputs) {
  if (outputs[0].size() > 0) {
    SOL_NN_TRY(refuseZeros(inputs[1]));
  }
  return runBinary<Div>(call, context, inputs, outputs);
}

absl::Status runMod(const KernelCall &call, KernelContext &context,
                    Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t fmod, call.attributes.integer("fmod", 0));
  if (outputs[0].size() > 0) {
    SOL_NN_TRY(refuseZeros(inputs[1]));
  }
  return fmod ? runBinary<TruncatedMod>(call, context, inputs, outputs)
              : runBinary<FloorMod>(call, context, inputs, outputs);
}

/// base^exponent modulo 2^64; for a negative exponent the truncated fraction.
template <typename C> C integerPower(C base, int64_t exponent) {
  if (exponent < 0)
    return base == C(1) ? C(1)
           : base == C(-1) && std::is_signed_v<C>
               ? (exponent & 1 ? C(-1) : C(1))
               : C(0);
  uint64_t result = 1, power = static_cast<uint64_t>(base);
  for (; exponent; exponent >>= 1, power *= power)
    if (exponent & 1)
      result *= power;
  return static_cast<C>(result);
}

absl::Status inferPow(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(checkDomain(inputs[0], "X", Domain::Numbers));
  SOL_NN_TRY(checkDomain(inputs[1], "Y", Domain::Numbers));
  SOL_NN_ASSIGN(Dims dims, nn::broadcastShapes(inputs[0].dims, inputs[1].dims));
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

/// A real base to one small power, which is what norms and activations ask for:
/// products instead of logarithms.
template <typename C>
bool runFixedPower(KernelContext &context, Inputs inputs, Tensor &output) {
  if (inputs[1].size() != 1)
    return false;
  double exponent;
  loadElements(inputs[1].type, inputs[1].data, 0, 1, &exponent);
  if (exponent == 2.0)
    mapUnary<C>(context, inputs[0], output, cheapGrain,
                [](C x) { return x * x; });
  else if (exponent == 1.0)
    mapUnary<C>(context, inputs[0], output, cheapGrain, [](C x) { return x; });
  else if (exponent == 3.0 && std::is_same_v<C, float>)
    mapUnary<C>(context, inputs[0], output, cheapGrain, [](C x) {
      // Through float64, so that the result is rounded once as for others.
      return static_cast<C>(static_cast<double>(x) * x * x);
    });
  else
    return false;
  return true;
}

absl::Status runPow(const KernelCall &, KernelContext &context, Inputs inputs,
                    Outputs outputs) {
  Tensor &output = outputs[0];
  // A real exponent, or a real base: real powers, in float64.
  if (isFloat(inputs[0].type) || isFloat(inputs[1].type)) {
    bool done = withFloatArithmetic(inputs[0].type, [&](auto arithmetic) {
      using C = typename decltype(arithmetic)::Type;
      return isFloat(inputs[0].type) &&
             runFixedPower<C>(context, inputs, output);
    });
    if (!done)
      mapBinary<double>(context, inputs, output,
                        [](double x, double y) { return el::pow(x, y); });
    return absl::OkStatus();
  }
  withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    if (inputs[1].type == DType::U64)
      mapBinary<C>(context, inputs, output, [](C x, C y) {
        // Beyond 2^63 only the parity and the wrapped product matter; no
        // int64 holds such an exponent, so it is split.
        uint64_t e = static_cast<uint64_t>(y);
        C half = integerPower<C>(x, static_cast<int64_t>(e >> 1));
        uint64_t square = uint64_t(half) * uint64_t(half);
        return static_cast<C>(e & 1 ? square * uint64_t(x) : square);
      });
    else
      mapBinary<C>(context, inputs, output, [](C x, C y) {
        return integerPower<C>(x, static_cast<int64_t>(y));
      });
  });
  return absl::OkStatus();
}

void add(std::string_view name,
         absl::Status (*run)(const KernelCall &, KernelContext &, Inputs,
                             Outputs)) {
  registerKernel({.name = name,
                  .infer = inferBinary<Domain::Numbers>,
                  .run = run,
                  .inPlace = 0});
}
} // namespace

void registerArithmeticKernels() {
  add("onnx.Add", runBinary<Add>);
  add("onnx.Sub", runBinary<Sub>);
  add("onnx.Mul", runBinary<Mul>);
  add("onnx.Div", runDiv);
  add("onnx.Mod", runMod);
  registerKernel(
      {.name = "onnx.Pow", .infer = inferPow, .run = runPow, .inPlace = 0});
}

} // namespace sol::ops
