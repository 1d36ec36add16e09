//===- search_test.cpp - the search against all placements there are ------===//
//
// Problems small enough to try every placement of contiguous runs of blocks on
// disjoint rectangles.
//
//===----------------------------------------------------------------------===//
#include "lib/place/search/Search.h"
#include "lib/place/search/WaferTable.h"
#include "test/unit/place/graphs.h"

#include <gtest/gtest.h>

#include <limits>

namespace sol::place {
namespace {

/// Tries everything.
class Enumeration {
public:
  explicit Enumeration(const Problem &problem)
      : problem(problem), filler(problem) {
    for (int64_t wafer = 0; wafer < problem.wafers; ++wafer)
      for (int64_t x = 0; x < problem.target.columns; ++x)
        for (int64_t y = 0; y < problem.target.rows; ++y)
          for (int64_t w = 1; x + w <= problem.target.columns; ++w)
            for (int64_t h = 1; y + h <= problem.target.rows; ++h)
              all.push_back({wafer, {x, y, w, h}});
  }

  /// The least cycles of a token.
  double best() {
    extend(0);
    return least;
  }
  int64_t tried = 0;

private:
  bool overlaps(const Region &region) const {
    const PeRectangle &p = region.rectangle;
    for (const Region &other : placement.regions) {
      const PeRectangle &q = other.rectangle;
      if (other.wafer == region.wafer && p.x < q.x + q.width &&
          q.x < p.x + p.width && p.y < q.y + q.height && q.y < p.y + p.height)
        return true;
    }
    return false;
  }

  void extend(size_t block) {
    const auto &blocks = problem.graph->blocks;
    if (block == blocks.size()) {
      ++tried;
      least = std::min(least, filler.costs().tokenCycles(placement));
      return;
    }
    for (const Region &region : all) {
      if (overlaps(region))
        continue;
      placement.regions.push_back(region);
      PeBytes sum;
      for (size_t end = block; end < blocks.size(); ++end) {
        int64_t experts = blocks[end].experts();
        sum += filler.bytes().bytes(static_cast<int>(end), region.shape(),
                                    experts > 1 ? experts : 0, 1);
        if (sum.total() > problem.target.usableBytesPerPe())
          break;
        placement.blocks.push_back(
            {{static_cast<int>(placement.regions.size()) - 1, 0, experts}});
        extend(end + 1);
      }
      placement.blocks.resize(block);
      placement.regions.pop_back();
    }
  }

