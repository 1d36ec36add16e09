//===- resources_test.cpp - files that travel in a plan -------------------===//
//
// An embedded file is there under its name, and a damaged one is refused when
// it is asked for.
//
//===----------------------------------------------------------------------===//
#include "lib/emit/PlanFileWriter.h"
#include "runtime/plan/plan_reader.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace sol {
namespace {

/// A plan with one file, whose hash is changed by `damage`.
absl::StatusOr<std::shared_ptr<const Plan>> openWithFile(uint64_t damage) {
  std::string path =
      testing::TempDir() + "resources-" + std::to_string(damage) + ".bin";
  PlanFileWriter writer(path);
  uint64_t offset = 0;
  std::string_view content = "{\"n\": 1}";
  for (absl::Status status : {writer.open(), writer.endWeights(),
                              writer.appendSection(content, 64, offset)})
    if (!status.ok())
      return status;
  flatbuffers::FlatBufferBuilder builder;
  auto files = builder.CreateVector(std::vector{fb::CreateResource(
      builder, builder.CreateString("a.json"), offset, content.size(),
      PlanFileWriter::hash(content) ^ damage)});
  auto functions = builder.CreateVector(std::vector{fb::CreateFunction(
      builder, builder.CreateString("f"), 0, 0, 0, fb::CreateBlock(builder))});
  builder.Finish(fb::CreatePlan(builder, 0, functions, 0,
                                writer.weightsOffset(), 0, 0, 0, 0, files));
  if (absl::Status status = writer.finish(
          {reinterpret_cast<const char *>(builder.GetBufferPointer()),
           builder.GetSize()});
      !status.ok())
    return status;
  auto plan = Plan::open(path);
  std::filesystem::remove(path);
  return plan;
}

TEST(PlanResources, areFoundByName) {
  auto plan = openWithFile(0);
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto bytes = (*plan)->resource("a.json");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, "{\"n\": 1}");
  auto absent = (*plan)->resource("b.json");
  ASSERT_TRUE(absent.ok()) << absent.status();
  EXPECT_TRUE(absent->empty());
}

TEST(PlanResources, areCheckedWhenRead) {
  auto plan = openWithFile(1);
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto bytes = (*plan)->resource("a.json");
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::string(bytes.status().message())
                .find("embedded a.json differs from its hash"),
            std::string::npos)
      << bytes.status();
}

} // namespace
} // namespace sol
