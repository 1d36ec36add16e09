//===- activation.cpp - activation functions ------------------------------===//
//
// As the ONNX operator texts define them, with their default parameters.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/tensor_ops/elementwise/maps.h"

namespace sol::ops {

namespace {
namespace el = elementary;

struct Sigmoid {
  template <typename C> C operator()(C x) const { return el::sigmoid(x); }
};
struct Softplus {
  template <typename C> C operator()(C x) const {
    // log(1 + e^x) without overflow.
    return (x > 0 ? x : C(0)) + el::log1p(el::exp(-std::fabs(x))) +
           (x != x ? x : C(0));
  }
};
struct Softsign {
  template <typename C> C operator()(C x) const {
    return x / (C(1) + std::fabs(x));
  }
};
struct Mish {
  template <typename C> C operator()(C x) const {
    return x * el::tanh(Softplus()(x));
  }
};
struct HardSwish {
  template <typename C> C operator()(C x) const {
    C gate = x / C(6) + C(0.5);
    return x * (gate < 0 ? C(0) : gate > 1 ? C(1) : gate);
  }
};
struct Relu {
  template <typename C> C operator()(C x) const {
    return x < C(0) ? C(0) : x; // NaN stays
  }
};
struct GeluExact {
  template <typename C> C operator()(C x) const {
    return C(0.5) * x * (C(1) + el::erf(x * C(0.70710678118654752)));
  }
};
struct GeluTanh {
  template <typename C> C operator()(C x) const {
    C inner = C(0.79788456080286536) * (x + C(0.044715) * (x * x * x));
    return C(0.5) * x * (C(1) + el::tanh(inner));
  }
};

/// An operator of `alpha` and another parameter, which few have.
template <typename Op> struct Parameters {
  float alpha = 0, beta = 0;
  static absl::StatusOr<Op> read(const Attributes &attributes,
                                 std::string_view first, float alpha,
                                 std::string_view second = "", float beta = 0) {
    Op op;
    SOL_NN_ASSIGN(op.alpha, attributes.real(first, alpha));
    if (!second.empty()) {
      SOL_NN_ASSIGN(op.beta, attributes.real(second, beta));
    }
    return op;
  }
};

struct HardSigmoid : Parameters<HardSigmoid> {
  static absl::StatusOr<HardSigmoid> from(const Attributes &attributes) {
    return read(attributes, "alpha", 0.2f, "beta", 0.5f);
  }
  template <typename C> C operator()(C x) const {
    C y = C(alpha) * x + C(beta);
    return y < 0 ? C(0) : y > 1 ? C(1) : y;
  }
};
struct Swish : Parameters<Swish> {
  static absl::StatusOr<Swish> from(const Attributes &attributes) {
    return read(attributes, "alpha", 1.0f);
  }
  template <typename C> C operator()(C x) const {
    return x * el::sigmoid(C(alpha) * x);
  }
};
struct LeakyRelu : Parameters<LeakyRelu> {
  static absl::StatusOr<LeakyRelu> from(const Attributes &attributes) {
    return read(attributes, "alpha", 0.01f);
  }
  template <typename C> C operator()(C x) const {
    return x < 0 ? C(alpha) * x : x;
  }
};
struct ThresholdedRelu : Parameters<ThresholdedRelu> {
  static absl::StatusOr<ThresholdedRelu> from(const Attributes &attributes) {
    return read(attributes, "alpha", 1.0f);
  }
  template <typename C> C operator()(C x) const {
    return x <= C(alpha) ? C(0) : x;
  }
};
struct Elu : Parameters<Elu> {
  static absl::StatusOr<Elu> from(const Attributes &attributes) {
    return read(attributes, "alpha", 1.0f);
  }
  template <typename C> C operator()(C x) const {
    return x < 0 ? C(alpha) * el::expm1(x) : x;
  }
};
struct Celu : Parameters<Celu> {
  static absl::StatusOr<Celu> from(const Attributes &attributes) {
    return read(attributes, "alpha", 1.0f);
  }
  template <typename C> C operator()(C x) const {
    return x < 0 ? C(alpha) * el::expm1(x / C(alpha)) : x;
  }
};
struct Selu : Parameters<Selu> {
  static absl::StatusOr<Selu> from(const Attributes &attributes) {
    return read(attributes, "alpha", 1.67326319217681884765625f, "gamma",
                1.05070102214813232421875f);
  }
  template <typename C> C operator()(C x) const {
    return C(beta) * (x <= 0 ? C(alpha) * el::expm1(x) : x);
  }
};
struct Shrink : Parameters<Shrink> {
  static absl::StatusOr<Shrink> from(const Attributes &attributes) {
    return read(attributes, "lambd", 0.5f, "bias", 0.0f);
  }
  template <typename C> C operator()(C x) const {
    // Integers too are compared and shifted as real numbers.
    using R = std::conditional_t<std::is_integral_v<C>, double, C>;
    R value = static_cast<R>(x);
    if (value < -R(alpha))
      return static_cast<C>(value + R(beta));
    return value > R(alpha) ? static_cast<C>(value - R(beta)) : C(0);
  }
};

absl::Status runGelu(const KernelCall &call, KernelContext &context,
                     Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(std::string approximate,
                call.attributes.text("approximate", "none"));
  if (approximate == "tanh")
    return runFloatUnary<GeluTanh>(call, context, inputs, outputs);
  if (approximate == "none")
    return runFloatUnary<GeluExact>(call, context, inputs, outputs);
  return invalid("attribute `approximate` is `", approximate,
                 "`, expected `none` or `tanh`");
}

template <typename Op> void addFloat(std::string_view name) {
  registerKernel({.name = name,
                  .infer = inferUnary<Domain::Floats>,
                  .run = runFloatUnary<Op>,
                  .inPlace = 0});
}

/// Swish of one operand times the other, rounded once.
struct SwiGlu : Parameters<SwiGlu> {
  static absl::StatusOr<SwiGlu> from(const Attributes &attributes) {
    return read(attributes, "alpha", 1.0f);
  }
  template <typename C> C operator()(C a, C b) const {
    if constexpr (std::is_floating_point_v<C>)
      return a * el::sigmoid(C(alpha) * a) * b;
    else
      return a; // inference admits floats alone
  }
};

absl::Status inferSwiGlu(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(checkDomain(inputs[0], "A", Domain::Floats));
  SOL_NN_TRY(nn::checkSameType(inputs[1], "B", inputs[0].type));
  SOL_NN_TRY(nn::checkDims(inputs[1], "B", inputs[0].dims));
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}

struct PRelu {
  template <typename C> C operator()(C x, C slope) const {
    if constexpr (std::is_floating_point_v<C>)
      return x < 0 ? x * slope : x;
    else
      return std::is_signed_v<C> && x < C(0)
                 ? static_cast<C>(uint64_t(x) * uint64_t(slope))
                 : x;
  }
};

absl::Status inferPRelu(const KernelCall &, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(checkDomain(inputs[0], "X", Domain::Numbers));
  SOL_NN_TRY(nn::checkSameType(inputs[1], "slope", inputs[0].type));
  SOL_NN_TRY(
      nn::broadcastSteps(inputs[1].dims, inputs[0].dims, "slope").status());
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[0].dims);
}
} // namespace