  const Problem &problem;
  Filler filler;
  std::vector<Region> all;
  Placement placement;
  double least = std::numeric_limits<double>::infinity();
};

struct Small {
  const char *name;
  int64_t columns, rows, wafers, usable, context;
  DecoderSizes sizes;
};

class SmallProblem : public testing::TestWithParam<Small> {};

TEST_P(SmallProblem, SearchIsNearTheOptimum) {
  const Small &small = GetParam();
  ModelGraph graph = decoderGraph(small.sizes);
  Problem problem;
  problem.graph = &graph;
  problem.target = *findTarget("mesh-4x4");
  problem.target.columns = small.columns;
  problem.target.rows = small.rows;
  problem.target.bytesPerPe = problem.target.reservedBytesPerPe + small.usable;
  // What no placement changes would hide what it does change.
  problem.target.hostTripSeconds = 0;
  problem.wafers = small.wafers;
  problem.context = problem.promptTokens = small.context;
  problem.kernels.scoreBytes = 256;
  Enumeration enumeration(problem);
  double optimum = enumeration.best();
  ASSERT_GT(enumeration.tried, 10);
  SearchLimits limits;
  limits.seconds = 5;
  absl::StatusOr<Solution> solution = placeOn(problem, Policy::Free, limits);
  ASSERT_TRUE(solution.ok()) << solution.status();
  double found = solution->evaluation.token.total();
  EXPECT_GE(found, optimum - 1e-6);
  EXPECT_LE(found, 1.05 * optimum);
}

INSTANTIATE_TEST_SUITE_P(
    Place, SmallProblem,
    testing::Values(Small{"roomy", 3, 3, 1, 20000, 16, {.layers = 1}},
                    Small{"tight", 3, 3, 1, 3600, 16, {.layers = 1}},
                    Small{"wafers", 2, 2, 2, 5000, 64, {.layers = 1}},
                    Small{
                        "experts",
                        3,
                        2,
                        1,
                        6000,
                        8,
                        {.layers = 1, .inner = 16, .experts = 4, .active = 2}}),
    [](const auto &info) { return info.param.name; });

TEST(Search, RefusalsSayWhatWouldDo) {
  ModelGraph graph = decoderGraph({.layers = 8, .width = 128, .inner = 512});
  Problem problem;
  problem.graph = &graph;
  problem.target = *findTarget("mesh-4x4");
  problem.context = problem.promptTokens = 128;
  problem.wafers = 1;
  absl::StatusOr<Solution> solution = placeOn(problem, Policy::Free);
  ASSERT_EQ(solution.status().code(), absl::StatusCode::kResourceExhausted);
  std::string text(solution.status().message());
  size_t at = text.find("--wafers ");
  ASSERT_NE(at, std::string::npos) << text;
  // The number that it names is enough, and one fewer is not.
  int64_t named = std::stoll(text.substr(at + 9));
  ASSERT_GT(named, 1);
  SearchLimits quick;
  quick.seconds = 0;
  problem.wafers = named;
  EXPECT_TRUE(placeOn(problem, Policy::Free, quick).ok());
  problem.wafers = named - 1;
  EXPECT_FALSE(placeOn(problem, Policy::Free, quick).ok());
}

TEST(Search, LongestContextIsOne) {
  ModelGraph graph = decoderGraph({});
  Problem problem;
  problem.graph = &graph;
  problem.target = *findTarget("mesh-8x8");
  problem.wafers = 1;
  int64_t context = longestContext(problem);
  ASSERT_GT(context, 1000);
  problem.context = context;
  EXPECT_GT(fewestWafers(problem, 1), 0);
  problem.context = context + context / 100;
  EXPECT_EQ(fewestWafers(problem, 1), 0);
}

TEST(Search, MoreSequencesGoThroughFaster) {
  ModelGraph graph = decoderGraph({.layers = 6});
  Problem problem;
  problem.graph = &graph;
  problem.target = *findTarget("mesh-8x8");
  problem.wafers = 4;
  problem.context = problem.promptTokens = 64;
  problem.objective = Objective::Throughput;
  SearchLimits quick;
  quick.seconds = 1;
  problem.sequences = 1;
  absl::StatusOr<Solution> one = placeOn(problem, Policy::Free, quick);
  problem.sequences = 8;
  absl::StatusOr<Solution> eight = placeOn(problem, Policy::Free, quick);
  ASSERT_TRUE(one.ok() && eight.ok());
  EXPECT_GT(eight->evaluation.tokensPerSecondAll,
            1.5 * one->evaluation.tokensPerSecondAll);
}

TEST(Search, AvoidsBrokenPes) {
  ModelGraph graph = decoderGraph({});
  Problem problem;
  problem.graph = &graph;
  problem.target = *findTarget("mesh-8x8");
  problem.wafers = 1;
  problem.context = problem.promptTokens = 64;
  std::string path = testing::TempDir() + "place-defects.json";
  FILE *file = fopen(path.c_str(), "w");
  ASSERT_TRUE(file);
  fputs(R"({"schema_version": 1, "target": "mesh-8x8",
            "wafers": [{"wafer": 0, "pes": [[3, 4]], "rows": [0]}]})",
        file);
  fclose(file);
  absl::StatusOr<DefectMap> defects = DefectMap::load(path, problem.target);
  ASSERT_TRUE(defects.ok()) << defects.status();
  problem.defects = *defects;
  SearchLimits quick;
  quick.seconds = 1;
  absl::StatusOr<Solution> solution = placeOn(problem, Policy::Free, quick);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_TRUE(problem.verify(solution->placement).ok());
  Placement whole;
  whole.regions = {{0, {0, 0, 8, 8}}};
  for (size_t i = 0; i < graph.blocks.size(); ++i)
    whole.blocks.push_back({{0, 0, 1}});
  ASSERT_FALSE(problem.verify(whole).ok());
  EXPECT_NE(std::string(problem.verify(whole).message()).find("9 broken"),
            std::string::npos);
}

} // namespace
} // namespace sol::place
