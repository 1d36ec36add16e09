//===- elementary.cpp - elementary functions in float64 -------------------===//
//
// Range reduction, then a polynomial: Taylor's where the reduced range is small
// enough, else coefficients fitted at Chebyshev points in 250-bit arithmetic.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"

#include <limits>

namespace sol::elementary {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
// ln 2 as a 32-bit head, exact when multiplied by any exponent, and a tail.
constexpr double ln2Head = 0x1.62e42fee00000p-1;
constexpr double ln2Tail = 0x1.a39ef35793c76p-33;
constexpr double halfPi = 0x1.921fb54442d18p+0;
constexpr double halfPiTail = 0x1.1a62633145c07p-54;

template <int N> double polynomial(const double (&c)[N], double x) {
  double sum = c[N - 1];
  for (int i = N - 2; i >= 0; --i)
    sum = sum * x + c[i];
  return sum;
}

/// A number as the exact sum of two doubles.
struct Pair {
  double head, tail;
};

Pair sumOf(double a, double b) {
  double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

Pair productOf(double a, double b) {
  auto split = [](double v) {
    double big = v * 134217729.0, high = big - (big - v);
    return Pair{high, v - high};
  };
  Pair p = split(a), q = split(b);
  double product = a * b;
  double error =
      ((p.head * q.head - product) + p.head * q.tail + p.tail * q.head) +
      p.tail * q.tail;
  return {product, error};
}

double powerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<int64_t>(exponent + 1023) << 52);
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
double expTail(double r) {
  static constexpr double c[] = {
      1.0 / 2,          1.0 / 6,        1.0 / 24,        1.0 / 120,
      1.0 / 720,        1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
      1.0 / 3628800,    1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800,
      1.0 / 87178291200};
  return polynomial(c, r);
}

/// e^(x + low), `low` being a tiny correction of x.
double expWithTail(double x, double low) {
  if (x != x)
    return x;
  if (x > 709.79)
    return infinity;
  if (x < -745.2)
    return 0.0;
  double whole = std::nearbyint(x * 0x1.71547652b82fep+0);
  int n = static_cast<int>(whole);
  double r = (x - whole * ln2Head) - whole * ln2Tail + low;
  double p = 1.0 + (r + r * r * expTail(r));
  int half = n >> 1;
  return p * powerOfTwo(half) * powerOfTwo(n - half);
}

/// x = mantissa * 2^exponent, mantissa in [sqrt(1/2), sqrt(2)); x > 0, finite.
double splitExponent(double x, int &exponent) {
  exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    exponent = -54;
  }
  uint64_t bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m =
      std::bit_cast<double>((bits & 0xfffffffffffffull) | (1023ull << 52));
  if (m >= 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  return m;
}

/// 2 atanh(s) - 2s over 2s, in terms of z = s^2 <= 0.0295.
double atanhTail(double z) {
  static constexpr double c[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,
                                 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                 1.0 / 19, 1.0 / 21, 1.0 / 23};
  return z * polynomial(c, z);
}
} // namespace

double exp(double x) { return expWithTail(x, 0.0); }

double expm1(double x) {
  if (std::fabs(x) < 0.34)
    return x + x * x * expTail(x);
  // The subtraction is exact or harmless here.
  return exp(x) - 1.0;
}

double log(double x) {
  if (x != x || x == infinity)
    return x;
  if (x <= 0.0)
    return x == 0.0 ? -infinity : notANumber;
  int exponent;
  double f = splitExponent(x, exponent) - 1.0, s = f / (2.0 + f);
  // log(1 + f) = f - s (f - tail), which keeps f itself exact.
  double tail = 2.0 * atanhTail(s * s);
  double e = exponent;
  return e * ln2Head + (f - (s * (f - tail) - e * ln2Tail));
}

double log1p(double x) {
  if (x != x || x == infinity || x == 0.0)
    return x;
  if (x <= -1.0)
    return x == -1.0 ? -infinity : notANumber;
  if (std::fabs(x) < 0x1p-54)
    return x;
  double u = 1.0 + x;
  // What the rounding of u lost, put back to first order.
  double lost = (x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0)) / u;
  return log(u) + lost;
}

