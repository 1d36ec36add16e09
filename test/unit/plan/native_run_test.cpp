//===- native_run_test.cpp - machine code of plans, run -------------------===//
//
// Plans with functions assembled by hand, on one worker and on two. Skipped on
// processors that can't run them.
//
//===----------------------------------------------------------------------===//
#include "native_plan.h"

#include "runtime/plan/native_image.h"
#include "runtime/session/executor.h"

#include <cstdlib>
#include <numeric>

namespace sol::test {
namespace {

/// A tensor with its elements.
struct Numbers {
  Numbers(Dims dims, float first) : elements(elementCount(dims)) {
    std::iota(elements.begin(), elements.end(), first);
    tensor.type = DType::F32;
    tensor.dims = std::move(dims);
    tensor.data = elements.data();
  }
  std::vector<float> elements;
  Tensor tensor;
};

class NativeRun : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    if (runnableLevels().empty())
      GTEST_SKIP() << "this processor runs no code of x86-64";
  }

  std::unique_ptr<Executor> load(const PlanText &text) {
    auto plan = openPlan(text);
    if (!plan.ok()) {
      ADD_FAILURE() << plan.status();
      return nullptr;
    }
    ExecutorOptions options;
    options.threads = GetParam();
    options.profile = true;
    auto executor =
        Executor::create(*plan, (*plan)->functions().front(), options);
    EXPECT_TRUE(executor.ok()) << executor.status();
    return *std::move(executor);
  }

  static std::vector<float> output(const Executor &executor) {
    const Tensor &tensor = executor.output(0);
    return {tensor.as<float>(), tensor.as<float>() + tensor.size()};
  }

  static void expectFailure(const absl::Status &status, absl::StatusCode code,
                            const std::string &part) {
    EXPECT_EQ(status.code(), code);
    EXPECT_NE(std::string(status.message()).find(part), std::string::npos)
        << status;
  }
};

