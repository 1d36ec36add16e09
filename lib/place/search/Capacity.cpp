//===- Capacity.cpp - what fits, and what would ---------------------------===//
//
// The least wafers, the longest context, and the text for a model that does
// not fit.
//
//===----------------------------------------------------------------------===//
#include "lib/place/search/Search.h"
#include "lib/place/search/WaferTable.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>

namespace sol::place {
namespace {

/// Shapes among which one wastes little: capacity depends on rounding alone.
std::vector<Shape> roomyShapes(const Target &target) {
  std::vector<Shape> shapes;
  for (int64_t across : {1, 2, 3, 4, 6})
    for (int64_t down : {1, 2, 3, 4, 6})
      shapes.push_back({std::max<int64_t>(1, target.columns / across),
                        std::max<int64_t>(1, target.rows / down)});
  return shapes;
}

} // namespace

int64_t fewestWafers(const Problem &given, int64_t most) {
  Problem problem = given;
  problem.wafers = most;
  Filler filler(problem);
  int64_t fewest = 0;
  for (Shape shape : roomyShapes(problem.target)) {
    std::optional<Placement> placement = filler.fillSplitting(shape, 1);
    if (!placement)
      continue;
    fewest = placement->wafers();
    problem.wafers = fewest;
  }
  return fewest;
}

int64_t longestContext(const Problem &given) {
  Problem problem = given;
  auto fits = [&](int64_t context) {
    problem.context = context;
    problem.promptTokens = 1;
    return fewestWafers(problem, given.wafers) > 0;
  };
  if (!fits(1))
    return 0;
  int64_t low = 1, high = 2;
  constexpr int64_t farEnough = int64_t{1} << 32;
  while (high < farEnough && fits(high)) {
    low = high;
    high *= 2;
  }
  // To within a part in a thousand: each look is a placement.
  while (high - low > std::max<int64_t>(1, low / 1000)) {
    int64_t middle = low + (high - low) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle;
  }
  return low;
}

std::string whyNot(const Problem &problem, Policy policy) {
  const ModelGraph &graph = *problem.graph;
  if (policy != Policy::Free && problem.wafers < graph.layers)
    return absl::StrCat("one layer for each wafer needs ", graph.layers,
                        " wafers, but there are ", problem.wafers);
  if (policy != Policy::Free)
    return absl::StrCat("a layer of ", graph.name, " with its cache for ",
                        problem.sequences, " sequences of ", problem.context,
                        " positions does not fit one wafer of `",
                        problem.target.name, "`; --policy free spreads it");
  auto sequences = static_cast<double>(problem.sequences);
  double cache = static_cast<double>(graph.cacheElements()) *
                 static_cast<double>(bytesOf(problem.kernels.cache)) *
                 static_cast<double>(problem.context) * sequences;
  double weights = graph.weightBytes();
  double room = static_cast<double>(problem.target.usableBytes()) *
                static_cast<double>(problem.wafers);
  constexpr double giga = 1e9;
  std::string text = absl::StrFormat(
      "the model does not fit %d wafer%s of `%s`: %.3g GB of weights and %.3g "
      "GB of cache for %d sequence%s of %d positions, but %.3g GB of memory",
      problem.wafers, problem.wafers == 1 ? "" : "s", problem.target.name,
      weights / giga, cache / giga, problem.sequences,
      problem.sequences == 1 ? "" : "s", problem.context, room / giga);
  if (weights + cache > room)
    absl::StrAppendFormat(&text, ", %.3g GB too little",
                          (weights + cache - room) / giga);
  else
    absl::StrAppend(&text, " that rounding to whole PEs leaves too little of");
  std::vector<std::string> changes;
  constexpr int64_t manyWafers = 4096;
  if (int64_t wafers = fewestWafers(problem, manyWafers))
    changes.push_back(absl::StrCat("--wafers ", wafers));
  if (int64_t context = longestContext(problem))
    changes.push_back(absl::StrCat("--context ", context));
  for (Format format : {Format::Float16, Format::Int8, Format::Int4}) {
    ModelGraph smaller = graph;
    bool changed = false;
    for (Block &block : smaller.blocks)
      for (Step &step : block.steps)
        if (step.matrixBytes() > 0 &&
            formatBytes(step.format) > formatBytes(format)) {
          step.format = format;
          changed = true;
        }
    Problem other = problem;
    other.graph = &smaller;
    if (changed && fewestWafers(other, problem.wafers) > 0) {
      changes.push_back(absl::StrCat("weights in ", formatName(format)));
      break;
    }
  }
  if (!changes.empty())
    absl::StrAppend(&text, "; it would with ",
                    absl::StrJoin(changes, ", or with "));
  else
    absl::StrAppend(&text, "; no number of wafers, context or format would do: "
                           "a PE has too little memory for a part of a layer");
  return text;
}

} // namespace sol::place
