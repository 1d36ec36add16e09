//===- indexing_test.cpp - gathers, scatters, sorting ---------------------===//
#include "test/unit/cpu/run_kernel.h"

#include <cmath>

using namespace sol;

namespace {
using Ints = std::vector<int64_t>;

TEST(Indexing, GatherCountsFromTheEnd) {
  KernelRun kernel("onnx.Gather");
  kernel.set("axis", int64_t(1))
      .input<float>({2, 3}, {1, 2, 3, 4, 5, 6})
      .input<int64_t>({2}, {-1, 0});
  ASSERT_TRUE(kernel.run({DType::F32}).ok());
  EXPECT_EQ(kernel.result<float>(), (std::vector<float>{3, 1, 6, 4}));
}

TEST(Indexing, OutOfRangeNamesIndexAxisAndRange) {
  for (int64_t index : {int64_t(10), int64_t(-11), int64_t(1) << 40}) {
    KernelRun kernel("onnx.Gather");
    kernel.input<float>({10}, std::vector<float>(10))
        .input<int64_t>({1}, {index});
    absl::Status status = kernel.run({DType::F32});
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    std::string message(status.message());
    EXPECT_NE(message.find("index " + std::to_string(index)),
              std::string::npos);
    EXPECT_NE(message.find("axis 0 of size 10"), std::string::npos);
  }
  KernelRun scatter("onnx.ScatterND");
  scatter.input<float>({2}, {1, 2})
      .input<int64_t>({1, 1}, {2})
      .input<float>({1}, {9});
  EXPECT_EQ(scatter.run({DType::F32}).code(), absl::StatusCode::kOutOfRange);
}

TEST(Indexing, GatherNothingAndScalars) {
  KernelRun empty("onnx.Gather");
  empty.input<float>({0, 3}, {}).input<int64_t>({0}, {});
  ASSERT_TRUE(empty.run({DType::F32}).ok());
  EXPECT_EQ(empty.dims(), (Dims{0, 3}));
  KernelRun scalar("onnx.Gather");
  scalar.input<float>({2}, {1, 2}).input<int64_t>({}, {-2});
  ASSERT_TRUE(scalar.run({DType::F32}).ok());
  EXPECT_EQ(scalar.dims(), Dims());
  EXPECT_EQ(scalar.result<float>()[0], 1.0f);
}

TEST(Indexing, GatherNDInBatches) {
  KernelRun kernel("onnx.GatherND");
  kernel.set("batch_dims", int64_t(1))
      .input<float>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7})
      .input<int64_t>({2, 1}, {1, -2});
  ASSERT_TRUE(kernel.run({DType::F32}).ok());
  EXPECT_EQ(kernel.result<float>(), (std::vector<float>{2, 3, 4, 5}));
}

TEST(Indexing, ScattersAddUp) {
  KernelRun kernel("onnx.ScatterND");
  kernel.set("reduction", std::string("add"))
      .input<float>({3}, {1, 2, 3})
      .input<int64_t>({3, 1}, {0, 0, -1})
      .input<float>({3}, {10, 20, 30});
  ASSERT_TRUE(kernel.run({DType::F32}).ok());
  EXPECT_EQ(kernel.result<float>(), (std::vector<float>{31, 2, 33}));
}

TEST(Indexing, CacheWritesWrapOnlyWhenCircular) {
  for (bool circular : {false, true}) {
    KernelRun kernel("onnx.TensorScatter");
    kernel.set("mode", std::string(circular ? "circular" : "linear"))
        .input<float>({1, 3, 1}, {1, 2, 3})
        .input<float>({1, 2, 1}, {8, 9})
        .input<int64_t>({1}, {2});
    absl::Status status = kernel.run({DType::F32});
    EXPECT_EQ(status.ok(), circular);
    if (circular)
      EXPECT_EQ(kernel.result<float>(), (std::vector<float>{9, 2, 8}));
  }
}

TEST(Indexing, TopKOrdersNaNAndTies) {
  KernelRun kernel("onnx.TopK");
  kernel.input<float>({5}, {1, NAN, 3, 3, 2}).input<int64_t>({1}, {3});
  ASSERT_TRUE(kernel.run({DType::F32, DType::I64}).ok());
  EXPECT_EQ(kernel.result<int64_t>(1), (Ints{1, 2, 3}));
}

TEST(Indexing, NonZeroOfNothing) {
  KernelRun kernel("onnx.NonZero");
  kernel.input<float>({2, 0}, {});
  ASSERT_TRUE(kernel.run({DType::I64}).ok());
  EXPECT_EQ(kernel.dims(), (Dims{2, 0}));
}

TEST(Indexing, TriluKeepsADiagonal) {
  KernelRun kernel("onnx.Trilu");
  kernel.set("upper", int64_t(0))
      .input<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6})
      .input<int64_t>({}, {1});
  ASSERT_TRUE(kernel.run({DType::I64}).ok());
  EXPECT_EQ(kernel.result<int64_t>(), (Ints{1, 2, 0, 4, 5, 6}));
}
} // namespace
