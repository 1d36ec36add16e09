//===- simd_test.cpp - both levels have the same bits ---------------------===//
//
// Every loop of the table, AVX2 against portable, and against scalar C++.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/fast/simd/simd_kernels.h"
#include "runtime/cpu/number_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace sol::simd {
namespace {

std::vector<const SimdKernels *> levels() {
  std::vector<const SimdKernels *> result{&portableKernels()};
  if (avx2Kernels())
    result.push_back(avx2Kernels());
  return result;
}

/// Floats of every size: random bits, so NaN, infinities and denormals too.
std::vector<float> randomBits(size_t count, uint32_t seed, bool finite) {
  std::mt19937 random(seed);
  std::vector<float> result;
  while (result.size() < count) {
    uint32_t bits = static_cast<uint32_t>(random());
    float x;
    std::memcpy(&x, &bits, 4);
    if (!finite || std::isfinite(x))
      result.push_back(x);
  }
  return result;
}

std::vector<float> normals(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> result(count);
  for (float &x : result)
    x = normal(random);
  return result;
}

bool equal(float a, float b) {
  return (a != a && b != b) || std::memcmp(&a, &b, 4) == 0;
}

// A product of depth 2 is a multiplication and one fused multiply-add, so
// random bits exercise every rounding, overflow and denormal of the emulation.
TEST(Simd, fusedMultiplyAddRoundsOnce) {
  std::mt19937 random(7);
  for (const SimdKernels *level : levels())
    for (int round = 0; round < 4000; ++round) {
      std::vector<float> b = randomBits(32, static_cast<uint32_t>(round), true);
      std::vector<float> a =
          randomBits(2, static_cast<uint32_t>(random()), true);
      if (round % 2) {
        // Sums that nearly cancel: c = -(a * b) rounded, shifted a little.
        a[1] = std::ldexp(1.0f + static_cast<float>(round) * 0x1p-13f, 3);
        for (int n = 0; n < 16; ++n)
          b[static_cast<size_t>(16 + n)] =
              -(a[0] * b[static_cast<size_t>(n)]) / a[1];
      }
      ProductShape shape{1, 2, 16, 2, 16};
      float c[16];
      level->packedProduct(shape, a.data(), Storage::F32, b.data(), c, 0, 1);
      for (size_t n = 0; n < 16; ++n) {
        float expected = std::fma(a[1], b[16 + n], std::fma(a[0], b[n], 0.0f));
        ASSERT_TRUE(equal(c[n], expected))
            << level->name << " " << a[0] << " " << b[n] << " " << a[1] << " "
            << b[16 + n] << ": " << c[n] << " " << expected;
      }
    }
}

TEST(Simd, sixteenBitConversionsMatchScalar) {
  for (const SimdKernels *level : levels()) {
    std::vector<uint16_t> all(65536);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<uint16_t>(i);
    std::vector<float> wide(all.size());
    level->widen(Storage::F16, all.data(), wide.data(), 65536);
    for (size_t i = 0; i < all.size(); ++i)
      ASSERT_TRUE(equal(wide[i], f16ToF32(all[i]))) << i;
    level->widen(Storage::BF16, all.data(), wide.data(), 65536);
    for (size_t i = 0; i < all.size(); ++i)
      ASSERT_TRUE(equal(wide[i], bf16ToF32(all[i]))) << i;

    std::vector<float> values = randomBits(100003, 3, false);
    std::vector<float> middle = normals(100003, 4);
    for (size_t i = 0; i < middle.size(); ++i)
      values.push_back(std::ldexp(middle[i], static_cast<int>(i % 48) - 30));
    for (float x :
         {65504.0f, 65519.99f, 65520.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f})
      values.push_back(x);
    std::vector<uint16_t> narrow(values.size());
    for (Storage type : {Storage::F16, Storage::BF16}) {
      level->narrow(type, values.data(), narrow.data(),
                    static_cast<int64_t>(values.size()));
      for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] != values[i])
          continue;
        uint16_t expected =
            type == Storage::F16 ? f32ToF16(values[i]) : f32ToBf16(values[i]);
        ASSERT_EQ(narrow[i], expected) << level->name << " " << values[i];
      }
    }
  }
}

