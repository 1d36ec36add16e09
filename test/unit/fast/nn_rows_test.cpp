//===- nn_rows_test.cpp - nn.rms_norm, nn.rotary, nn.gate -----------------===//
//
// Against the operators' texts in float64, on one thread and two.
//
//===----------------------------------------------------------------------===//
#include "test/unit/fast/fast_kernel_fixture.h"

#include <atomic>
#include <cmath>

namespace sol::test {
namespace {

double tolerance(DType type) {
  return type == DType::F32 ? 3e-6 : type == DType::F16 ? 4e-3 : 3e-2;
}

TEST(RmsNorm, followsItsText) {
  for (DType type : {DType::F32, DType::F16, DType::BF16})
    for (int threads : {1, 2}) {
      Owned x = randomTensor(type, {5, 70, 77}, 1);
      Owned scale = randomTensor(type, {77}, 2);
      Attributes attributes;
      attributes.set("epsilon", 0.5f);
      auto y = callKernel("nn.rms_norm", attributes, {x.tensor, scale.tensor},
                          type, threads);
      ASSERT_TRUE(y.ok()) << y.status();
      for (int64_t row = 0; row < 350; ++row) {
        double squares = 0;
        for (int64_t i = 0; i < 77; ++i)
          squares += double(x.at(row * 77 + i)) * double(x.at(row * 77 + i));
        for (int64_t i = 0; i < 77; ++i)
          ASSERT_NEAR(y->at(row * 77 + i),
                      double(x.at(row * 77 + i)) /
                          std::sqrt(squares / 77 + 0.5) * double(scale.at(i)),
                      tolerance(type));
      }
    }
}

TEST(Rotary, turnsPairsAndPassesTheRest) {
  constexpr int64_t batch = 2, heads = 3, steps = 5, size = 24, pairs = 10;
  for (DType type : {DType::F32, DType::F16})
    for (int interleaved : {0, 1}) {
      Owned x = randomTensor(type, {batch, heads, steps, size}, 1);
      Owned c = randomTensor(type, {batch, 1, steps, pairs}, 2);
      Owned s = randomTensor(type, {steps, pairs}, 3);
      Attributes attributes;
      if (interleaved)
        attributes.set("interleaved", int64_t(1));
      auto y = callKernel("nn.rotary", attributes,
                          {x.tensor, c.tensor, s.tensor}, type, 2);
      ASSERT_TRUE(y.ok()) << y.status();
      for (int64_t row = 0; row < batch * heads * steps; ++row) {
        int64_t step = row % steps, b = row / steps / heads;
        for (int64_t i = 0; i < pairs; ++i) {
          int64_t first = row * size + (interleaved ? 2 * i : i);
          int64_t second = first + (interleaved ? 1 : pairs);
          double cosine = c.at((b * steps + step) * pairs + i);
          double sine = s.at(step * pairs + i);
          ASSERT_NEAR(y->at(first), x.at(first) * cosine - x.at(second) * sine,
                      tolerance(type) * 2);
          ASSERT_NEAR(y->at(second), x.at(second) * cosine + x.at(first) * sine,
                      tolerance(type) * 2);
        }
        for (int64_t i = 2 * pairs; i < size; ++i)
          ASSERT_EQ(y->at(row * size + i), x.at(row * size + i));
      }
    }
}

double activation(const std::string &name, double x) {
  if (name == "silu")
    return x / (1 + std::exp(-x));
  if (name == "gelu")
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  if (name == "gelu_tanh")
    return x / 2 *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  if (name == "relu")
    return std::max(x, 0.0);
  return 1 / (1 + std::exp(-x));
}

TEST(Gate, activatesAndMultiplies) {
  for (const char *name : {"silu", "gelu", "gelu_tanh", "relu", "sigmoid"})
    for (DType type : {DType::F32, DType::F16}) {
      Owned x = randomTensor(type, {3, 4001}, 1);
      Owned up = randomTensor(type, {3, 4001}, 2);
      Attributes attributes;
      attributes.set("activation", std::string(name));
      auto y =
          callKernel("nn.gate", attributes, {x.tensor, up.tensor}, type, 2);
      ASSERT_TRUE(y.ok()) << y.status();
      for (int64_t i = 0; i < x.tensor.size(); ++i)
        ASSERT_NEAR(y->at(i), activation(name, x.at(i)) * up.at(i),
                    tolerance(type) * 2)
            << name << " " << x.at(i);
    }
}

TEST(Gate, refusesAnUnknownActivation) {
  Owned x(DType::F32, {4});
  Attributes attributes;
  attributes.set("activation", std::string("swish7"));
  auto y = callKernel("nn.gate", attributes, {x.tensor, x.tensor}, DType::F32);
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ThreadPool, coversTheRangeOnceInPiecesOfTheGrain) {
  for (int threads : {1, 2, 5}) {
    auto pool = ThreadPool::create(threads);
    EXPECT_EQ(pool->threadCount(), threads);
    for (int64_t count : {0, 1, 7, 100, 4097})
      for (int64_t grain : {1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
        std::atomic<bool> tooShort = false;
        pool->parallelFor(count, grain, [&](int64_t begin, int64_t end) {
          if (end - begin < std::min(grain, count))
            tooShort = true;
          for (int64_t i = begin; i < end; ++i)
            ++hits[static_cast<size_t>(i)];
        });
        EXPECT_FALSE(tooShort) << count << " " << grain;
        for (auto &hit : hits)
          ASSERT_EQ(hit, 1);
      }
  }
}

TEST(ThreadPool, runsANestedLoopInPlace) {
  auto pool = ThreadPool::create(2);
  std::atomic<int64_t> sum = 0;
  pool->parallelFor(8, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      pool->parallelFor(10, 1, [&](int64_t b, int64_t e) { sum += e - b; });
  });
  EXPECT_EQ(sum, 80);
}

} // namespace
} // namespace sol::test