namespace {
/// x modulo pi/2 in [-pi/4, pi/4] as head + tail; returns the quadrant mod 4.
int reduceMedium(double x, double &head, double &tail) {
  static constexpr double part1 = 0x1.921fb54400000p+0;
  static constexpr double part2 = 0x1.0b4611a600000p-34;
  static constexpr double part3 = 0x1.3198a2e000000p-69;
  static constexpr double part4 = 0x1.b839a252049c1p-104;
  double n = std::nearbyint(x * 0x1.45f306dc9c883p-1);
  // n has at most 20 bits and the parts 33, so that each product is exact.
  double a = x - n * part1;
  double b = n * part2, c = a - b;
  double error = (a - c) - b;
  double d = n * part3, e = c - d;
  error += (c - e) - d - n * part4;
  head = e + error;
  tail = (e - head) + error;
  return static_cast<int>(static_cast<int64_t>(n) & 3);
}

/// The same for any finite |x| >= 2^20, by multiplying the mantissa with those
/// bits of 2/pi that matter.
int reduceLarge(double x, double &head, double &tail) {
  static constexpr uint64_t twoOverPi[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
      0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
      0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
      0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023 - 52;
  uint64_t mantissa = (bits & 0xfffffffffffffull) | (1ull << 52);
  // Drop the bits of 2/pi that contribute multiples of 4 only; keep 192.
  int skip = exponent > 2 ? exponent - 2 : 0;
  auto wordAt = [&](int bit) {
    int word = bit / 64, shift = bit % 64;
    uint64_t value = twoOverPi[word] << shift;
    return shift ? value | twoOverPi[word + 1] >> (64 - shift) : value;
  };
  using Wide = unsigned __int128;
  Wide low = static_cast<Wide>(mantissa) * wordAt(skip + 128);
  Wide middle = static_cast<Wide>(mantissa) * wordAt(skip + 64) + (low >> 64);
  Wide top = static_cast<Wide>(mantissa) * wordAt(skip) + (middle >> 64);
  // The product is (top, middle's low word, low's) * 2^(exponent - skip - 192).
  // Cut the 128 bits that begin with the two bits of the quadrant.
  int drop = 2 - (exponent - skip);
  uint64_t next = static_cast<uint64_t>(middle);
  Wide high = top << (64 - drop) | next >> drop;
  int quadrant = static_cast<int>(high >> 126);
  __int128 fraction = static_cast<__int128>(high << 2) >> 1;
  if (fraction < 0)
    quadrant = (quadrant + 1) & 3;
  // The fraction, in [-1/2, 1/2) quarter turns, as two doubles.
  double major = static_cast<double>(fraction);
  double minor = static_cast<double>(fraction - static_cast<__int128>(major));
  major *= 0x1p-127;
  Pair angle = productOf(major, halfPi);
  head = angle.head;
  tail = angle.tail + minor * 0x1p-127 * halfPi + major * halfPiTail;
  if (bits >> 63) {
    head = -head;
    tail = -tail;
    quadrant = -quadrant & 3;
  }
  return quadrant;
}

int reduce(double x, double &head, double &tail) {
  if (std::fabs(x) <= 0.785) {
    head = x;
    tail = 0.0;
    return 0;
  }
  return std::fabs(x) < 0x1p20 ? reduceMedium(x, head, tail)
                               : reduceLarge(x, head, tail);
}

double sinReduced(double x, double tail) {
  static constexpr double c[] = {-1.0 / 6,
                                 1.0 / 120,
                                 -1.0 / 5040,
                                 1.0 / 362880,
                                 -1.0 / 39916800,
                                 1.0 / 6227020800,
                                 -1.0 / 1307674368000,
                                 1.0 / 355687428096000};
  double z = x * x;
  return x + (x * z * polynomial(c, z) + tail * (1.0 - 0.5 * z));
}

double cosReduced(double x, double tail) {
  static constexpr double c[] = {
      1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
      1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
  double z = x * x, half = 0.5 * z, one = 1.0 - half;
  return one + ((1.0 - one - half) + (z * z * polynomial(c, z) - x * tail));
}

/// The sine of x plus `turn` quarter turns.
double sinTurned(double x, int turn) {
  if (!(std::fabs(x) < infinity))
    return notANumber;
  if (x == 0.0 && turn == 0)
    return x;
  double head, tail;
  int quadrant = (reduce(x, head, tail) + turn) & 3;
  double value = quadrant & 1 ? cosReduced(head, tail) : sinReduced(head, tail);
  return quadrant & 2 ? -value : value;
}
} // namespace

double sin(double x) { return sinTurned(x, 0); }
double cos(double x) { return sinTurned(x, 1); }

double tan(double x) {
  if (!(std::fabs(x) < infinity))
    return notANumber;
  if (x == 0.0)
    return x;
  double head, tail;
  int quadrant = reduce(x, head, tail);
  double s = sinReduced(head, tail), c = cosReduced(head, tail);
  return quadrant & 1 ? -c / s : s / c;
}

double atan(double x) {
  if (x != x || x == 0.0)
    return x;
  static constexpr double angles[][2] = {
      {0.0, 0.0},
      {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
      {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
      {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
      {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
  double a = std::fabs(x);
  bool inverted = a > 1.0;
  // The nearest of 0, 1/4, 1/2, 3/4, 1 is subtracted as an angle; for 1/a the
  // numerator and denominator are multiplied by a, which saves a rounding.
  double u = inverted ? 1.0 / a : a;
  int nearest = static_cast<int>(u * 4.0 + 0.5);
  double c = nearest * 0.25;
  double t = !inverted       ? (a - c) / (1.0 + c * a)
             : a == infinity ? 0.0
                             : (1.0 - c * a) / (a + c);
  double z = t * t;
  static constexpr double k[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,
                                 -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17};
  double tail = t * z * polynomial(k, z) + angles[nearest][1];
  double angle = nearest ? angles[nearest][0] + (t + tail) : t + tail;
  if (inverted)
    angle = (halfPi - angle) + halfPiTail;
  return std::copysign(angle, x);
}

double asin(double x) { return atan(x / std::sqrt((1.0 - x) * (1.0 + x))); }

double acos(double x) { return 2.0 * atan(std::sqrt((1.0 - x) / (1.0 + x))); }

double sinh(double x) {
  double a = std::fabs(x);
  if (a < 0x1p-28 || x != x)
    return x;
  double value;
  if (a > 700.0) {
    double half = exp(0.5 * a);
    value = 0.5 * half * half;
  } else {
    double e = expm1(a);
    value = 0.5 * (e + e / (e + 1.0));
  }
  return std::copysign(value, x);
}

double cosh(double x) {
  double a = std::fabs(x);
  if (a > 700.0) {
    double half = exp(0.5 * a);
    return 0.5 * half * half;
  }
  double e = exp(a);
  return 0.5 * e + 0.5 / e;
}

double tanh(double x) {
  double a = std::fabs(x);
  if (a < 0x1p-28 || x != x)
    return x;
  double e = a < 22.0 ? expm1(2.0 * a) : 0.0;
  return std::copysign(a < 22.0 ? e / (e + 2.0) : 1.0, x);
}

double asinh(double x) {
  double a = std::fabs(x);
  if (a < 0x1p-28 || !(a < infinity))
    return x;
  double value = a > 0x1p28 ? log(a) + (ln2Head + ln2Tail)
                            : log1p(a + a * a / (1.0 + std::sqrt(a * a + 1.0)));
  return std::copysign(value, x);
}

double acosh(double x) {
  if (x > 0x1p28)
    return log(x) + (ln2Head + ln2Tail);
  double t = x - 1.0;
  return log1p(t + std::sqrt(2.0 * t + t * t));
}

double atanh(double x) {
  double a = std::fabs(x);
  if (a < 0x1p-28 || x != x)
    return x;
  return std::copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x);
}

double erf(double x) {
  double a = std::fabs(x);
  if (x != x)
    return x;
  if (a < 0.84) {
    static constexpr double c[] = {
        1.1283791670955125622,    -3.7612638903183359418e-1,
        1.1283791670933264183e-1, -2.6866170640384130049e-2,
        5.2239775725149069878e-3, -8.5483235756379700766e-4,
        1.2055192652208318785e-4, -1.4921969577624674683e-5,
        1.6399720736388579507e-6, -1.5701227105188810067e-7,
        1.0687686191464912324e-8};
    return x * polynomial(c, x * x);
  }
  // Beyond 6, erf rounds to 1. In between the complement is e^(-x^2) times a
  // smooth function of (x - 2) / (x + 2).
  static constexpr double c[] = {
      2.5539567631050574371e-1,  -4.2718584741395839614e-1,
      2.4165819424246649241e-1,  -7.8978581015732360505e-2,
      3.7328924043249601216e-3,  6.9974617392299073099e-3,
      -8.4714325085987501124e-4, -9.8197702794161763905e-4,
      4.3555603869081437015e-5,  1.7436119393489619021e-4,
      2.7525393150498607309e-5,  -2.7580110563499354035e-5,
      -1.3966729836643415832e-5, 1.3927119316878927452e-6,
      3.7805693143599986529e-6,  1.188676348764862156e-6,
      -5.1568846526259444833e-7, -4.6532007444959906464e-7,
      2.5863332600843580589e-8};
  double complement =
      a < 6.0 ? exp(-a * a) * polynomial(c, (a - 2.0) / (a + 2.0)) : 0.0;
  return std::copysign(1.0 - complement, x);
}

namespace {
/// log(x) to about 68 bits; x positive and finite.
Pair logPair(double x) {
  int exponent;
  double m = splitExponent(x, exponent), f = m - 1.0;
  Pair below = sumOf(2.0, f);
  double s = f / below.head;
  Pair check = productOf(s, below.head);
  double sTail = ((f - check.head) - check.tail - s * below.tail) / below.head;
  // 2 atanh(s) with the cubic term in extended precision as well.
  Pair square = productOf(s, s);
  double z = square.head;
  Pair third = productOf(s, 2.0 / 3.0);
  constexpr double twoThirdsTail = 0x1.5555555555555p-55;
  Pair cubic = productOf(third.head, z);
  double cubicTail = cubic.tail + third.tail * z + s * twoThirdsTail * z +
                     third.head * (square.tail + 2.0 * s * sTail);
  static constexpr double c[] = {1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19,
                                 1.0 / 21, 1.0 / 23};
  double rest = 2.0 * s * z * z * polynomial(c, z);
  Pair sum = sumOf(2.0 * s, cubic.head);
  Pair whole = sumOf(exponent * ln2Head, sum.head);
  double tail = whole.tail + (sum.tail + (2.0 * sTail + cubicTail) + rest);
  // ln 2 to 32 + 53 bits: the head is exact, the tail has its own rounding.
  Pair ln2 = productOf(exponent, ln2Tail);
  Pair total = sumOf(whole.head, ln2.head);
  return {total.head, total.tail + ln2.tail + tail};
}

/// |x|^y for |x| neither 0 nor 1 nor infinite, y finite.
double powMagnitude(double x, double y) {
  if (std::fabs(y) > 0x1p70)
    return (x > 1.0) == (y > 0.0) ? infinity : 0.0;
  Pair l = logPair(x);
  Pair e = productOf(l.head, y);
  if (!(std::fabs(e.head) < 800.0))
    return e.head > 0.0 ? infinity : 0.0;
  return expWithTail(e.head, e.tail + l.tail * y);
}
} // namespace

double pow(double x, double y) {
  if (y == 0.0 || x == 1.0)
    return 1.0;
  if (x != x || y != y)
    return notANumber;
  bool integral = std::floor(y) == y;
  bool odd = integral && std::fabs(y) < 0x1p53 &&
             (static_cast<int64_t>(std::fabs(y)) & 1);
  double a = std::fabs(x);
  if (std::fabs(y) == infinity)
    return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? infinity : 0.0;
  if (a == 0.0 || a == infinity) {
    double value = (a == 0.0) == (y < 0.0) ? infinity : 0.0;
    return odd && std::signbit(x) ? -value : value;
  }
  if (x < 0.0 && !integral)
    return notANumber;
  double value = a == 1.0 ? 1.0 : powMagnitude(a, y);
  return x < 0.0 && odd ? -value : value;
}

} // namespace sol::elementary
