//===- Evaluate.cpp - what a placement costs ------------------------------===//
//
// See Evaluate.h. Prompts are in EvaluatePrompt.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/place/plan/Evaluate.h"

#include "lib/place/plan/Memory.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sol::place {
namespace {

/// The steps of a block that experts do: from the first to the last that has
/// some. Empty (end of the block) without experts.
std::pair<size_t, size_t> expertSteps(const Block &block) {
  size_t begin = block.steps.size(), end = begin;
  for (size_t i = 0; i < block.steps.size(); ++i)
    if (block.steps[i].experts > 1) {
      begin = std::min(begin, i);
      end = i + 1;
    }
  return {begin, begin == block.steps.size() ? begin : end};
}

int64_t edgeDistance(const Target &target, const PeRectangle &at) {
  return std::min(at.x, target.columns - at.x - at.width);
}

} // namespace

Evaluator::Evaluator(const Problem &problem)
    : Evaluator(problem, problem.target) {}

Evaluator::Evaluator(const Problem &problem, const Target &target)
    : problem(problem), costs(target, problem.kernels),
      kinds(numberBlockKinds(*problem.graph)) {}

TimeParts Evaluator::partTime(int block, Shape shape, Load load,
                              int64_t experts, size_t begin, size_t end) {
  TimeParts sum;
  const Block &steps = problem.graph->blocks[block];
  for (size_t i = begin; i < end; ++i)
    sum += costs.time(steps.steps[i], shape, load, experts);
  return sum;
}

TimeParts Evaluator::blockTime(int block, Shape shape, Load load,
                               int64_t experts) {
  // Only attention depends on the cache.
  bool readsCache = problem.graph->blocks[block].cacheElements() > 0;
  Key key{kinds[block],
          shape.width,
          shape.height,
          load.tokens,
          readsCache ? load.context : 0,
          experts};
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  return known[key] = partTime(block, shape, load, experts, 0,
                               problem.graph->blocks[block].steps.size());
}

TimeParts Evaluator::moveTime(const Region &from, const Region &to,
                              int64_t tokens) {
  const PeRectangle &a = from.rectangle, &b = to.rectangle;
  int64_t width = problem.graph->width;
  const Target &target = costs.machine();
  if (from.wafer != to.wafer) {
    // To the edge, over the link, and from the edge along all columns.
    TimeParts parts =
        costs.move(width, from.shape(), edgeDistance(target, a), tokens);
    parts += costs.link(width, tokens);
    parts += costs.move(width, to.shape(), edgeDistance(target, b) + b.width,
                        tokens);
    return parts;
  }
  if (a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height)
    return {};
  int64_t down =
      std::max(std::abs(b.y - a.y), std::abs(b.y + b.height - a.y - a.height));
  int64_t across =
      std::max(std::abs(b.x + b.width - a.x), std::abs(a.x + a.width - b.x));
  if (down == 0)
    // Every PE of a row has the row's part: the nearest one sends it.
    across = b.x > a.x ? b.x + b.width - a.x - a.width : a.x - b.x;
  Shape rows{1, std::min(a.height, b.height)};
  // Rows that go down by the same column share its links.
  if (down > 0)
    rows.height = std::max<int64_t>(
        1, rows.height / ((rows.height + a.width - 1) / a.width));
  return costs.move(width, rows, down + across, tokens);
}

TimeParts Evaluator::spreadTime(const Placement &placement, int block,
                                Load load) {
  const std::vector<Shard> &shards = placement.blocks[block];
  auto shapeOf = [&](const Shard &shard) {
    return placement.regions[shard.region].shape();
  };
  const Block &steps = problem.graph->blocks[block];
  if (shards.size() == 1)
    return blockTime(block, shapeOf(shards[0]), load,
                     steps.experts() > 1 ? shards[0].experts() : 0);
  auto [begin, end] = expertSteps(steps);
  TimeParts home = partTime(block, shapeOf(shards[0]), load, 0, 0, begin);
  // The vector goes from shard to shard, and sums follow it: what a shard gives
  // on is there when its own sum and the one before it are.
  TimeParts arrived = home, done;
  for (size_t i = 0; i < shards.size(); ++i) {
    TimeParts own = arrived;
    own += partTime(block, shapeOf(shards[i]), load, shards[i].experts(), begin,
                    end);
    if (i > 0) {
      TimeParts moved = done;
      moved += moveTime(placement.regions[shards[i - 1].region],
                        placement.regions[shards[i].region], load.tokens);
      done = moved.total() > own.total() ? moved : own;
    } else {
      done = own;
    }
    if (i + 1 < shards.size())
      arrived += moveTime(placement.regions[shards[i].region],
                          placement.regions[shards[i + 1].region], load.tokens);
  }
  done +=
      partTime(block, shapeOf(shards.back()), load, 0, end, steps.steps.size());
  return done;
}

