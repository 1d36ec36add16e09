//===- block_quantized_test.cpp - MatMulNBits over codes ------------------===//
//
// The bits of the chain over the dequantized matrix, for every form of zero
// points, on one thread and two.
//
//===----------------------------------------------------------------------===//
#include "test/unit/fast/fast_kernel_fixture.h"

#include <cmath>

namespace sol::test {
namespace {

enum class Zeros { None, Packed, Float };

struct NBits {
  int64_t bits, block, rows, depth, columns;
  Zeros zeros;
  DType scaleType;

  int64_t blocks() const { return (depth + block - 1) / block; }
  int64_t rowBytes() const { return blocks() * block * bits / 8; }
  int64_t zeroBytes() const { return (blocks() * bits + 7) / 8; }
};

Owned randomBytes(int64_t count, uint32_t seed) {
  Owned result(DType::U8, {count});
  std::mt19937 random(seed);
  for (int64_t i = 0; i < count; ++i)
    result.tensor.as<uint8_t>()[i] = static_cast<uint8_t>(random());
  return result;
}

float code(const uint8_t *row, int64_t i, int64_t bits) {
  return bits == 8 ? row[i]
                   : static_cast<float>(row[i / 2] >> (i % 2 * 4) & 15);
}

void check(const NBits &c, int threads) {
  Owned x = randomTensor(DType::F32, {c.rows, c.depth}, 1);
  Owned codes = randomBytes(c.columns * c.rowBytes(), 2);
  codes.tensor.dims = {c.columns, c.blocks(), c.block * c.bits / 8};
  Owned scales = randomTensor(c.scaleType, {c.columns, c.blocks()}, 3);
  Owned zeros;
  if (c.zeros == Zeros::Packed) {
    zeros = randomBytes(c.columns * c.zeroBytes(), 4);
    zeros.tensor.dims = {c.columns, c.zeroBytes()};
  } else if (c.zeros == Zeros::Float) {
    zeros = randomTensor(c.scaleType, {c.columns, c.blocks()}, 4);
  }
  Owned bias = randomTensor(DType::F32, {c.columns}, 5), none;
  Attributes attributes;
  attributes.set("K", c.depth);
  attributes.set("N", c.columns);
  attributes.set("bits", c.bits);
  attributes.set("block_size", c.block);
  auto y = callKernel("onnx.microsoft.MatMulNBits", attributes,
                      {x.tensor, codes.tensor, scales.tensor, zeros.tensor,
                       none.tensor, bias.tensor},
                      DType::F32, threads);
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t n = 0; n < c.columns; ++n) {
    std::vector<float> w(static_cast<size_t>(c.depth));
    for (int64_t k = 0; k < c.depth; ++k) {
      int64_t b = k / c.block;
      float zero =
          c.zeros == Zeros::None ? static_cast<float>(1 << (c.bits - 1))
          : c.zeros == Zeros::Float
              ? zeros.at(n * c.blocks() + b)
              : code(zeros.tensor.as<uint8_t>() + n * c.zeroBytes(), b, c.bits);
      w[static_cast<size_t>(k)] =
          (code(codes.tensor.as<uint8_t>() + n * c.rowBytes(), k, c.bits) -
           zero) *
          scales.at(n * c.blocks() + b);
    }
    for (int64_t r = 0; r < c.rows; ++r) {
      float sum = 0;
      for (int64_t k = 0; k < c.depth; ++k)
        sum = std::fma(x.at(r * c.depth + k), w[static_cast<size_t>(k)], sum);
      ASSERT_EQ(y->at(r * c.columns + n), sum + bias.at(n))
          << c.bits << " " << c.block << " " << r << " " << n;
    }
  }
}

TEST(MatMulNBits, isTheChainOverDequantizedWeights) {
  if (!callKernel("onnx.microsoft.MatMulNBits", {}, {}, DType::F32).ok() &&
      !findKernel("onnx.microsoft.MatMulNBits"))
    GTEST_SKIP() << "built without the reference kernels";
  for (int64_t bits : {4, 8})
    for (Zeros zeros : {Zeros::None, Zeros::Packed, Zeros::Float})
      for (DType scaleType : {DType::F32, DType::F16})
        for (int64_t rows : {1, 3, 8}) {
          check({bits, 32, rows, 100, 37, zeros, scaleType}, 1);
          check({bits, 16, rows, 500, 20, zeros, scaleType}, 2);
        }
}

} // namespace
} // namespace sol::test
