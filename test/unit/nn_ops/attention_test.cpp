//===- attention_test.cpp - attention and rotary embedding ----------------===//
//
// Causal offsets, masked rows, caches of unequal rows, rotation, by hand: equal
// scores make the result the mean of the visible values.
//
//===----------------------------------------------------------------------===//
#include "kernel_runner.h"

namespace sol {
namespace {

/// Queries of zeros score all keys alike.
KernelRunner plainAttention(int64_t queries, int64_t keys) {
  KernelRunner k("onnx.Attention");
  std::vector<float> values;
  for (int64_t i = 0; i < keys; ++i)
    values.push_back(float(1 << i));
  k.operand<float>({1, 1, queries, 1}, std::vector<float>(queries, 0.0f))
      .operand<float>({1, 1, keys, 1}, std::vector<float>(keys, 1.0f))
      .operand<float>({1, 1, keys, 1}, values);
  return k;
}

TEST(Attention, CausalWithoutPastBeginsAtTheTopLeft) {
  KernelRunner k = plainAttention(2, 3);
  k.set("is_causal", int64_t(1)).output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  expectNear(k.result<float>(), {1, 1.5f});
}

TEST(Attention, CausalCountsThePast) {
  KernelRunner k = plainAttention(1, 1);
  k.missing()
      .operand<float>({1, 1, 2, 1}, {1, 1})
      .operand<float>({1, 1, 2, 1}, {4, 7})
      .set("is_causal", int64_t(1))
      .output(DType::F32)
      .output(DType::F32)
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  expectNear(k.result<float>(), {4});
  EXPECT_EQ(k.result<float>(2), (std::vector<float>{4, 7, 1}));
}

TEST(Attention, FullyMaskedRowsAreZeroAndShortMasksArePadded) {
  KernelRunner k = plainAttention(2, 3);
  k.operandAs<uint8_t>(DType::Bool, {2, 2}, {0, 0, 1, 1}).output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  expectNear(k.result<float>(), {0, 1.5f});
}

TEST(Attention, RefusesALengthBeyondTheCache) {
  KernelRunner k = plainAttention(1, 3);
  k.missing().missing().missing().operand<int64_t>({1}, {4}).output(DType::F32);
  expectError(k.run(), "holds 4");
}

TEST(RotaryEmbedding, RotatesHalvesByPosition) {
  KernelRunner k("onnx.RotaryEmbedding");
  k.operand<float>({1, 1, 1, 2}, {1, 2})
      .operand<float>({2, 1}, {1, 0})
      .operand<float>({2, 1}, {0, 1})
      .operand<int64_t>({1, 1}, {1})
      .output(DType::F32);
  ASSERT_TRUE(k.run().ok());
  EXPECT_EQ(k.result<float>(), (std::vector<float>{-2, 1}));
}

TEST(RotaryEmbedding, RefusesAPositionOutOfTheTable) {
  KernelRunner k("onnx.RotaryEmbedding");
  k.operand<float>({1, 1, 1, 2}, {1, 2})
      .operand<float>({2, 1}, {1, 0})
      .operand<float>({2, 1}, {0, 1})
      .operand<int64_t>({1, 1}, {2})
      .output(DType::F32);
  expectError(k.run(), "holds 2");
}

/// Two rows with 3 and 1 past positions in a cache of 3, one new token each.
KernelRunner groupQuery(std::vector<int32_t> lengths, int32_t total) {
  KernelRunner k("onnx.microsoft.GroupQueryAttention");
  k.operand<float>({2, 1, 2}, {0, 0, 0, 0})
      .operand<float>({2, 1, 1}, {5, 6})
      .operand<float>({2, 1, 1}, {8, 9})
      .operand<float>({2, 1, 3, 1}, {1, 1, 1, 1, 1, 1})
      .operand<float>({2, 1, 3, 1}, {0, 4, 0, 3, 100, 100})
      .operand<int32_t>({2}, std::move(lengths))
      .operand<int32_t>({}, {total})
      .set("num_heads", int64_t(2))
      .set("kv_num_heads", int64_t(1))
      .output(DType::F32)
      .output(DType::F32)
      .output(DType::F32);
  return k;
}

TEST(GroupQueryAttention, RowsHaveTheirOwnLengths) {
  KernelRunner k = groupQuery({3, 1}, 4);
  ASSERT_TRUE(k.run(2).ok());
  expectNear(k.result<float>(), {3, 3, 6, 6});
  EXPECT_EQ(k.dims(2), (Dims{2, 1, 4, 1}));
  EXPECT_EQ(k.result<float>(2), (std::vector<float>{0, 4, 0, 8, 3, 9, 0, 0}));
}

TEST(GroupQueryAttention, RefusesLengthsOutOfTheCache) {
  for (std::vector<int32_t> lengths :
       {std::vector<int32_t>{3, -1}, {99, 3}, {-5, 2}}) {
    KernelRunner k = groupQuery(lengths, 4);
    expectError(k.run(), "seqlens_k");
  }
  KernelRunner k = groupQuery({3, 1}, 9);
  expectError(k.run(), "total_sequence_length");
}

TEST(GroupQueryAttention, WindowCountsTheCurrentToken) {
  KernelRunner k = groupQuery({3, 1}, 4);
  k.set("local_window_size", int64_t(1));
  ASSERT_TRUE(k.run().ok());
  expectNear(k.result<float>(), {8, 8, 9, 9});
}

} // namespace
} // namespace sol
