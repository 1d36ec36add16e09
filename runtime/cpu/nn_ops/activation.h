//===- activation.h - activation functions that products and experts fuse -===//
//
// The functions that FusedGemm, MoE and QMoE name in an attribute, and the
// forms of GELU.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_ACTIVATION_H
#define SOL_RUNTIME_CPU_NN_OPS_ACTIVATION_H

#include "runtime/cpu/elementary.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <string>
#include <string_view>
#include <utility>

namespace sol::nn {

/// x * Phi(x), by the error function.
inline float geluExact(float x) {
  return 0.5f * x * (1.0f + elementary::erf(x * 0.707106781f));
}
/// The tanh form of GELU.
inline float geluTanh(float x) {
  return 0.5f * x *
         (1.0f + elementary::tanh(0.797884561f * (x + 0.044715f * x * x * x)));
}
/// x * sigmoid(alpha * x).
inline float swish(float x, float alpha) {
  return x * elementary::sigmoid(alpha * x);
}

/// One activation with its parameters.
struct Activation {
  enum class Kind {
    None,
    Relu,
    LeakyRelu,
    Tanh,
    Sigmoid,
    Gelu,
    GeluTanh,
    Silu,
    HardSigmoid,
    Elu
  };
  Kind kind = Kind::None;
  float alpha = 0, beta = 0;

  /// Any capitalisation; empty and `identity` mean none.
  absl::Status setKind(std::string_view name) {
    std::string lower;
    for (char c : name)
      lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
    constexpr std::pair<std::string_view, Kind> names[] = {
        {"", Kind::None},     {"identity", Kind::None},
        {"relu", Kind::Relu}, {"leakyrelu", Kind::LeakyRelu},
        {"tanh", Kind::Tanh}, {"sigmoid", Kind::Sigmoid},
        {"gelu", Kind::Gelu}, {"silu", Kind::Silu},
        {"elu", Kind::Elu},   {"hardsigmoid", Kind::HardSigmoid}};
    for (auto [known, value] : names)
      if (lower == known) {
        kind = value;
        return absl::OkStatus();
      }
    return absl::InvalidArgumentError(absl::StrCat(
        "activation `", absl::string_view(name.data(), name.size()),
        "` is not one of relu, leakyrelu, tanh, sigmoid, "
        "gelu, silu, elu, hardsigmoid, identity"));
  }
  float apply(float x) const {
    switch (kind) {
    case Kind::None:
      return x;
    case Kind::Relu:
      return x < 0 ? 0.0f : x;
    case Kind::LeakyRelu:
      return x < 0 ? alpha * x : x;
    case Kind::Tanh:
      return elementary::tanh(x);
    case Kind::Sigmoid:
      return elementary::sigmoid(x);
    case Kind::Gelu:
      return geluExact(x);
    case Kind::GeluTanh:
      return geluTanh(x);
    case Kind::Silu:
      return swish(x, 1);
    case Kind::HardSigmoid: {
      float y = alpha * x + beta;
      return y < 0 ? 0.0f : y > 1 ? 1.0f : y;
    }
    case Kind::Elu:
      return x < 0 ? alpha * static_cast<float>(elementary::expm1(double(x)))
                   : x;
    }
    return x;
  }
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_ACTIVATION_H
