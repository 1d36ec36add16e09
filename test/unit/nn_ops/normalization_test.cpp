//===- normalization_test.cpp - norms and fused activations ---------------===//
//
// Values by hand; statistics beyond float16's range; refusals.
//
//===----------------------------------------------------------------------===//
#include "kernel_runner.h"
#include "runtime/cpu/number_formats.h"

namespace sol {
namespace {

TEST(LayerNormalization, GivesMeanAndInverseDeviation) {
  KernelRunner k("onnx.LayerNormalization");
  k.operand<float>({1, 2}, {1, 3})
      .operand<float>({2}, {2, 4})
      .operand<float>({2}, {10, 20})
      .set("epsilon", 0.0f)
      .output(DType::F32)
      .output(DType::F32)
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  expectNear(k.result<float>(), {8, 24});
  expectNear(k.result<float>(1), {2});
  expectNear(k.result<float>(2), {1});
  EXPECT_EQ(k.dims(1), (Dims{1, 1}));
}

TEST(RMSNormalization, DoesNotOverflowInHalf) {
  KernelRunner k("onnx.RMSNormalization");
  std::vector<uint16_t> big = {f32ToF16(60000), f32ToF16(-60000)};
  std::vector<uint16_t> one = {f32ToF16(1), f32ToF16(0.5f)};
  k.operandAs(DType::F16, {1, 2}, big)
      .operandAs(DType::F16, {2}, one)
      .output(DType::F16);
  ASSERT_TRUE(k.run().ok());
  std::vector<uint16_t> got = k.result<uint16_t>();
  EXPECT_EQ(f16ToF32(got[0]), 1.0f);
  EXPECT_EQ(f16ToF32(got[1]), -0.5f);
}

TEST(SkipSimplifiedLayerNormalization, GivesTheSum) {
  KernelRunner k("onnx.microsoft.SkipSimplifiedLayerNormalization");
  k.operand<float>({1, 1, 2}, {1, 2})
      .operand<float>({1, 1, 2}, {2, 2})
      .operand<float>({2}, {1, 1})
      .set("epsilon", 0.0f)
      .output(DType::F32)
      .output(DType::None)
      .output(DType::None)
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  float root = 3.5355339f; // of (9 + 16) / 2
  expectNear(k.result<float>(), {3 / root, 4 / root});
  EXPECT_EQ(k.result<float>(3), (std::vector<float>{3, 4}));
}

TEST(SoftmaxCrossEntropyLoss, WeighsAndIgnores) {
  KernelRunner k("onnx.SoftmaxCrossEntropyLoss");
  // Equal scores: each probability is 1/2, its logarithm -ln 2.
  k.operand<float>({3, 2}, {5, 5, 7, 7, 0, 100})
      .operand<int64_t>({3}, {0, 1, -1})
      .operand<float>({2}, {1, 3})
      .set("ignore_index", int64_t{-1})
      .output(DType::F32)
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  expectNear(k.result<float>(), {0.6931472f});
  EXPECT_TRUE(k.dims(0).empty());
  expectNear(k.result<float>(1),
             {-0.6931472f, -0.6931472f, -0.6931472f, -0.6931472f, -100, 0});
}

TEST(NegativeLogLikelihoodLoss, RefusesAClassThatIsNotThere) {
  KernelRunner k("onnx.NegativeLogLikelihoodLoss");
  k.operand<float>({1, 2}, {1, 3})
      .operand<int64_t>({1}, {2})
      .output(DType::F32);
  EXPECT_EQ(k.run().code(), absl::StatusCode::kOutOfRange);
}

TEST(LayerNormalization, RefusesAScaleThatDoesNotStretch) {
  KernelRunner k("onnx.LayerNormalization");
  k.operand<float>({1, 2}, {1, 3})
      .operand<float>({3}, {2, 4, 5})
      .output(DType::F32);
  expectError(k.run(), "[3]");
}

TEST(Gelu, FormsAgreeNearZeroAndFarOut) {
  for (const char *name : {"onnx.microsoft.Gelu", "onnx.microsoft.FastGelu"}) {
    KernelRunner k(name);
    k.operand<float>({3}, {-20, 0, 20}).output(DType::F32);
    ASSERT_TRUE(k.run().ok());
    expectNear(k.result<float>(), {0, 0, 20});
  }
}

TEST(BatchNormalization, UsesGivenStatistics) {
  KernelRunner k("onnx.BatchNormalization");
  k.operand<float>({1, 2, 1}, {3, 5})
      .operand<float>({2}, {2, 1})
      .operand<float>({2}, {1, 0})
      .operand<float>({2}, {1, 5})
      .operand<float>({2}, {4, 1})
      .set("epsilon", 0.0f)
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  expectNear(k.result<float>(), {3, 0});
}

} // namespace
} // namespace sol