TEST_P(NativeRun, elements) {
  auto executor = load(addPlan());
  ASSERT_NE(executor, nullptr);
  for (int64_t count : {0, 1, 5, 100001}) {
    Numbers x({count}, 1), y({count}, 1000);
    absl::Status status = executor->run({x.tensor, y.tensor});
    ASSERT_TRUE(status.ok()) << status;
    std::vector<float> sums = output(*executor);
    ASSERT_EQ(sums.size(), static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(sums[i], x.elements[i] + y.elements[i]) << i;
  }
}

TEST_P(NativeRun, rowsWithScratch) {
  auto executor = load(sumPlan());
  ASSERT_NE(executor, nullptr);
  for (int64_t rows : {0, 1, 3, 100})
    for (int64_t length : {0, 1, 1000}) {
      Numbers x({rows, length}, 0.5f);
      absl::Status status = executor->run({x.tensor});
      ASSERT_TRUE(status.ok()) << status;
      std::vector<float> sums = output(*executor);
      ASSERT_EQ(sums.size(), static_cast<size_t>(rows));
      for (int64_t row = 0; row < rows; ++row) {
        float sum = 0;
        for (int64_t i = 0; i < length; ++i)
          sum += x.elements[row * length + i];
        ASSERT_EQ(sums[row], sum) << row << " of " << rows << "x" << length;
      }
    }
}

TEST_P(NativeRun, dimensionsInGroups) {
  // Three dimensions, of which the first two count rows.
  PlanText text = sumPlan();
  text.loops[0].groups = {0, 0, 1};
  text.loops[0].operands[0].axes = {0, 1, -1, 2};
  text.loops[0].results[0].axes = {0, -1, 1};
  auto executor = load(text);
  ASSERT_NE(executor, nullptr);
  Numbers x({2, 3, 1, 4}, 0);
  absl::Status status = executor->run({x.tensor});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(executor->output(0).dims, (Dims{2, 1, 3}));
  EXPECT_EQ(output(*executor), (std::vector<float>{6, 22, 38, 54, 70, 86}));
}

TEST_P(NativeRun, inPlace) {
  PlanText text = addPlan();
  text.values.push_back({fb::ValueKind_Slot, DType::F32, 0});
  text.steps.push_back({0, {2, 1}, {3}});
  auto executor = load(text);
  ASSERT_NE(executor, nullptr);
  Numbers x({3}, 0), y({3}, 10);
  absl::Status status = executor->run({x.tensor, y.tensor});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(output(*executor), (std::vector<float>{20, 23, 26}));
}

TEST_P(NativeRun, unequalSizes) {
  auto executor = load(addPlan());
  ASSERT_NE(executor, nullptr);
  Numbers three({3}, 0), four({4}, 0), matrix({3, 1}, 0);
  expectFailure(executor->run({three.tensor, four.tensor}),
                absl::StatusCode::kInvalidArgument,
                "node `here` (add): operand 1 has size 4 along axis 0 where "
                "operand 0 has 3");
  expectFailure(executor->run({three.tensor, matrix.tensor}),
                absl::StatusCode::kInvalidArgument,
                "operand 1 has sizes [3, 1] where the plan expects 1 axes");
  PlanText text = addPlan();
  text.loops[0].operands[1].axes = {0, -1};
  executor = load(text);
  Numbers wide({3, 2}, 0);
  expectFailure(executor->run({three.tensor, wide.tensor}),
                absl::StatusCode::kInvalidArgument,
                "operand 1 has size 2 along axis 1, the plan expects 1");
}

TEST_P(NativeRun, otherElementTypes) {
  auto executor = load(addPlan());
  ASSERT_NE(executor, nullptr);
  Numbers x({3}, 0), y({3}, 0);
  y.tensor.type = DType::I32;
  expectFailure(executor->run({x.tensor, y.tensor}),
                absl::StatusCode::kInvalidArgument,
                "operand 1 is int32, the plan expects float32");
}

TEST_P(NativeRun, sizesThatOverflow) {
  // The outer sum of two vectors, whose elements nobody looks at.
  PlanText text = addPlan();
  LoopText &loop = text.loops[0];
  loop.groups = {0, 1};
  loop.sizes = 2;
  loop.operands[1].axes = {1};
  loop.results[0].axes = {0, 1};
  auto executor = load(text);
  ASSERT_NE(executor, nullptr);
  Numbers x({1}, 0);
  x.tensor.dims = {int64_t(1) << 32};
  expectFailure(executor->run({x.tensor, x.tensor}),
                absl::StatusCode::kResourceExhausted,
                "works on sizes [4294967296, 4294967296]");
  x.tensor.dims = {int64_t(1) << 30};
  expectFailure(executor->run({x.tensor, x.tensor}),
                absl::StatusCode::kResourceExhausted, "bytes");
}

TEST_P(NativeRun, codeThatFails) {
  PlanText text = addPlan();
  text.loops[0].entries = {failEntry};
  auto executor = load(text);
  ASSERT_NE(executor, nullptr);
  Numbers x({3}, 0);
  expectFailure(executor->run({x.tensor, x.tensor}),
                absl::StatusCode::kInternal,
                "node `here` (add): the compiled loop gave up with code 7");
}

TEST_P(NativeRun, withoutItsCode) {
  PlanOpenOptions options;
  options.loadCode = false;
  auto plan = openPlan(addPlan(), options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto executor = Executor::create(*plan, (*plan)->functions().front(), {});
  Numbers x({3}, 0);
  expectFailure((*executor)->run({x.tensor, x.tensor}),
                absl::StatusCode::kFailedPrecondition,
                "opened without its machine code");
}

TEST_P(NativeRun, allocatesWhenShapesGrow) {
  auto executor = load(sumPlan());
  ASSERT_NE(executor, nullptr);
  Numbers small({40, 1000}, 0), large({80, 2000}, 0);
  ASSERT_TRUE(executor->run({small.tensor}).ok());
  int64_t first = executor->allocations();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(executor->run({small.tensor}).ok());
  EXPECT_EQ(executor->allocations(), first);
  ASSERT_TRUE(executor->run({large.tensor}).ok());
  EXPECT_GT(executor->allocations(), first);
}

TEST_P(NativeRun, isProfiledByName) {
  auto executor = load(addPlan());
  ASSERT_NE(executor, nullptr);
  Numbers x({3}, 0);
  ASSERT_TRUE(executor->run({x.tensor, x.tensor}).ok());
  ASSERT_EQ(executor->profile().size(), 1u);
  EXPECT_EQ(executor->profile()[0].kernel, "add");
  EXPECT_EQ(executor->profile()[0].location, "here");
}

TEST_P(NativeRun, takesTheBestImage) {
  // Code for a processor unknown today, for any, and for this one if it can.
  PlanText text = addPlan();
  text.levels = {"x86-64-v9", "x86-64", "x86-64-v3"};
  text.loops[0].entries = {failEntry, addEntry, sumEntry};
  bool hasLevel3 = runnableLevels().front() == "x86-64-v3";
  auto plan = openPlan(text);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ((*plan)->nativeImage(), hasLevel3 ? 2 : 1);
  setenv("SOL_CPU", "portable", 1);
  auto executor = load(text);
  ASSERT_NE(executor, nullptr);
  unsetenv("SOL_CPU");
  Numbers x({2}, 1);
  ASSERT_TRUE(executor->run({x.tensor, x.tensor}).ok());
  EXPECT_EQ(output(*executor), (std::vector<float>{2, 4}));
}

INSTANTIATE_TEST_SUITE_P(Workers, NativeRun, testing::Values(1, 2));

TEST(NativeCode, isCopiedWhereItCanNotRun) {
  if (runnableLevels().empty())
    GTEST_SKIP() << "this processor runs no code of x86-64";
  // Not at the start of a page.
  std::string bytes = "." + std::string(codeBytes);
  auto code = NativeCode::create(std::string_view(bytes).substr(1));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_NE((*code)->data(), bytes.data() + 1);
  auto fail = reinterpret_cast<NativeFunction>(
      const_cast<char *>((*code)->data() + failEntry));
  EXPECT_EQ(fail(nullptr, 0, 0), 7);
}

} // namespace
} // namespace sol::test
