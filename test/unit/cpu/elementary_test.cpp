//===- elementary_test.cpp - elementary functions against long double -----===//
//
// Sweeps of each function's domain, compared with the host's libm in 80-bit
// arithmetic, and the special values of IEEE 754.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"

#include <gtest/gtest.h>

#include <limits>

namespace {
namespace el = sol::elementary;

/// Distance from `exact` in units in the last place of T at `exact`.
template <typename T> double ulps(T value, long double exact) {
  if (std::isnan(exact))
    return std::isnan(value) ? 0.0 : 1e9;
  T rounded = static_cast<T>(exact);
  if (std::isinf(rounded))
    return value == rounded ? 0.0 : 1e9;
  int exponent;
  std::frexp(rounded, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  long double unit =
      std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs((value - exact) / unit));
}

/// The largest error over values spread evenly, and over magnitudes, within
/// [low, high].
template <typename T, typename F, typename G>
double worst(F function, G exact, T low, T high) {
  double largest = 0.0;
  auto check = [&](T x) {
    if (x >= low && x <= high)
      largest = std::max(largest, ulps<T>(function(x), exact((long double)x)));
  };
  for (int i = 0; i <= 20000; ++i)
    check(low + (high - low) * (T)i / 20000);
  for (T x = std::numeric_limits<T>::denorm_min();
       x < std::numeric_limits<T>::infinity(); x *= (T)1.5) {
    check(x);
    check(-x);
  }
  return largest;
}

#define EXPECT_ULPS(T, name, low, high, bound)                                 \
  EXPECT_LE(worst<T>([](T x) { return el::name(x); },                          \
                     [](long double x) { return std::name(x); }, (T)(low),     \
                     (T)(high)),                                               \
            bound)                                                             \
      << #T " " #name

TEST(Elementary, Float32) {
  EXPECT_ULPS(float, exp, -110, 95, 2);
  EXPECT_ULPS(float, tanh, -20, 20, 2);
  EXPECT_ULPS(float, erf, -6, 6, 2.5);
  EXPECT_ULPS(float, expm1, -30, 90, 0.51);
  EXPECT_ULPS(float, log, 0, 3e38, 0.51);
  EXPECT_ULPS(float, log1p, -1, 3e38, 0.51);
  EXPECT_ULPS(float, sin, -3e38, 3e38, 0.51);
  EXPECT_ULPS(float, cos, -1e3, 1e3, 0.51);
  EXPECT_ULPS(float, tan, -1e5, 1e5, 0.51);
  EXPECT_ULPS(float, asin, -1, 1, 0.51);
  EXPECT_ULPS(float, acos, -1, 1, 0.51);
  EXPECT_ULPS(float, atan, -3e38, 3e38, 0.51);
  EXPECT_ULPS(float, sinh, -90, 90, 0.51);
  EXPECT_ULPS(float, cosh, -90, 90, 0.51);
  EXPECT_ULPS(float, asinh, -3e38, 3e38, 0.51);
  EXPECT_ULPS(float, acosh, 1, 3e38, 0.51);
  EXPECT_ULPS(float, atanh, -1, 1, 0.51);
}

TEST(Elementary, Float64) {
  EXPECT_ULPS(double, exp, -750, 715, 2);
  EXPECT_ULPS(double, expm1, -40, 700, 4);
  EXPECT_ULPS(double, log, 0, 1e308, 2);
  EXPECT_ULPS(double, log1p, -1, 1e308, 4);
  EXPECT_ULPS(double, sin, -100, 100, 2);
  EXPECT_ULPS(double, cos, -1e6, 1e6, 2);
  EXPECT_ULPS(double, tan, -1e6, 1e6, 4);
  EXPECT_ULPS(double, asin, -1, 1, 4);
  EXPECT_ULPS(double, acos, -1, 1, 4);
  EXPECT_ULPS(double, atan, -1e300, 1e300, 2);
  EXPECT_ULPS(double, sinh, -711, 711, 4);
  EXPECT_ULPS(double, cosh, -711, 711, 4);
  EXPECT_ULPS(double, tanh, -25, 25, 4);
  EXPECT_ULPS(double, asinh, -1e300, 1e300, 4);
  EXPECT_ULPS(double, acosh, 1, 1e300, 4);
  EXPECT_ULPS(double, atanh, -1, 1, 4);
  EXPECT_ULPS(double, erf, -7, 7, 4);
}

// x87 reduces arguments up to 2^63 well, glibc any; the values far out come
// from 1500-bit arithmetic.
TEST(Elementary, HugeAngles) {
  EXPECT_ULPS(double, sin, -1e300, 1e300, 2);
  EXPECT_ULPS(double, cos, 1e6, 1.7e308, 2);
  EXPECT_NEAR(el::sin(1e22), -0.8522008497671888, 1e-15);
  EXPECT_EQ(el::sin(2147483648.0f),
            static_cast<float>(std::sin(2147483648.0L)));
}

TEST(Elementary, Sigmoid) {
  auto exact = [](long double x) { return 1.0L / (1.0L + std::exp(-x)); };
  EXPECT_LE(worst<float>([](float x) { return el::sigmoid(x); }, exact, -80.0f,
                         80.0f),
            3);
}

TEST(Elementary, Powers) {
  for (double x : {1e-310, 1e-3, 0.1, 0.5, 0.99999, 1.0000001, 1.5, 2.0, 3.0,
                   10.0, 12345.678, 1e150})
    for (double y :
         {-300.0, -2.0, -0.5, 0.3, 0.5, 1.0, 2.0, 3.0, 7.0, 100.5, 1e6, 1e9})
      EXPECT_LE(ulps(el::pow(x, y), std::pow((long double)x, (long double)y)),
                2)
          << x << "^" << y;
  constexpr double inf = std::numeric_limits<double>::infinity();
  double nan = std::nan("");
  for (double x :
       {-inf, -3.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, inf, nan})
    for (double y :
         {-inf, -3.0, -2.0, -0.5, -0.0, 0.0, 0.5, 2.0, 3.0, inf, nan}) {
      double want = std::pow(x, y), got = el::pow(x, y);
      EXPECT_EQ(std::isnan(want), std::isnan(got)) << x << "^" << y;
      if (!std::isnan(want)) {
        EXPECT_DOUBLE_EQ(want, got) << x << "^" << y;
        EXPECT_EQ(std::signbit(want), std::signbit(got)) << x << "^" << y;
      }
    }
}

TEST(Elementary, SpecialValues) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(el::exp(inf), inf);
  EXPECT_EQ(el::exp(-inf), 0.0f);
  EXPECT_EQ(el::tanh(inf), 1.0f);
  EXPECT_EQ(el::tanh(-inf), -1.0f);
  EXPECT_EQ(el::erf(inf), 1.0f);
  EXPECT_EQ(el::log(0.0f), -inf);
  EXPECT_EQ(el::atan(inf), 1.57079637f);
  EXPECT_TRUE(std::signbit(el::sin(-0.0f)));
  EXPECT_TRUE(std::signbit(el::tanh(-0.0f)));
  EXPECT_TRUE(std::isnan(el::log(-1.0f)));
  EXPECT_TRUE(std::isnan(el::sin(inf)));
  float nan = std::nanf("");
  for (float value :
       {el::exp(nan), el::tanh(nan), el::erf(nan), el::log(nan), el::sin(nan),
        el::atan(nan), el::sinh(nan), el::acosh(nan), el::expm1(nan),
        el::sigmoid(nan), el::asin(nan)})
    EXPECT_TRUE(std::isnan(value));
}
} // namespace
