//===- problem_test.cpp - the rules of placements catch what breaks them --===//
//
// A placement that obeys, and each way of breaking one rule.
//
//===----------------------------------------------------------------------===//
#include "lib/place/plan/Memory.h"
#include "lib/place/search/Search.h"
#include "test/unit/place/graphs.h"

#include <gtest/gtest.h>

#include <random>

namespace sol::place {
namespace {

/// Problem and graph together.
struct Case {
  ModelGraph graph;
  Problem problem;

  explicit Case(const DecoderSizes &sizes, const char *target = "mesh-8x8")
      : graph(decoderGraph(sizes)) {
    problem.graph = &graph;
    problem.target = *findTarget(target);
    problem.context = problem.promptTokens = 64;
    problem.wafers = 2;
  }
};

/// Two regions side by side: the embedding and the first layer, and the rest.
Placement twoRegions(const Case &made) {
  Placement placement;
  placement.regions = {{0, {0, 0, 4, 8}}, {0, {4, 0, 4, 8}}};
  for (size_t i = 0; i < made.graph.blocks.size(); ++i)
    placement.blocks.push_back(
        {{i < 3 ? 0 : 1, 0, made.graph.blocks[i].experts()}});
  return placement;
}

void expectOne(const Case &made, const Placement &placement,
               const std::string &rule) {
  std::vector<std::string> found = made.problem.violations(placement);
  ASSERT_FALSE(found.empty()) << "nothing found, expected " << rule;
  EXPECT_EQ(found.front().substr(0, 2), rule) << found.front();
  EXPECT_FALSE(made.problem.verify(placement).ok());
}

TEST(Problem, BlocksOfADecoder) {
  Case made({.layers = 2, .experts = 4, .active = 2});
  ASSERT_TRUE(made.graph.check().ok());
  ASSERT_EQ(made.graph.blocks.size(), 6u);
  EXPECT_EQ(made.graph.blocks[1].name, "layer 0 attention");
  EXPECT_EQ(made.graph.blocks[4].name, "layer 1 experts");
  // Queries, keys and values are one product, by columns.
  const Step &product = made.graph.blocks[1].steps[1];
  EXPECT_EQ(product.parts, (std::vector<int64_t>{32, 16, 16}));
  EXPECT_EQ(product.to, Axis::Column);
  EXPECT_EQ(made.graph.blocks[4].experts(), 4);
}

TEST(Problem, AcceptsWhatObeys) {
  Case made({});
  EXPECT_EQ(made.problem.violations(twoRegions(made)),
            std::vector<std::string>());
}

TEST(Problem, CatchesEachBrokenRule) {
  Case made({.experts = 4, .active = 2});
  const Placement good = twoRegions(made);
  ASSERT_TRUE(made.problem.verify(good).ok());
  auto broken = [&](auto change, const char *rule) {
    Placement placement = good;
    change(placement);
    expectOne(made, placement, rule);
  };
  broken([](Placement &p) { p.regions[0].wafer = 2; }, "P1");
  broken([](Placement &p) { p.regions[0].rectangle.x = -1; }, "P1");
  broken([](Placement &p) { p.regions[1].rectangle.width = 5; }, "P1");
  broken([](Placement &p) { p.regions[0].rectangle.height = 0; }, "P1");
  broken([](Placement &p) { p.chunkTokens = 0; }, "P1");
  broken([](Placement &p) { p.regions[1].rectangle.x = 3; }, "P2");
  broken([](Placement &p) { p.blocks.pop_back(); }, "P4");
  broken([](Placement &p) { p.blocks[0][0].region = 2; }, "P4");
  broken([](Placement &p) { p.blocks[2][0].end = 3; }, "P4");
  broken([](Placement &p) { p.blocks[2] = {{0, 0, 3}, {1, 2, 4}}; }, "P4");
  broken([](Placement &p) { p.blocks[2].clear(); }, "P4");
  broken([](Placement &p) { p.blocks[1] = {{0, 0, 1}, {1, 1, 2}}; }, "P5");
}

TEST(Problem, SpreadExpertsObey) {
  Case made({.experts = 4, .active = 2});
  Placement placement = twoRegions(made);
  placement.blocks[2] = {{0, 0, 1}, {1, 1, 4}};
  EXPECT_EQ(made.problem.violations(placement), std::vector<std::string>());
  Evaluator evaluator(made.problem);
  EXPECT_GT(evaluator.tokenCycles(placement), 0);
}

TEST(Problem, CountsEveryByte) {
  Case made({});
  Placement placement = twoRegions(made);
  BlockMemory memory(made.problem);
  std::vector<PeBytes> bytes = memory.regionBytes(placement);
  // Layer 0's products on 4 x 8 PEs: 32 x 64 by rows, 32 x 32 by columns,
  // 32 x 128 by rows, 64 x 32 by columns, and a table of 96 x 32.
  int64_t expected = 4 * 16 + 8 * 4 + 4 * 32 + 16 * 4 + 24 * 4;
  EXPECT_EQ(bytes[0].weights, expected);
  // 64 positions on 8 rows; two heads of 8 elements on two columns each.
  EXPECT_EQ(bytes[0].cache, 8 * (4 + 4) * 2);
  int64_t needed = std::max(bytes[0].total(), bytes[1].total());
  Target &target = made.problem.target;
  auto give = [&](int64_t usable) {
    target.bytesPerPe = target.reservedBytesPerPe + usable;
  };
  give(needed);
  EXPECT_TRUE(made.problem.verify(placement).ok());
  give(needed - 1);
  expectOne(made, placement, "P6");
  EXPECT_NE(made.problem.violations(placement)[0].find(": 1 too many"),
            std::string::npos);
}

TEST(Problem, RefusesWhatNoPlacementSolves) {
  Case made({});
  made.problem.promptTokens = 65;
  EXPECT_FALSE(made.problem.check().ok());
  made.problem.promptTokens = 64;
  made.problem.wafers = 0;
  EXPECT_FALSE(made.problem.check().ok());
}

/// Random decoders on random machines: what the search gives obeys, is not
/// faster than the bound, and is caught once a field is changed.
TEST(Problem, RandomProblems) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int placed = 0;
  for (int i = 0; i < 40; ++i) {
    DecoderSizes sizes;
    sizes.layers = pick(1, 4);
    sizes.width = 8 * pick(1, 12);
    sizes.kvHeads = pick(1, 4);
    sizes.heads = sizes.kvHeads * pick(1, 3);
    sizes.headSize = 2 * pick(2, 8);
    sizes.inner = pick(8, 200);
    sizes.vocabulary = pick(50, 500);
    sizes.experts = pick(0, 2) == 0 ? pick(2, 6) : 1;
    sizes.active = std::min<int64_t>(sizes.experts, pick(1, 2));
    sizes.format = static_cast<Format>(pick(0, 3));
    Case made(sizes, pick(0, 1) ? "mesh-8x8" : "mesh-4x4");
    made.problem.wafers = pick(1, 5);
    made.problem.context = pick(1, 300);
    made.problem.promptTokens = pick(1, made.problem.context);
    made.problem.target.bytesPerPe =
        made.problem.target.reservedBytesPerPe + pick(2000, 12000);
    SearchLimits limits;
    limits.seconds = 0.1;
    absl::StatusOr<Solution> solution =
        placeOn(made.problem, Policy::Free, limits);
    if (!solution.ok()) {
      EXPECT_EQ(solution.status().code(), absl::StatusCode::kResourceExhausted);
      continue;
    }
    ++placed;
    Placement &placement = solution->placement;
    EXPECT_EQ(made.problem.violations(placement), std::vector<std::string>());
    const Evaluation &costs = solution->evaluation;
    EXPECT_GE(costs.token.total(), costs.bound.cycles());
    EXPECT_NEAR(costs.gap.total(), costs.token.total() - costs.bound.cycles(),
                1e-6 * costs.token.total());
    EXPECT_GE(costs.firstTokenSeconds, 0);
    placement.regions[pick(0, placement.regions.size() - 1)].rectangle.x +=
        1000;
    EXPECT_FALSE(made.problem.verify(placement).ok());
  }
  EXPECT_GT(placed, 15);
}

} // namespace
} // namespace sol::place