TEST(Simd, exponentialsHaveTheBitsOfElementary) {
  std::vector<float> x = normals(20001, 11);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= static_cast<float>(i % 40);
  for (float special : {0.0f, -0.0f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN,
                        -103.9f, 88.8f, 1e-40f})
    x.push_back(special);
  auto count = static_cast<int64_t>(x.size());
  std::vector<float> one(x.size(), 1.0f), y(x.size());
  for (const SimdKernels *level : levels()) {
    level->exponentialRow(x.data(), 0.0f, y.data(), count);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(equal(y[i], elementary::exp(x[i]))) << x[i];
    level->gateRow(Gate::Sigmoid, x.data(), one.data(), y.data(), count);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(equal(y[i], elementary::sigmoid(x[i]))) << x[i];
    y = x;
    level->softCapRow(y.data(), count, 1.0f);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(equal(y[i], elementary::tanh(x[i]))) << x[i];
    level->gateRow(Gate::Gelu, x.data(), one.data(), y.data(), count);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(equal(y[i], 0.5f * x[i] *
                                  (1.0f + elementary::erf(x[i] * 0.70710678f))))
          << x[i];
  }
}

/// Runs `loop(level, out)` on both levels and compares all of `out`.
template <typename Loop> void expectSameBits(size_t count, Loop loop) {
  std::vector<float> portable(count), avx2(count);
  loop(portableKernels(), portable.data());
  if (!avx2Kernels())
    GTEST_SKIP() << "this processor has no AVX2";
  loop(*avx2Kernels(), avx2.data());
  for (size_t i = 0; i < count; ++i)
    ASSERT_TRUE(equal(portable[i], avx2[i]))
        << i << ": " << portable[i] << " " << avx2[i];
}

TEST(Simd, productsOfAllShapes) {
  std::vector<float> a = normals(20 * 800, 1), b = normals(800 * 96, 2);
  for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 13})
    for (int64_t columns : {1, 16, 37, 80})
      for (int64_t depth : {0, 1, 385, 800})
        for (int transposed = 0; transposed < 2; ++transposed) {
          ProductShape shape{rows, depth, columns, depth, columns};
          std::vector<float> expected(static_cast<size_t>(rows * columns));
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t n = 0; n < columns; ++n) {
              float sum = 0;
              for (int64_t k = 0; k < depth; ++k)
                sum =
                    std::fma(a[static_cast<size_t>(r * depth + k)],
                             b[static_cast<size_t>(
                                 transposed ? n * depth + k : k * columns + n)],
                             sum);
              expected[static_cast<size_t>(r * columns + n)] = sum;
            }
          for (const SimdKernels *level : levels()) {
            if (level == &portableKernels() && rows * columns * depth > 100000)
              continue;
            std::vector<float> c(expected.size(), NAN);
            level->plainProduct(shape, a.data(), Storage::F32, b.data(),
                                transposed ? depth : columns, transposed,
                                c.data(), 0, (columns + 15) / 16);
            ASSERT_EQ(std::memcmp(c.data(), expected.data(), c.size() * 4), 0)
                << level->name << " " << rows << " " << depth << " " << columns
                << " " << transposed;
          }
        }
}

TEST(Simd, rowLoops) {
  std::vector<float> x = normals(1003, 5), y = normals(1003, 6);
  std::vector<float> mask(1003);
  for (size_t i = 0; i < mask.size(); ++i)
    mask[i] = i % 3 ? y[i] : -std::numeric_limits<float>::infinity();
  expectSameBits(1003, [&](const SimdKernels &level, float *out) {
    level.rmsNormRow(x.data(), y.data(), out, 1003, 1e-5f);
  });
  for (bool interleaved : {false, true})
    expectSameBits(1002, [&](const SimdKernels &level, float *out) {
      level.rotateRow(x.data(), y.data(), y.data() + 500, out, 501,
                      interleaved);
    });
  for (Gate gate : {Gate::Silu, Gate::GeluTanh, Gate::Relu})
    expectSameBits(1003, [&](const SimdKernels &level, float *out) {
      level.gateRow(gate, x.data(), y.data(), out, 1003);
    });
  expectSameBits(1003, [&](const SimdKernels &level, float *out) {
    std::copy(x.begin(), x.end(), out);
    level.maskRow(out, mask.data(), 1003);
  });
  expectSameBits(1, [&](const SimdKernels &level, float *out) {
    *out = level.largestOfRow(x.data(), 1003);
  });
}

TEST(Simd, attentionLoops) {
  std::vector<float> query = normals(100, 1), keys = normals(37 * 100, 2);
  for (Storage type : {Storage::F32, Storage::F16, Storage::BF16})
    for (int64_t size : {1, 8, 63, 64, 100}) {
      std::vector<float> narrow(37 * 100);
      portableKernels().narrow(type, keys.data(), narrow.data(), 37 * size);
      expectSameBits(37, [&](const SimdKernels &level, float *out) {
        level.scores(type, query.data(), narrow.data(), 37, size, 0.125f, out);
      });
      expectSameBits(101, [&](const SimdKernels &level, float *out) {
        out[size] = level.weighValues(type, query.data(), narrow.data(), 37,
                                      size, out, 0.5f);
      });
    }
}

} // namespace
} // namespace sol::simd