void Evaluator::addBusy(const Placement &placement, int block, Load load,
                        std::vector<double> &busy) {
  const std::vector<Shard> &shards = placement.blocks[block];
  const Block &steps = problem.graph->blocks[block];
  for (const Shard &shard : shards)
    busy[shard.region] +=
        blockTime(block, placement.regions[shard.region].shape(), load,
                  steps.experts() > 1 ? shard.experts() : 0)
            .total();
}

TimeParts Evaluator::leave(const Placement &placement) {
  const Region &last = placement.regions[placement.blocks.back().back().region];
  TimeParts parts = costs.move(1, {1, 1},
                               edgeDistance(costs.machine(), last.rectangle) +
                                   last.rectangle.width / 2,
                               1);
  parts += costs.hostTrip();
  return parts;
}

double Evaluator::tokenCycles(const Placement &placement) {
  double sum = leave(placement).total();
  const Region *at = nullptr;
  for (size_t i = 0; i < placement.blocks.size(); ++i) {
    const auto &shards = placement.blocks[i];
    const Region &first = placement.regions[shards.front().region];
    if (at)
      sum += moveTime(*at, first, 1).total();
    sum += spreadTime(placement, static_cast<int>(i), decodeLoad()).total();
    at = &placement.regions[shards.back().region];
  }
  return sum;
}

double Evaluator::intervalCycles(const Placement &placement) {
  std::vector<double> busy(placement.regions.size());
  for (size_t i = 0; i < placement.blocks.size(); ++i)
    addBusy(placement, static_cast<int>(i), decodeLoad(), busy);
  return *std::max_element(busy.begin(), busy.end());
}

BoundGap Evaluator::gapOf(const Placement &placement,
                          const Evaluation &evaluation) {
  BoundGap gap;
  double steps = 0;
  for (size_t i = 0; i < evaluation.blocks.size(); ++i) {
    const TimeParts &block = evaluation.blocks[i];
    gap.ramps += block[Resource::Ramps];
    gap.starts += block[Resource::Starts];
    gap.words += block[Resource::Words];
    gap.links += block[Resource::Links] + evaluation.moves[i][Resource::Links];
    gap.moves +=
        evaluation.moves[i].total() - evaluation.moves[i][Resource::Links];
    Shape shape = placement.regions[placement.blocks[i].front().region].shape();
    double work = block[Resource::Arithmetic] + block[Resource::Memory];
    double shown = 0;
    for (const Step &step : problem.graph->blocks[i].steps) {
      TimeParts parts = costs.time(step, shape, decodeLoad());
      shown += std::min(parts[Resource::Arithmetic] + parts[Resource::Memory],
                        parts[Resource::Hops]);
    }
    gap.notOverlapped += shown;
    steps += work + block[Resource::Hops] - shown;
  }
  gap.oneShape = steps - evaluation.bound.steps;
  gap.links -= evaluation.bound.crossings;
  gap.moves += leave(placement).total() - costs.hostTrip().total();
  return gap;
}

Evaluation Evaluator::evaluate(const Placement &placement) {
  Evaluation result;
  const Region *at = nullptr;
  for (size_t i = 0; i < placement.blocks.size(); ++i) {
    const auto &shards = placement.blocks[i];
    const Region &first = placement.regions[shards.front().region];
    result.moves.push_back(at ? moveTime(*at, first, 1) : TimeParts());
    result.blocks.push_back(
        spreadTime(placement, static_cast<int>(i), decodeLoad()));
    result.token += result.moves.back();
    result.token += result.blocks.back();
    at = &placement.regions[shards.back().region];
  }
  result.token += leave(placement);
  std::vector<double> busy(placement.regions.size());
  for (size_t i = 0; i < placement.blocks.size(); ++i)
    addBusy(placement, static_cast<int>(i), decodeLoad(), busy);
  auto busiest = std::max_element(busy.begin(), busy.end());
  result.interval = *busiest;
  result.busiestRegion = static_cast<int>(busiest - busy.begin());
  const Target &target = costs.machine();
  double latency = target.seconds(result.token.total());
  double interval = target.seconds(result.interval);
  auto sequences = static_cast<double>(problem.sequences);
  result.tokensPerSecond = 1 / latency;
  result.tokensPerSecondAll = std::min(sequences / latency, 1 / interval);
  result.firstTokenSeconds = firstTokenSeconds(placement);
  result.bound =
      lowerBound(target, *problem.graph,
                 {problem.wafers, problem.context, problem.sequences,
                  problem.kernels.activations, problem.kernels.cache});
  result.gap = gapOf(placement, result);
  return result;
}

} // namespace sol::place
