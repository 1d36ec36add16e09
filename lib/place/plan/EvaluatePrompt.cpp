//===- EvaluatePrompt.cpp - the time to a prompt's first token ------------===//
//
// Chunks of a prompt follow each other through the regions of a placement; a
// region does one chunk at a time, in order.
//
//===----------------------------------------------------------------------===//
#include "lib/place/plan/Evaluate.h"

#include <algorithm>
#include <cmath>

namespace sol::place {
namespace {

/// Lengths of the cache at which costs are computed.
constexpr int sampleCount = 17;

/// Blocks that follow each other on one region, with their cycles at each
/// sampled length.
struct Visit {
  int region = 0;
  std::vector<double> cycles = std::vector<double>(sampleCount);
};

double at(const Visit &visit, double position) {
  double place = position * (sampleCount - 1);
  int below = std::min(static_cast<int>(place), sampleCount - 2);
  double share = place - below;
  return visit.cycles[below] * (1 - share) + visit.cycles[below + 1] * share;
}

} // namespace

double Evaluator::firstTokenSeconds(const Placement &placement) {
  int64_t chunk = std::min(placement.chunkTokens, problem.promptTokens);
  int64_t chunks = (problem.promptTokens + chunk - 1) / chunk;
  std::vector<Visit> visits;
  double head = 0;
  const Region *last = nullptr;
  for (size_t i = 0; i < placement.blocks.size(); ++i) {
    const auto &shards = placement.blocks[i];
    const Region &first = placement.regions[shards.front().region];
    double arrive = last ? moveTime(*last, first, chunk).total() : 0;
    last = &placement.regions[shards.back().region];
    if (problem.graph->blocks[i].kind == BlockKind::Head) {
      // Only the last token's scores are wanted.
      head +=
          blockTime(static_cast<int>(i), first.shape(), decodeLoad()).total() +
          arrive;
      continue;
    }
    if (visits.empty() || visits.back().region != shards.front().region ||
        shards.size() > 1) {
      visits.emplace_back();
      visits.back().region = shards.front().region;
    }
    bool readsCache = problem.graph->blocks[i].cacheElements() > 0;
    double once = 0;
    for (int sample = 0; sample < sampleCount; ++sample) {
      int64_t context =
          (problem.promptTokens - chunk) * sample / (sampleCount - 1);
      if (sample == 0 || readsCache)
        once = spreadTime(placement, static_cast<int>(i), {chunk, context})
                   .total();
      visits.back().cycles[sample] += arrive + once;
    }
  }
  std::vector<double> free(placement.regions.size());
  double finished = 0;
  for (int64_t i = 0; i < chunks; ++i) {
    double position =
        chunks == 1 ? 0
                    : static_cast<double>(i) / static_cast<double>(chunks - 1);
    finished = 0;
    for (const Visit &visit : visits) {
      finished = std::max(finished, free[visit.region]) + at(visit, position);
      free[visit.region] = finished;
    }
  }
  return costs.machine().seconds(finished + head + leave(placement).total());
}

} // namespace sol::place
