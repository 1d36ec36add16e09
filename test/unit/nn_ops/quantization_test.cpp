//===- quantization_test.cpp - quantized operators and experts ------------===//
//
// Packing orders, tail blocks, ties and saturation, by hand.
//
//===----------------------------------------------------------------------===//
#include "kernel_runner.h"

namespace sol {
namespace {

TEST(QuantizeLinear, RoundsTiesToEvenAndSaturates) {
  KernelRunner k("onnx.QuantizeLinear");
  k.operand<float>({5}, {0.5f, 1.5f, -1000, 1000, -2.5f})
      .operand<float>({}, {1})
      .operand<int8_t>({}, {1})
      .output(DType::I8);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<int8_t>(), (std::vector<int8_t>{1, 3, -128, 127, -1}));
}

TEST(DequantizeLinear, BlocksOfInt4AlongAnAxis) {
  KernelRunner k("onnx.DequantizeLinear");
  // [[1, -2, 3], [-8, 7, 0]], the first element in the low nibble.
  k.operandAs<uint8_t>(DType::I4, {2, 3}, {0xe1, 0x83, 0x07})
      .operand<float>({2, 2}, {1, 10, 2, 100})
      .set("axis", int64_t(1))
      .set("block_size", int64_t(2))
      .output(DType::F32);
  ASSERT_TRUE(k.run(3).ok());
  EXPECT_EQ(k.result<float>(), (std::vector<float>{1, -2, 30, -16, 14, 0}));
}

TEST(DequantizeLinear, RefusesScalesOfAnotherShape) {
  KernelRunner k("onnx.DequantizeLinear");
  k.operand<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6})
      .operand<float>({2}, {1, 2})
      .set("axis", int64_t(1))
      .output(DType::F32);
  expectError(k.run(), "must be [3]");
}

TEST(DynamicQuantizeLinear, WidensTheRangeToZero) {
  KernelRunner k("onnx.DynamicQuantizeLinear");
  k.operand<float>({2}, {2.55f, 1})
      .output(DType::U8)
      .output(DType::F32)
      .output(DType::U8);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<uint8_t>(), (std::vector<uint8_t>{255, 100}));
  expectNear(k.result<float>(1), {0.01f});
  EXPECT_EQ(k.result<uint8_t>(2), (std::vector<uint8_t>{0}));
}

TEST(MatMulNBits, HandlesATailBlockAndZeroPoints) {
  // K = 17: one whole block of 16 and a tail of one; codes 9, zero point 8 in
  // the first block and 5 in the second.
  std::vector<uint8_t> codes(16, 0x99);
  KernelRunner k("onnx.microsoft.MatMulNBits");
  k.operand<float>({1, 17}, std::vector<float>(17, 1.0f))
      .operand<uint8_t>({1, 2, 8}, codes)
      .operand<float>({2}, {0.5f, 2})
      .operand<uint8_t>({1, 1}, {0x58})
      .set("K", int64_t(17))
      .set("N", int64_t(1))
      .set("bits", int64_t(4))
      .set("block_size", int64_t(16))
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<float>(), (std::vector<float>{16 * 0.5f + 8}));
}

TEST(MatMulNBits, RefusesOddBlocksAndShortScales) {
  for (int64_t block : {int64_t(24), int64_t(16)}) {
    KernelRunner k("onnx.microsoft.MatMulNBits");
    k.operand<float>({1, 16}, std::vector<float>(16, 1.0f))
        .operand<uint8_t>({2, 1, 8}, std::vector<uint8_t>(16, 0))
        .operand<float>({1}, {1})
        .set("K", int64_t(16))
        .set("N", int64_t(2))
        .set("bits", int64_t(4))
        .set("block_size", block)
        .output(DType::F32);
    expectError(k.run(), block == 24 ? "24" : "must have 2");
  }
}

TEST(GatherBlockQuantized, NegativeAndForeignIndices) {
  KernelRunner k("onnx.microsoft.GatherBlockQuantized");
  std::vector<uint8_t> table(16, 0x88);
  table[8] = 0x9a; // row 1 begins 10, 9
  k.operand<uint8_t>({2, 8}, table)
      .operand<int64_t>({2}, {-1, 7})
      .operand<float>({2, 1}, {1, 0.5f})
      .set("block_size", int64_t(16))
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  std::vector<float> want(32, 0.0f);
  want[0] = 1;
  want[1] = 0.5f;
  EXPECT_EQ(k.result<float>(), want);
}

TEST(MoE, TiesGoToTheLowerExpert) {
  KernelRunner k("onnx.microsoft.MoE");
  k.operand<float>({1, 1}, {3})
      .operand<float>({1, 3}, {0, 1, 1})
      .operand<float>({3, 1, 1}, {1, 10, 100})
      .missing()
      .operand<float>({3, 1, 1}, {1, 1, 1})
      .set("k", int64_t(1))
      .set("normalize_routing_weights", int64_t(1))
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<float>(), (std::vector<float>{30}));
}

} // namespace
} // namespace sol
