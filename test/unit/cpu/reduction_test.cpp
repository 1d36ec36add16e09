//===- reduction_test.cpp - reductions and softmax ------------------------===//
#include "test/unit/cpu/run_kernel.h"

#include <cmath>
#include <limits>

using namespace sol;

namespace {
using Floats = std::vector<float>;

Floats reduce(std::string name, Dims dims, Floats values,
              std::vector<int64_t> axes) {
  KernelRun kernel(std::move(name));
  kernel.set("keepdims", int64_t(0))
      .input<float>(std::move(dims), std::move(values))
      .input<int64_t>({int64_t(axes.size())}, axes);
  EXPECT_TRUE(kernel.run({DType::F32}).ok());
  return kernel.result<float>();
}

TEST(Reduction, AnyAxes) {
  Floats x = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(reduce("onnx.ReduceSum", {2, 2, 2}, x, {0}),
            (Floats{6, 8, 10, 12}));
  EXPECT_EQ(reduce("onnx.ReduceSum", {2, 2, 2}, x, {1}),
            (Floats{4, 6, 12, 14}));
  EXPECT_EQ(reduce("onnx.ReduceSum", {2, 2, 2}, x, {-1}),
            (Floats{3, 7, 11, 15}));
  EXPECT_EQ(reduce("onnx.ReduceSum", {2, 2, 2}, x, {0, 2}), (Floats{14, 22}));
  EXPECT_EQ(reduce("onnx.ReduceMean", {2, 2, 2}, x, {}), (Floats{4.5}));
}

TEST(Reduction, EmptySets) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(reduce("onnx.ReduceSum", {2, 0}, {}, {1}), (Floats{0, 0}));
  EXPECT_EQ(reduce("onnx.ReduceProd", {2, 0}, {}, {1}), (Floats{1, 1}));
  EXPECT_EQ(reduce("onnx.ReduceMax", {1, 0}, {}, {1}), (Floats{-infinity}));
  EXPECT_EQ(reduce("onnx.ReduceMin", {1, 0}, {}, {1}), (Floats{infinity}));
  EXPECT_EQ(reduce("onnx.ReduceSum", {0, 2}, {}, {1}), Floats());
}

// Rows and columns of one matrix and its transpose give the same bits, and
// zeros at the end change none.
TEST(Reduction, OrderDependsOnTheIndexAlone) {
  constexpr int n = 1003, padded = 1100, columns = 70;
  Floats rows(columns * n), turned(n * columns), longer(columns * padded);
  for (int c = 0; c < columns; ++c)
    for (int i = 0; i < n; ++i) {
      float value = std::ldexp(1.0f + (i * 37 + c * 11) % 101, i % 13);
      rows[c * n + i] = turned[i * columns + c] = longer[c * padded + i] =
          1.0f / value;
    }
  Floats a = reduce("onnx.ReduceSum", {columns, n}, rows, {1});
  EXPECT_EQ(a, reduce("onnx.ReduceSum", {n, columns}, turned, {0}));
  EXPECT_EQ(a, reduce("onnx.ReduceSum", {columns, padded}, longer, {1}));
}

TEST(Reduction, SoftmaxAlongAnyAxis) {
  KernelRun kernel("onnx.Softmax");
  kernel.set("axis", int64_t(0)).input<float>({2, 2}, {0, 1000, 0, -1000});
  ASSERT_TRUE(kernel.run({DType::F32}).ok());
  EXPECT_EQ(kernel.result<float>(), (Floats{0.5f, 1, 0.5f, 0}));
}

TEST(Reduction, MaskedTailsChangeNoBit) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  Floats scores(13), padded(40, lowest);
  for (int i = 0; i < 13; ++i)
    scores[i] = padded[i] = std::sin(i * 1.7f) * 5;
  KernelRun a("onnx.Softmax"), b("onnx.Softmax");
  a.input<float>({13}, scores);
  b.input<float>({40}, padded);
  ASSERT_TRUE(a.run({DType::F32}).ok() && b.run({DType::F32}).ok());
  Floats x = a.result<float>(), y = b.result<float>();
  y.resize(13);
  EXPECT_EQ(x, y);
}

TEST(Reduction, ArgMaxChoosesAmongEquals) {
  for (int64_t last : {0, 1}) {
    KernelRun kernel("onnx.ArgMax");
    kernel.set("select_last_index", last).input<float>({4}, {1, 3, 3, 2});
    ASSERT_TRUE(kernel.run({DType::I64}).ok());
    EXPECT_EQ(kernel.result<int64_t>()[0], 1 + last);
  }
}

TEST(Reduction, CumSumBackwards) {
  KernelRun kernel("onnx.CumSum");
  kernel.set("reverse", int64_t(1))
      .set("exclusive", int64_t(1))
      .input<int32_t>({3}, {1, 2, 3})
      .input<int64_t>({}, {0});
  ASSERT_TRUE(kernel.run({DType::I32}).ok());
  EXPECT_EQ(kernel.result<int32_t>(), (std::vector<int32_t>{5, 3, 0}));
}

TEST(Reduction, EinsumAsAProductAndADiagonal) {
  KernelRun product("onnx.Einsum");
  product.set("equation", std::string("ij, jk -> ik"))
      .input<float>({2, 2}, {1, 2, 3, 4})
      .input<float>({2, 1}, {10, 1});
  ASSERT_TRUE(product.run({DType::F32}).ok());
  EXPECT_EQ(product.result<float>(), (Floats{12, 34}));
  KernelRun trace("onnx.Einsum");
  trace.set("equation", std::string("ii")).input<float>({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(trace.run({DType::F32}).ok());
  EXPECT_EQ(trace.result<float>(), (Floats{5}));
  KernelRun wrong("onnx.Einsum");
  wrong.set("equation", std::string("ij,k->i"))
      .input<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_FALSE(wrong.run({DType::F32}).ok());
}
} // namespace
