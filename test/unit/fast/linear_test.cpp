//===- linear_test.cpp - nn.linear, nn.pack_panels and MatMul -------------===//
//
// Packed, plain, whole, chunked, on one thread or two: the same bits, and those
// of the chain of fused multiply-adds that the operator's text states.
//
//===----------------------------------------------------------------------===//
#include "test/unit/fast/fast_kernel_fixture.h"

#include <cmath>

namespace sol::test {
namespace {

struct Case {
  DType type, weightType;
  int64_t rows, depth, columns;
  bool transposed;
};

Owned expectedLinear(const Case &c, const Owned &x, const Owned &w,
                     const Owned &bias) {
  Owned y(c.type, {c.rows, c.columns});
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t n = 0; n < c.columns; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < c.depth; ++k)
        sum = std::fma(x.at(r * c.depth + k),
                       w.at(c.transposed ? n * c.depth + k : k * c.columns + n),
                       sum);
      y.set(r * c.columns + n, sum + bias.at(n));
    }
  return y;
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (bool transposed : {false, true})
    for (int64_t rows : {1, 2, 3, 5, 40})
      for (int64_t columns : {7, 64, 150}) {
        result.push_back(
            {DType::F32, DType::F32, rows, 70, columns, transposed});
        result.push_back(
            {DType::F32, DType::F16, rows, 33, columns, transposed});
      }
  result.push_back({DType::F16, DType::F16, 9, 500, 33, false});
  result.push_back({DType::BF16, DType::BF16, 9, 500, 33, true});
  return result;
}

TEST(Linear, packedAndPlainAreOneChainOnAnyThreadCount) {
  for (const Case &c : cases()) {
    Owned x = randomTensor(c.type, {c.rows, c.depth}, 1);
    Owned w = randomTensor(
        c.weightType,
        c.transposed ? Dims{c.columns, c.depth} : Dims{c.depth, c.columns}, 2);
    Owned bias = randomTensor(c.type, {c.columns}, 3);
    Owned expected = expectedLinear(c, x, w, bias);
    Attributes plain, packed;
    if (c.transposed)
      plain.set("transposed", int64_t(1));
    auto panels = callKernel("nn.pack_panels", plain, {w.tensor}, c.weightType);
    ASSERT_TRUE(panels.ok()) << panels.status();
    packed.set("packed", int64_t(1));
    packed.set("columns", c.columns);
    for (int threads : {1, 2}) {
      auto a = callKernel("nn.linear", plain, {x.tensor, w.tensor, bias.tensor},
                          c.type, threads);
      auto b =
          callKernel("nn.linear", packed,
                     {x.tensor, panels->tensor, bias.tensor}, c.type, threads);
      ASSERT_TRUE(a.ok()) << a.status();
      ASSERT_TRUE(b.ok()) << b.status();
      EXPECT_TRUE(sameBits(*a, expected)) << c.rows << " " << c.columns;
      EXPECT_TRUE(sameBits(*b, expected)) << c.rows << " " << c.columns;
    }
  }
}

TEST(Linear, rowsDoNotDependOnTheirCompany) {
  constexpr int64_t rows = 29, depth = 450, columns = 100;
  Owned x = randomTensor(DType::F32, {rows, depth}, 1);
  Owned w = randomTensor(DType::F32, {depth, columns}, 2);
  auto whole = callKernel("nn.linear", {}, {x.tensor, w.tensor}, DType::F32, 2);
  ASSERT_TRUE(whole.ok());
  for (int64_t chunk : {1, 3, 7})
    for (int64_t r = 0; r < rows; r += chunk) {
      Tensor part = x.tensor;
      part.dims = {std::min(chunk, rows - r), depth};
      part.data = x.tensor.as<float>() + r * depth;
      auto y = callKernel("nn.linear", {}, {part, w.tensor}, DType::F32);
      ASSERT_TRUE(y.ok());
      EXPECT_EQ(std::memcmp(y->tensor.data,
                            whole->tensor.as<float>() + r * columns,
                            static_cast<size_t>(y->tensor.bytes())),
                0);
    }
}

TEST(Linear, emptyDepthGivesTheBias) {
  Owned x(DType::F32, {2, 0}), w(DType::F32, {0, 20});
  Owned bias = randomTensor(DType::F32, {20}, 1);
  auto y = callKernel("nn.linear", {}, {x.tensor, w.tensor, bias.tensor},
                      DType::F32);
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t i = 0; i < 40; ++i)
    EXPECT_EQ(y->at(i), bias.at(i % 20));
}

TEST(Linear, refusesWhatDoesNotFit) {
  Owned x(DType::F32, {2, 5}), w(DType::F32, {6, 20}),
      p(DType::F32, {2, 5, 16});
  auto y = callKernel("nn.linear", {}, {x.tensor, w.tensor}, DType::F32);
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
  Attributes packed;
  packed.set("packed", int64_t(1));
  packed.set("columns", int64_t(33));
  y = callKernel("nn.linear", packed, {x.tensor, p.tensor}, DType::F32);
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
}

// Batches, transposed operands, and sums that the override must leave to the
// reference (float64) all agree with the plain sum.
TEST(MatMul, hasTheReferenceChain) {
  if (!findKernel("onnx.MatMul") &&
      !callKernel("onnx.MatMul", {}, {}, DType::F32).ok() &&
      !findKernel("onnx.MatMul"))
    GTEST_SKIP() << "built without the reference kernels";
  constexpr int64_t batch = 3, rows = 11, depth = 65, columns = 37;
  Owned a = randomTensor(DType::F32, {batch, rows, depth}, 1);
  Owned b = randomTensor(DType::F32, {batch, depth, columns}, 2);
  for (int threads : {1, 2}) {
    auto y = callKernel("onnx.MatMul", {}, {a.tensor, b.tensor}, DType::F32,
                        threads);
    ASSERT_TRUE(y.ok()) << y.status();
    for (int64_t i = 0; i < batch * rows * columns; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum = std::fma(
            a.at(i / columns * depth + k),
            b.at((i / columns / rows * depth + k) * columns + i % columns),
            sum);
      ASSERT_EQ(y->at(i), sum);
    }
  }
}

TEST(MatMul, gemmScalesAndTransposes) {
  callKernel("onnx.Gemm", {}, {}, DType::F32).IgnoreError();
  if (!findKernel("onnx.Gemm"))
    GTEST_SKIP() << "built without the reference kernels";
  constexpr int64_t rows = 9, depth = 20, columns = 33;
  Owned a = randomTensor(DType::F32, {depth, rows}, 1);
  Owned b = randomTensor(DType::F32, {columns, depth}, 2);
  Owned c = randomTensor(DType::F32, {rows, 1}, 3);
  Attributes attributes;
  attributes.set("transA", int64_t(1));
  attributes.set("transB", int64_t(1));
  attributes.set("alpha", 0.5f);
  attributes.set("beta", 3.0f);
  auto y = callKernel("onnx.Gemm", attributes, {a.tensor, b.tensor, c.tensor},
                      DType::F32, 2);
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t n = 0; n < columns; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum = std::fma(a.at(k * rows + r), b.at(n * depth + k), sum);
      float scaled = 0.5f * sum;
      ASSERT_EQ(y->at(r * columns + n), scaled + 3.0f * c.at(r));
    }
}

} // namespace
} // namespace sol::test