void registerActivationKernels() {
  addFloat<Sigmoid>("onnx.Sigmoid");
  addFloat<Softplus>("onnx.Softplus");
  addFloat<Softsign>("onnx.Softsign");
  addFloat<Mish>("onnx.Mish");
  addFloat<HardSwish>("onnx.HardSwish");
  addFloat<HardSigmoid>("onnx.HardSigmoid");
  addFloat<Swish>("onnx.Swish");
  addFloat<LeakyRelu>("onnx.LeakyRelu");
  addFloat<ThresholdedRelu>("onnx.ThresholdedRelu");
  addFloat<Elu>("onnx.Elu");
  addFloat<Celu>("onnx.Celu");
  addFloat<Selu>("onnx.Selu");
  registerKernel({.name = "onnx.Relu",
                  .infer = inferUnary<Domain::Numbers>,
                  .run = runUnary<Relu>,
                  .inPlace = 0});
  registerKernel({.name = "onnx.Shrink",
                  .infer = inferUnary<Domain::Numbers>,
                  .run = runUnary<Shrink>,
                  .inPlace = 0});
  registerKernel({.name = "onnx.Gelu",
                  .infer = inferUnary<Domain::Floats>,
                  .run = runGelu,
                  .inPlace = 0});
  registerKernel({.name = "onnx.SwiGLU",
                  .infer = inferSwiGlu,
                  .run = runBinary<SwiGlu>,
                  .inPlace = 0});
  registerKernel({.name = "onnx.PRelu",
                  .infer = inferPRelu,
                  .run = runBinary<PRelu>,
                  .inPlace = 0});
}

} // namespace sol::ops
