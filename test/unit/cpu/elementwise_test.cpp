//===- elementwise_test.cpp - broadcasting and arithmetic -----------------===//
#include "test/unit/cpu/run_kernel.h"

#include <cmath>
#include <limits>

using namespace sol;

namespace {
template <typename T>
std::vector<T> binary(std::string name, Dims a, std::vector<T> x, Dims b,
                      std::vector<T> y) {
  KernelRun kernel(std::move(name));
  kernel.input(std::move(a), std::move(x)).input(std::move(b), std::move(y));
  EXPECT_TRUE(kernel.run({dtypeOf<T>()}).ok());
  return kernel.result<T>();
}

TEST(Elementwise, BroadcastsBothOperands) {
  EXPECT_EQ(binary<float>("onnx.Add", {2, 1}, {10, 20}, {3}, {1, 2, 3}),
            (std::vector<float>{11, 12, 13, 21, 22, 23}));
  EXPECT_EQ(binary<float>("onnx.Sub", {}, {1}, {2, 2}, {1, 2, 3, 4}),
            (std::vector<float>{0, -1, -2, -3}));
  EXPECT_EQ(binary<float>("onnx.Mul", {2, 1, 2}, {1, 2, 3, 4}, {2, 1}, {1, 10}),
            (std::vector<float>{1, 2, 10, 20, 3, 4, 30, 40}));
  EXPECT_EQ(binary<float>("onnx.Add", {0, 2}, {}, {2}, {1, 2}).size(), 0u);
}

TEST(Elementwise, LongRowsAreCutInChunks) {
  std::vector<float> x(3 * 1000), bias(1000), want;
  for (int i = 0; i < 3000; ++i)
    x[i] = i;
  for (int i = 0; i < 1000; ++i)
    bias[i] = 1000 - i;
  for (int i = 0; i < 3000; ++i)
    want.push_back(x[i] + bias[i % 1000]);
  EXPECT_EQ(binary<float>("onnx.Add", {3, 1000}, x, {1000}, bias), want);
}

TEST(Elementwise, ShapesThatDoNotBroadcast) {
  KernelRun kernel("onnx.Add");
  kernel.input<float>({2}, {1, 2}).input<float>({3}, {1, 2, 3});
  std::string message(kernel.run({DType::F32}).message());
  EXPECT_NE(message.find("[2]"), std::string::npos) << message;
  EXPECT_NE(message.find("[3]"), std::string::npos) << message;
}

TEST(Elementwise, IntegersWrapAndTruncate) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(binary<int64_t>("onnx.Div", {4}, {-7, 7, least, 9007199254740993},
                            {4}, {2, -2, -1, 1}),
            (std::vector<int64_t>{-3, -3, least, 9007199254740993}));
  EXPECT_EQ(binary<int8_t>("onnx.Mul", {2}, {100, -128}, {}, {2}),
            (std::vector<int8_t>{-56, 0}));
  EXPECT_EQ(binary<int64_t>("onnx.Mod", {3}, {-7, 7, least}, {3}, {3, -3, -1}),
            (std::vector<int64_t>{2, -2, 0}));
}

TEST(Elementwise, IntegerDivisionByZeroIsAnError) {
  for (const char *name : {"onnx.Div", "onnx.Mod"}) {
    KernelRun kernel(name);
    kernel.input<int32_t>({2}, {1, 2}).input<int32_t>({2}, {1, 0});
    std::string message(kernel.run({DType::I32}).message());
    EXPECT_NE(message.find("division by zero: element 1"), std::string::npos);
  }
}

TEST(Elementwise, Float16RoundsOncePerOperator) {
  // 2048 + 1 + 1 = 2050 in one Sum; rounded after each step it stays at 2048.
  KernelRun sum("onnx.Sum");
  for (float value : {2048.0f, 1.0f, 1.0f})
    sum.input<F16>({1}, {F16(value)});
  ASSERT_TRUE(sum.run({DType::F16}).ok());
  EXPECT_EQ(float(sum.result<F16>()[0]), 2050.0f);
}

TEST(Elementwise, ExtremesKeepNaN) {
  auto result = binary<float>("onnx.Max", {3}, {NAN, 1, 2}, {3}, {0, NAN, 3});
  EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]));
  EXPECT_EQ(result[2], 3.0f);
}

TEST(Elementwise, ClipWithoutABound) {
  KernelRun kernel("onnx.Clip");
  kernel.input<int32_t>({3}, {-5, 0, 5}).missing().input<int32_t>({}, {2});
  ASSERT_TRUE(kernel.run({DType::I32}).ok());
  EXPECT_EQ(kernel.result<int32_t>(), (std::vector<int32_t>{-5, 0, 2}));
}

TEST(Elementwise, ShiftsBeyondTheWidth) {
  KernelRun kernel("onnx.BitShift");
  kernel.set("direction", std::string("RIGHT"))
      .input<int64_t>({4}, {-8, -8, 8, -8})
      .input<int64_t>({4}, {1, 63, 64, -1});
  ASSERT_TRUE(kernel.run({DType::I64}).ok());
  EXPECT_EQ(kernel.result<int64_t>(), (std::vector<int64_t>{-4, -1, 0, -1}));
}

TEST(Elementwise, CastTruncatesAndRounds) {
  KernelRun toInteger("onnx.Cast");
  toInteger.set("to", int64_t(DType::I32))
      .input<float>({4}, {-1.9f, 2.9f, 3e9f, NAN});
  ASSERT_TRUE(toInteger.run({DType::I32}).ok());
  constexpr int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(toInteger.result<int32_t>(),
            (std::vector<int32_t>{-1, 2, least, least}));
  KernelRun toNibbles("onnx.Cast");
  toNibbles.set("to", int64_t(DType::I4)).input<int8_t>({3}, {-1, 7, -8});
  ASSERT_TRUE(toNibbles.run({DType::I4}).ok());
}
} // namespace
