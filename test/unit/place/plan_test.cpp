//===- plan_test.cpp - plans of full size, and what is said of them -------===//
//
// Shapes of the size that is studied, made up without a file: how long placing
// takes, and the fields of reports.
//
//===----------------------------------------------------------------------===//
#include "lib/place/report/Plan.h"
#include "test/unit/place/graphs.h"

#include <gtest/gtest.h>

namespace sol::place {
namespace {

PlanRequest quickRequest(const char *target, int64_t wafers, int64_t context) {
  PlanRequest request;
  request.target = target;
  request.wafers = wafers;
  request.context = context;
  request.limits.seconds = 0.5;
  return request;
}

TEST(Plan, ReportHasItsFields) {
  auto plan = makePlan(decoderGraph({}), quickRequest("mesh-8x8", 0, 128));
  ASSERT_TRUE(plan.ok()) << plan.status();
  nlohmann::ordered_json json = (*plan)->json();
  for (const char *field :
       {"schema_version", "wafers", "decode_tokens_per_s",
        "time_to_first_token_s", "lower_bound_tokens_per_s", "context",
        "prompt_tokens", "sequences", "number_formats", "limiting_resource",
        "watts", "joules_per_token", "low", "high", "free_constants",
        "baselines", "wafer_curve", "regions", "blocks"})
    EXPECT_TRUE(json.contains(field)) << field;
  EXPECT_LE(json["decode_tokens_per_s"], json["lower_bound_tokens_per_s"]);
  EXPECT_LE(json["low"]["decode_tokens_per_s"], json["decode_tokens_per_s"]);
  EXPECT_GE(json["high"]["decode_tokens_per_s"], json["decode_tokens_per_s"]);
  EXPECT_EQ(json["blocks"].size(), 6u);
  EXPECT_NE((*plan)->summary().find("lower bound"), std::string::npos);
}

TEST(Plan, IsTheSameEachTime) {
  PlanRequest request = quickRequest("mesh-8x8", 2, 128);
  request.limits.seconds = 60; // the number of attempts ends it, not the clock
  auto one = makePlan(decoderGraph({.layers = 1}), request);
  auto two = makePlan(decoderGraph({.layers = 1}), request);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ((*one)->json().dump(), (*two)->json().dump());
}

TEST(Plan, NeedsAContext) {
  auto plan = makePlan(decoderGraph({}), quickRequest("mesh-8x8", 1, 0));
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(std::string(plan.status().message()).find("--context"),
            std::string::npos);
}

TEST(Plan, ContextObjectiveFillsTheMemory) {
  PlanRequest request = quickRequest("mesh-8x8", 1, 16);
  request.objective = Objective::Context;
  auto plan = makePlan(decoderGraph({}), request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_GT((*plan)->solution.problem.context, 1000);
}

/// A dense model of 55 billion 8-bit weights with a long context.
TEST(Plan, LargeDenseModel) {
  ModelGraph graph = decoderGraph({.layers = 80,
                                   .width = 5120,
                                   .heads = 40,
                                   .kvHeads = 8,
                                   .headSize = 128,
                                   .inner = 40960,
                                   .vocabulary = 128256});
  EXPECT_NEAR(graph.parameters(), 55e9, 2e9);
  PlanRequest request = quickRequest("wse3", 4, 131072);
  auto plan = makePlan(graph, request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const Solution &solution = (*plan)->solution;
  EXPECT_LE(solution.placement.wafers(), 4);
  ASSERT_TRUE((*plan)->fullGrid && (*plan)->bestRectangle);
  EXPECT_EQ((*plan)->fullGrid->placement.wafers(), 80);
  // Smaller rectangles and fewer links are worth more than 76 wafers.
  EXPECT_GT(solution.evaluation.tokensPerSecond,
            1.2 * (*plan)->fullGrid->evaluation.tokensPerSecond);
  EXPECT_GE((*plan)->bestRectangle->evaluation.tokensPerSecond,
            (*plan)->fullGrid->evaluation.tokensPerSecond);
}

} // namespace
} // namespace sol::place
