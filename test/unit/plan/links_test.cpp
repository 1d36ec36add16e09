//===- links_test.cpp - links of a plan, right and wrong ------------------===//
//
// Plans of two functions that do nothing, with links that a reader takes or
// refuses.
//
//===----------------------------------------------------------------------===//
#include "lib/emit/PlanFileWriter.h"
#include "runtime/plan/plan_reader.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace sol {
namespace {

using Links = std::vector<ProgramLink>;

/// A function that gives its two inputs back: float32, then int64 or a cache.
flatbuffers::Offset<fb::Function>
describeEcho(flatbuffers::FlatBufferBuilder &builder, const char *name,
             fb::ValueKind second) {
  const uint8_t types[] = {static_cast<uint8_t>(DType::F32),
                           static_cast<uint8_t>(second == fb::ValueKind_State
                                                    ? DType::F32
                                                    : DType::I64)};
  std::vector<flatbuffers::Offset<fb::Value>> values = {
      fb::CreateValue(builder, types[0], fb::ValueKind_Input),
      fb::CreateValue(builder, types[1], second)};
  std::vector<flatbuffers::Offset<fb::Port>> inputs, outputs;
  for (int i = 0; i < 2; ++i) {
    for (auto *ports : {&inputs, &outputs})
      ports->push_back(fb::CreatePort(
          builder, builder.CreateString("port" + std::to_string(i)), i,
          types[i], /*has_rank=*/true,
          builder.CreateVectorOfStrings({"1", "2", "n", "4"})));
  }
  auto block = fb::CreateBlock(
      builder, 0, 0, builder.CreateVector(std::vector<int32_t>{0, 1}));
  return fb::CreateFunction(
      builder, builder.CreateString(name), builder.CreateVector(inputs),
      builder.CreateVector(outputs), builder.CreateVector(values), block);
}

/// Writes a plan of functions `a` and `b` with these links and opens it.
absl::StatusOr<std::shared_ptr<const Plan>>
openWithLinks(const Links &links, fb::ValueKind second = fb::ValueKind_Input) {
  std::string path =
      testing::TempDir() + "links-" +
      testing::UnitTest::GetInstance()->current_test_info()->name() + ".bin";
  PlanFileWriter writer(path);
  if (absl::Status status = writer.open(); !status.ok())
    return status;
  if (absl::Status status = writer.endWeights(); !status.ok())
    return status;
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::Function>> functions = {
      describeEcho(builder, "a", second), describeEcho(builder, "b", second)};
  std::vector<flatbuffers::Offset<fb::Link>> tables;
  for (const ProgramLink &link : links)
    tables.push_back(fb::CreateLink(builder, link.fromFunction, link.fromOutput,
                                    link.toFunction, link.toInput));
  builder.Finish(fb::CreatePlan(
      builder, builder.CreateString("test"), builder.CreateVector(functions),
      builder.CreateVector(tables), writer.weightsOffset()));
  if (absl::Status status = writer.finish(
          {reinterpret_cast<const char *>(builder.GetBufferPointer()),
           builder.GetSize()});
      !status.ok())
    return status;
  auto plan = Plan::open(path);
  std::filesystem::remove(path);
  return plan;
}

void expectRefused(const Links &links, const std::string &part,
                   fb::ValueKind second = fb::ValueKind_Input) {
  auto plan = openWithLinks(links, second);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(plan.status().message()).find(part), std::string::npos)
      << plan.status();
}

TEST(PlanLinks, areRead) {
  auto plan = openWithLinks({{0, 0, 1, 0}, {0, 1, 1, 1}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ((*plan)->links().size(), 2u);
  EXPECT_EQ((*plan)->links()[1].fromOutput, 1);
  EXPECT_EQ((*plan)->links()[1].toFunction, 1);
}

TEST(PlanLinks, functionsOutOfRange) {
  expectRefused({{2, 0, 1, 0}}, "from function 2 to 1 of 2");
  expectRefused({{0, 0, -1, 0}}, "from function 0 to -1 of 2");
}

TEST(PlanLinks, portsOutOfRange) {
  expectRefused({{0, 2, 1, 0}}, "from output 2 of 2");
  expectRefused({{0, 0, 1, -1}}, "to input -1 of 2");
}

TEST(PlanLinks, toItself) {
  expectRefused({{1, 0, 1, 0}}, "from function 1 to 1");
}

TEST(PlanLinks, unequalElementTypes) {
  expectRefused({{0, 1, 1, 0}}, "gives int64 where the input is float32");
}

TEST(PlanLinks, twoFeedOneInput) {
  expectRefused({{0, 0, 1, 0}, {0, 0, 1, 0}}, "`port0` is fed by two links");
}

/// A tensor may become another function's cache; a cache stays where it is.
TEST(PlanLinks, caches) {
  expectRefused({{0, 1, 1, 0}}, "passes on a cache", fb::ValueKind_State);
  auto plan = openWithLinks({{0, 0, 1, 1}}, fb::ValueKind_State);
  EXPECT_TRUE(plan.ok()) << plan.status();
}

} // namespace
} // namespace sol
