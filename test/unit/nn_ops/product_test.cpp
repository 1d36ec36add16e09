//===- product_test.cpp - matrix products and convolutions ----------------===//
//
// Values by hand, one chain of multiply-adds whatever the pieces, and refusals.
//
//===----------------------------------------------------------------------===//
#include "kernel_runner.h"

#include <cmath>

namespace sol {
namespace {

TEST(MatMul, BroadcastsBatches) {
  KernelRunner k("onnx.MatMul");
  k.operand<float>({2, 1, 2}, {1, 2, 3, 4})
      .operand<float>({2, 3}, {1, 2, 3, 4, 5, 6})
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.dims(), (Dims{2, 1, 3}));
  EXPECT_EQ(k.result<float>(), (std::vector<float>{9, 12, 15, 19, 26, 33}));
}

TEST(MatMul, VectorsLoseTheirAxis) {
  KernelRunner k("onnx.MatMul");
  k.operand<int32_t>({2}, {2, -3})
      .operand<int32_t>({2}, {5, 7})
      .output(DType::I32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_TRUE(k.dims().empty());
  EXPECT_EQ(k.result<int32_t>(), (std::vector<int32_t>{-11}));
}

/// Any batch, any number of pieces, any place in a panel: the same bits, and
/// those of a fused chain in order.
TEST(MatMul, IsOneFusedChain) {
  constexpr int64_t rows = 7, depth = 53, columns = 37;
  std::vector<float> a(rows * depth), b(depth * columns);
  uint32_t seed = 1;
  for (auto *values : {&a, &b})
    for (float &value : *values) {
      seed = seed * 1664525u + 1013904223u;
      value = float(int32_t(seed)) * 0x1p-31f;
    }
  for (int pieces : {1, 3}) {
    KernelRunner k("onnx.MatMul");
    k.operand<float>({rows, depth}, a)
        .operand<float>({depth, columns}, b)
        .output(DType::F32);
    ASSERT_TRUE(k.run(pieces).ok());
    std::vector<float> got = k.result<float>();
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        float sum = 0;
        for (int64_t i = 0; i < depth; ++i)
          sum = std::fma(a[r * depth + i], b[i * columns + c], sum);
        ASSERT_EQ(got[r * columns + c], sum) << r << " " << c;
      }
  }
}

TEST(MatMul, EmptyDepthGivesZeros) {
  KernelRunner k("onnx.MatMul");
  k.operand<float>({1, 0}, {}).operand<float>({0, 2}, {}).output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<float>(), (std::vector<float>{0, 0}));
}

TEST(MatMul, NamesBothShapes) {
  KernelRunner k("onnx.MatMul");
  k.operand<float>({1, 2}, {1, 2})
      .operand<float>({3, 1}, {1, 2, 3})
      .output(DType::F32);
  expectError(k.run(), "[3, 1]");
}

TEST(Gemm, ScalesAndAdds) {
  KernelRunner k("onnx.Gemm");
  k.operand<float>({1, 2}, {1, 2})
      .operand<float>({2, 2}, {1, 2, 3, 4})
      .operand<float>({2}, {10, 20})
      .set("transB", int64_t(1))
      .set("alpha", 2.0f)
      .set("beta", 0.5f)
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<float>(), (std::vector<float>{15, 32}));
}

TEST(MatMulInteger, SubtractsZeroPointsAndNeverSaturates) {
  KernelRunner k("onnx.MatMulInteger");
  k.operand<uint8_t>({1, 2}, {255, 255})
      .operand<int8_t>({2, 2}, {127, -128, 127, -128})
      .operand<uint8_t>({}, {1})
      .operand<int8_t>({2}, {0, 2})
      .output(DType::I32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<int32_t>(),
            (std::vector<int32_t>{2 * 254 * 127, -2 * 254 * 130}));
}

TEST(Conv, PadsStridesAndGroups) {
  KernelRunner k("onnx.Conv");
  k.operand<float>({1, 2, 3}, {1, 2, 3, 10, 20, 30})
      .operand<float>({2, 1, 2}, {1, 1, 1, -1})
      .operand<float>({2}, {0.5f, 0})
      .set("group", int64_t(2))
      .set("pads", std::vector<int64_t>{1, 0})
      .set("strides", std::vector<int64_t>{2})
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.dims(), (Dims{1, 2, 2}));
  EXPECT_EQ(k.result<float>(), (std::vector<float>{1.5f, 5.5f, -10, -10}));
}

TEST(MaxPool, GivesIndices) {
  KernelRunner k("onnx.MaxPool");
  k.operand<float>({1, 1, 4}, {1, 3, 2, 4})
      .set("kernel_shape", std::vector<int64_t>{2})
      .output(DType::F32)
      .output(DType::I64);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<float>(), (std::vector<float>{3, 3, 4}));
  EXPECT_EQ(k.result<int64_t>(1), (std::vector<int64_t>{1, 1, 3}));
}

TEST(Conv, RefusesAWindowThatDoesNotFit) {
  KernelRunner k("onnx.Conv");
  k.operand<float>({1, 1, 2}, {1, 2})
      .operand<float>({1, 1, 3}, {1, 1, 1})
      .output(DType::F32);
  expectError(k.run(), "does not fit axis 0");
}

} // namespace
} // namespace sol
