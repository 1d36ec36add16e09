//===- unary.cpp - functions of one number --------------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/tensor_ops/elementwise/maps.h"

namespace sol::ops {

namespace {
namespace el = elementary;

template <typename C> constexpr bool isReal = std::is_floating_point_v<C>;

struct Abs {
  template <typename C> C operator()(C x) const {
    if constexpr (isReal<C>)
      return std::fabs(x);
    else if constexpr (std::is_signed_v<C>)
      return x < 0 ? static_cast<C>(-static_cast<uint64_t>(x)) : x;
    else
      return x;
  }
};
struct Neg {
  template <typename C> C operator()(C x) const {
    if constexpr (isReal<C>)
      return -x;
    else
      return static_cast<C>(-static_cast<uint64_t>(x));
  }
};
struct Sign {
  template <typename C> C operator()(C x) const {
    if constexpr (isReal<C>)
      return x > 0 ? C(1) : x < 0 ? C(-1) : x; // keeps zero and NaN
    else
      return static_cast<C>((x > 0) - (std::is_signed_v<C> && x < C(0)));
  }
};
struct Reciprocal {
  template <typename C> C operator()(C x) const { return C(1) / x; }
};
struct Round {
  template <typename C> C operator()(C x) const { return std::nearbyint(x); }
};

#define SOL_FUNCTION(Name, expression)                                         \
  struct Name {                                                                \
    template <typename C> C operator()(C x) const { return expression; }       \
  };
SOL_FUNCTION(Ceil, std::ceil(x))
SOL_FUNCTION(Floor, std::floor(x))
SOL_FUNCTION(Sqrt, el::sqrt(x))
SOL_FUNCTION(Exp, el::exp(x))
SOL_FUNCTION(Log, el::log(x))
SOL_FUNCTION(Sin, el::sin(x))
SOL_FUNCTION(Cos, el::cos(x))
SOL_FUNCTION(Tan, el::tan(x))
SOL_FUNCTION(Sinh, el::sinh(x))
SOL_FUNCTION(Cosh, el::cosh(x))
SOL_FUNCTION(Tanh, el::tanh(x))
SOL_FUNCTION(Asin, el::asin(x))
SOL_FUNCTION(Acos, el::acos(x))
SOL_FUNCTION(Atan, el::atan(x))
SOL_FUNCTION(Asinh, el::asinh(x))
SOL_FUNCTION(Acosh, el::acosh(x))
SOL_FUNCTION(Atanh, el::atanh(x))
SOL_FUNCTION(Erf, el::erf(x))
#undef SOL_FUNCTION

/// Integers in, integers out: Ceil, Floor, Round leave them alone in none of
/// ONNX's versions, so they take floats only; Erf takes any number.
absl::Status runErf(const KernelCall &call, KernelContext &context,
                    Inputs inputs, Outputs outputs) {
  if (isFloat(inputs[0].type))
    return runFloatUnary<Erf>(call, context, inputs, outputs);
  mapUnary<double>(context, inputs[0], outputs[0], costlyGrain,
                   [](double x) { return el::erf(x); });
  return absl::OkStatus();
}

absl::Status inferClassify(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  if (!isFloat(inputs[0].type))
    return invalid("operand `X` has element type ",
                   std::string(dtypeName(inputs[0].type)),
                   ", expected a floating-point type");
  return nn::setOutput(outputs, 0, DType::Bool, inputs[0].dims);
}

template <typename Test>
absl::Status classify(KernelContext &context, Inputs inputs, Outputs outputs,
                      Test test) {
  withFloatArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    mapUnary<C, uint64_t>(context, inputs[0], outputs[0], cheapGrain,
                          [test](C x) { return uint64_t(test(x)); });
  });
  return absl::OkStatus();
}

absl::Status runIsNaN(const KernelCall &, KernelContext &context, Inputs inputs,
                      Outputs outputs) {
  return classify(context, inputs, outputs, [](auto x) { return x != x; });
}

absl::Status runIsInf(const KernelCall &call, KernelContext &context,
                      Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t negative,
                call.attributes.integer("detect_negative", 1));
  SOL_NN_ASSIGN(int64_t positive,
                call.attributes.integer("detect_positive", 1));
  return classify(context, inputs, outputs, [=](auto x) {
    constexpr auto infinity = std::numeric_limits<decltype(x)>::infinity();
    return (positive && x == infinity) || (negative && x == -infinity);
  });
}

template <typename Op> void addFloat(std::string_view name) {
  registerKernel({.name = name,
                  .infer = inferUnary<Domain::Floats>,
                  .run = runFloatUnary<Op>,
                  .inPlace = 0});
}
template <typename Op> void addNumber(std::string_view name) {
  registerKernel({.name = name,
                  .infer = inferUnary<Domain::Numbers>,
                  .run = runUnary<Op>,
                  .inPlace = 0});
}
} // namespace

void registerUnaryKernels() {
  addNumber<Abs>("onnx.Abs");
  addNumber<Neg>("onnx.Neg");
  addNumber<Sign>("onnx.Sign");
  addFloat<Ceil>("onnx.Ceil");
  addFloat<Floor>("onnx.Floor");
  addFloat<Round>("onnx.Round");
  addFloat<Reciprocal>("onnx.Reciprocal");
  addFloat<Sqrt>("onnx.Sqrt");
  addFloat<Exp>("onnx.Exp");
  addFloat<Log>("onnx.Log");
  addFloat<Sin>("onnx.Sin");
  addFloat<Cos>("onnx.Cos");
  addFloat<Tan>("onnx.Tan");
  addFloat<Sinh>("onnx.Sinh");
  addFloat<Cosh>("onnx.Cosh");
  addFloat<Tanh>("onnx.Tanh");
  addFloat<Asin>("onnx.Asin");
  addFloat<Acos>("onnx.Acos");
  addFloat<Atan>("onnx.Atan");
  addFloat<Asinh>("onnx.Asinh");
  addFloat<Acosh>("onnx.Acosh");
  addFloat<Atanh>("onnx.Atanh");
  registerKernel({.name = "onnx.Erf",
                  .infer = inferUnary<Domain::Numbers>,
                  .run = runErf,
                  .inPlace = 0});
  registerKernel(
      {.name = "onnx.IsNaN", .infer = inferClassify, .run = runIsNaN});
  registerKernel(
      {.name = "onnx.IsInf", .infer = inferClassify, .run = runIsInf});
}

} // namespace sol::ops
