//===- elementary.h - exp, sin and their kind, the same on every host -----===//
//
// No result may depend on the host's libm, so these use only operations that
// IEEE 754 rounds exactly. float64 errors are below 4 units in the last place.
// The float32 exp, sigmoid, tanh and erf (at most 2.5 units) are free of
// branches and written out here, so that loops over them vectorise; the other
// float32 functions round the float64 one, which is right but for rare ties.
// Infinities, NaN and denormals follow IEEE 754 and C.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_ELEMENTARY_H
#define SOL_RUNTIME_CPU_ELEMENTARY_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace sol::elementary {

double exp(double x);
double expm1(double x);
double log(double x);
double log1p(double x);
double sin(double x); ///< any finite argument is reduced exactly
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double sinh(double x);
double cosh(double x);
double tanh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);
double erf(double x);
double pow(double x, double y); ///< special cases as C's Annex F lists them

inline double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
inline double sqrt(double x) { return std::sqrt(x); }

/// 2 to the power `exponent`, which must lie in [-126, 127].
inline float exp2Integer(int32_t exponent) {
  return std::bit_cast<float>((exponent + 127) << 23);
}

inline float exp(float x) {
  // Beyond these bounds the result is 0 or infinity; NaN becomes the lower one
  // here and is put back at the end.
  float clamped = x > -104.0f ? x : -104.0f;
  clamped = clamped < 89.0f ? clamped : 89.0f;
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  constexpr float magic = 0x1.8p23f;
  float shifted = clamped * 0x1.715476p0f + magic;
  int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(magic);
  float whole = shifted - magic;
  float r = clamped - whole * 0x1.62e4p-1f - whole * 1.42860682e-6f;
  float p = 1.392677634e-3f;
  p = p * r + 8.363255675e-3f;
  p = p * r + 4.166654955e-2f;
  p = p * r + 1.666657653e-1f;
  p = p * r + 0.5f;
  p = 1.0f + (r + p * (r * r));
  // Two factors, as the result may be denormal; only the second one rounds.
  int32_t half = n >> 1;
  float result = p * exp2Integer(half) * exp2Integer(n - half);
  return x != x ? x : result;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

inline float tanh(float x) {
  float a = std::fabs(x), z = x * x;
  float p = -6.610227825e-3f;
  p = p * z + 2.130938866e-2f;
  p = p * z - 5.390942883e-2f;
  p = p * z + 1.333311373e-1f;
  p = p * z - 3.333333201e-1f;
  float small = std::copysign(x + x * (z * p), x);
  float large = std::copysign(1.0f - 2.0f / (exp(2.0f * a) + 1.0f), x);
  return a < 0.55f ? small : x != x ? x : large;
}

inline float erf(float x) {
  float a = std::fabs(x), z = x * x;
  float p = -6.102687034e-4f;
  p = p * z + 5.014484151e-3f;
  p = p * z - 2.678071913e-2f;
  p = p * z + 1.128219409e-1f;
  p = p * z - 3.76125288e-1f;
  float small = x * (p * z) + x * 1.128379155f;
  // From 4 on, erf rounds to 1; in between, 1 - exp(log(erfc(x))).
  float t = a < 4.0f ? a : 4.0f;
  float q = 1.643063656e-6f;
  q = q * t - 4.616385863e-5f;
  q = q * t + 5.975857702e-4f;
  q = q * t - 4.762625833e-3f;
  q = q * t + 2.642763715e-2f;
  q = q * t - 1.100871665e-1f;
  q = q * t - 6.318239181e-1f;
  q = q * t - 1.130231055f;
  q = q * t + 3.185396624e-4f;
  float large = std::copysign(1.0f - exp(q), x);
  return a < 0.9f ? small : x != x ? x : large;
}

#define SOL_ROUND_FROM_DOUBLE(function)                                        \
  inline float function(float x) {                                             \
    return static_cast<float>(function(static_cast<double>(x)));               \
  }
SOL_ROUND_FROM_DOUBLE(expm1)
SOL_ROUND_FROM_DOUBLE(log)
SOL_ROUND_FROM_DOUBLE(log1p)
SOL_ROUND_FROM_DOUBLE(sin)
SOL_ROUND_FROM_DOUBLE(cos)
SOL_ROUND_FROM_DOUBLE(tan)
SOL_ROUND_FROM_DOUBLE(asin)
SOL_ROUND_FROM_DOUBLE(acos)
SOL_ROUND_FROM_DOUBLE(atan)
SOL_ROUND_FROM_DOUBLE(sinh)
SOL_ROUND_FROM_DOUBLE(cosh)
SOL_ROUND_FROM_DOUBLE(asinh)
SOL_ROUND_FROM_DOUBLE(acosh)
SOL_ROUND_FROM_DOUBLE(atanh)
#undef SOL_ROUND_FROM_DOUBLE
inline float sqrt(float x) { return std::sqrt(x); }
inline float pow(float x, float y) {
  return static_cast<float>(
      pow(static_cast<double>(x), static_cast<double>(y)));
}

} // namespace sol::elementary

#endif // SOL_RUNTIME_CPU_ELEMENTARY_H
