//===- movement_test.cpp - slices, transposes, pads, shapes ---------------===//
#include "test/unit/cpu/run_kernel.h"

#include <limits>
#include <numeric>

using namespace sol;

namespace {
using Ints = std::vector<int64_t>;
constexpr int64_t far = std::numeric_limits<int64_t>::max();
constexpr int64_t least = std::numeric_limits<int64_t>::min();

Ints slice(int64_t size, int64_t start, int64_t end, int64_t step) {
  Ints values(size);
  std::iota(values.begin(), values.end(), 0);
  KernelRun kernel("onnx.Slice");
  kernel.input<int64_t>({size}, values)
      .input<int64_t>({1}, {start})
      .input<int64_t>({1}, {end})
      .input<int64_t>({1}, {-1})
      .input<int64_t>({1}, {step});
  EXPECT_TRUE(kernel.run({DType::I64}).ok());
  return kernel.result<int64_t>();
}

TEST(Movement, Slices) {
  EXPECT_EQ(slice(5, 1, 4, 2), (Ints{1, 3}));
  EXPECT_EQ(slice(5, -2, far, 1), (Ints{3, 4}));
  EXPECT_EQ(slice(5, far, least, -1), (Ints{4, 3, 2, 1, 0}));
  EXPECT_EQ(slice(5, -1, -6, -2), (Ints{4, 2, 0}));
  EXPECT_EQ(slice(5, 0, 5, far), (Ints{0}));
  EXPECT_EQ(slice(5, 4, 0, least), (Ints{4}));
  EXPECT_EQ(slice(5, 7, 9, 1), Ints());
  EXPECT_EQ(slice(0, 0, far, 1), Ints());
  EXPECT_EQ(slice(0, far, least, -1), Ints());
}

TEST(Movement, SliceWithStepZeroIsAnError) {
  KernelRun kernel("onnx.Slice");
  kernel.input<int64_t>({2}, {1, 2});
  for (int64_t value : {0, 2, 0, 0})
    kernel.input<int64_t>({1}, {value});
  EXPECT_FALSE(kernel.run({DType::I64}).ok());
}

TEST(Movement, TransposesAnySize) {
  for (Dims dims : {Dims{3, 5, 7}, Dims{40, 2, 70}, Dims{1, 65, 33}})
    for (Ints order : {Ints{2, 1, 0}, Ints{0, 2, 1}, Ints{1, 2, 0}}) {
      std::vector<int32_t> values(elementCount(dims));
      std::iota(values.begin(), values.end(), 0);
      KernelRun kernel("onnx.Transpose");
      kernel.set("perm", order).input<int32_t>(dims, values);
      ASSERT_TRUE(kernel.run({DType::I32}).ok());
      auto result = kernel.result<int32_t>();
      int64_t place[3], next = 0;
      Dims out = kernel.dims();
      for (place[0] = 0; place[0] < out[0]; ++place[0])
        for (place[1] = 0; place[1] < out[1]; ++place[1])
          for (place[2] = 0; place[2] < out[2]; ++place[2]) {
            int64_t at[3];
            for (int k = 0; k < 3; ++k)
              at[order[k]] = place[k];
            ASSERT_EQ(result[next++],
                      (at[0] * dims[1] + at[1]) * dims[2] + at[2]);
          }
    }
}

TEST(Movement, TransposesNibbles) {
  KernelRun kernel("onnx.Transpose");
  // 2 x 3 nibbles 1..6.
  kernel.input<uint8_t>({2, 3}, {0x21, 0x43, 0x65}, DType::U4);
  ASSERT_TRUE(kernel.run({DType::U4}).ok());
  // 1 4 2 5 3 6
  EXPECT_EQ(kernel.result<uint8_t>()[0], 0x41);
  EXPECT_EQ(kernel.result<uint8_t>()[1], 0x52);
  EXPECT_EQ(kernel.result<uint8_t>()[2], 0x63);
}

absl::Status reshape(Dims from, Ints shape, Dims &to, int64_t allowZero = 0) {
  KernelRun kernel("onnx.Reshape");
  kernel.set("allowzero", allowZero)
      .input<float>(from, std::vector<float>(elementCount(from)))
      .input<int64_t>({int64_t(shape.size())}, shape);
  absl::Status status = kernel.run({DType::F32});
  if (status.ok())
    to = kernel.dims();
  return status;
}

TEST(Movement, Reshapes) {
  Dims to;
  ASSERT_TRUE(reshape({2, 3, 4}, {0, -1}, to).ok());
  EXPECT_EQ(to, (Dims{2, 12}));
  ASSERT_TRUE(reshape({0, 3}, {3, 0}, to, 1).ok());
  EXPECT_EQ(to, (Dims{3, 0}));
  EXPECT_FALSE(reshape({2, 3}, {4, -1}, to).ok());
  EXPECT_FALSE(reshape({2, 3}, {-1, -1}, to).ok());
  EXPECT_FALSE(reshape({2, 3}, {5}, to).ok());
  EXPECT_FALSE(reshape({6}, {6, 0}, to).ok());
}

TEST(Movement, PadModes) {
  auto pad = [](std::string mode, Ints pads) {
    KernelRun kernel("onnx.Pad");
    kernel.set("mode", mode)
        .input<int64_t>({3}, {1, 2, 3})
        .input<int64_t>({2}, pads);
    EXPECT_TRUE(kernel.run({DType::I64}).ok());
    return kernel.result<int64_t>();
  };
  EXPECT_EQ(pad("constant", {1, 2}), (Ints{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(pad("constant", {-1, 1}), (Ints{2, 3, 0}));
  EXPECT_EQ(pad("reflect", {2, 1}), (Ints{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(pad("edge", {2, 1}), (Ints{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(pad("wrap", {1, 2}), (Ints{3, 1, 2, 3, 1, 2}));
}

TEST(Movement, HugeResultsAreRefused) {
  KernelRun kernel("onnx.Expand");
  kernel.input<float>({1}, {1}).input<int64_t>({2}, {1ll << 40, 1ll << 40});
  EXPECT_FALSE(kernel.run({DType::F32}).ok());
  KernelRun range("onnx.Range");
  range.input<int64_t>({}, {least})
      .input<int64_t>({}, {far})
      .input<int64_t>({}, {1});
  EXPECT_FALSE(range.run({DType::I64}).ok());
}

TEST(Movement, SplitsUnevenly) {
  KernelRun kernel("onnx.Split");
  kernel.set("num_outputs", int64_t(3)).input<int64_t>({5}, {1, 2, 3, 4, 5});
  ASSERT_TRUE(kernel.run({DType::I64, DType::I64, DType::I64}).ok());
  EXPECT_EQ(kernel.result<int64_t>(1), (Ints{3, 4}));
  EXPECT_EQ(kernel.result<int64_t>(2), (Ints{5}));
}
} // namespace
