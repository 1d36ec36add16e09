//===- Improve.cpp - changes single regions of a placement ----------------===//
//
// See Improve.h. Blocks are kept as runs, one for each region, in the order in
// which a token passes them; a placement whose token comes back to a region is
// left alone.
//
//===----------------------------------------------------------------------===//
#include "lib/place/search/Improve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

namespace sol::place {
namespace {

/// Blocks `begin` to `end` - 1 on a region.
struct Run {
  Region region;
  int begin = 0, end = 0;
};
using Runs = std::vector<Run>;

/// The runs of a placement; nothing if a region is visited twice or a block
/// lies on several.
std::optional<Runs> runsOf(const Placement &placement) {
  Runs runs;
  std::vector<bool> seen(placement.regions.size());
  for (size_t i = 0; i < placement.blocks.size(); ++i) {
    const auto &shards = placement.blocks[i];
    if (shards.size() != 1)
      return std::nullopt;
    int region = shards[0].region;
    bool goesOn = i > 0 && placement.blocks[i - 1][0].region == region;
    if (!goesOn && seen[region])
      return std::nullopt;
    if (!goesOn)
      runs.push_back({placement.regions[region], static_cast<int>(i), 0});
    seen[region] = true;
    runs.back().end = static_cast<int>(i) + 1;
  }
  return runs;
}

/// The search from one placement.
class Walk {
public:
  /// Chunks of one token: the longest that fits is chosen in the end.
  Walk(const Problem &problem, Filler &filler)
      : problem(problem), filler(filler), chunk(1) {}

  Placement placementOf(const Runs &runs) const {
    Placement placement;
    placement.chunkTokens = chunk;
    for (size_t i = 0; i < runs.size(); ++i) {
      placement.regions.push_back(runs[i].region);
      for (int block = runs[i].begin; block < runs[i].end; ++block)
        placement.blocks.push_back(
            {{static_cast<int>(i), 0, problem.graph->blocks[block].experts()}});
    }
    return placement;
  }

  double value(const Runs &runs) {
    Evaluator &costs = filler.costs();
    Placement placement = placementOf(runs);
    double token = costs.tokenCycles(placement);
    if (problem.objective != Objective::Throughput)
      return token;
    return std::max(token / static_cast<double>(problem.sequences),
                    costs.intervalCycles(placement));
  }

  /// A change of one or two runs; false if it breaks a rule.
  bool change(Runs &runs) {
    size_t at = pick(runs.size());
    switch (pick(6)) {
    case 0:
    case 1:
      return resize(runs[at].region) && obeys(runs, at);
    case 2:
      return shift(runs, at);
    case 3:
      return jump(runs[at].region) && obeys(runs, at);
    case 4:
      return split(runs, at);
    default:
      return join(runs, at);
    }
  }

  double chance() { return std::uniform_real_distribution<>(0, 1)(random); }

private:
  size_t pick(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  }
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  bool fits(const Run &run) {
    PeBytes sum;
    for (int block = run.begin; block < run.end; ++block) {
      int64_t experts = problem.graph->blocks[block].experts();
      sum += filler.bytes().bytes(block, run.region.shape(),
                                  experts > 1 ? experts : 0, chunk);
    }
    return sum.total() <= problem.target.usableBytesPerPe();
  }

  bool obeys(const Runs &runs, size_t at) {
    const PeRectangle &p = runs[at].region.rectangle;
    if (p.width < 1 || p.height < 1 || p.x < 0 || p.y < 0 ||
        p.x + p.width > problem.target.columns ||
        p.y + p.height > problem.target.rows)
      return false;
    for (size_t i = 0; i < runs.size(); ++i) {
      const PeRectangle &q = runs[i].region.rectangle;
      if (i != at && runs[i].region.wafer == runs[at].region.wafer &&
          p.x < q.x + q.width && q.x < p.x + p.width && p.y < q.y + q.height &&
          q.y < p.y + p.height)
        return false;
    }
    return problem.defects.brokenPes(runs[at].region.wafer, p) == 0 &&
           fits(runs[at]);
  }

  /// One edge, or two opposite ones, move a little or a lot.
  bool resize(Region &region) {
    PeRectangle &at = region.rectangle;
    int64_t &size = pick(2) ? at.width : at.height;
    int64_t &place = &size == &at.width ? at.x : at.y;
    int64_t most = pick(2) ? 1 : std::max<int64_t>(1, size / 4);
    int64_t by = between(1, most) * (pick(2) ? 1 : -1);
    if (pick(3) == 0)
      place += by;
    else if (pick(2)) {
      place -= by;
      size += by;
    } else
      size += by;
    return true;
  }

  bool jump(Region &region) {
    PeRectangle &at = region.rectangle;
    if (at.width > problem.target.columns || at.height > problem.target.rows)
      return false;
    if (pick(3) == 0)
      std::swap(at.width, at.height);
    if (at.width > problem.target.columns || at.height > problem.target.rows)
      return false;
    at.x = between(0, problem.target.columns - at.width);
    at.y = between(0, problem.target.rows - at.height);
    if (pick(2))
      region.wafer = between(0, problem.wafers - 1);
    return true;
  }

  /// A block goes to the run before or behind.
  bool shift(Runs &runs, size_t at) {
    if (at + 1 == runs.size())
      return false;
    bool back = pick(2);
    Run &a = runs[at], &b = runs[at + 1];
    int by = back ? -1 : 1;
    a.end += by;
    b.begin += by;
    if (a.begin == a.end) {
      runs.erase(runs.begin() + static_cast<int64_t>(at));
      return fits(runs[at]);
    }
    if (b.begin == b.end) {
      runs.erase(runs.begin() + static_cast<int64_t>(at) + 1);
      return fits(runs[at]);
    }
    return fits(a) && fits(b);
  }

  bool split(Runs &runs, size_t at) {
    Run &run = runs[at];
    if (run.end - run.begin < 2)
      return false;
    Run second = run;
    int middle = static_cast<int>(between(run.begin + 1, run.end - 1));
    run.end = second.begin = middle;
    PeRectangle &p = run.region.rectangle, &q = second.region.rectangle;
    if (pick(2)) {
      // The region is cut in two.
      bool wide = pick(2);
      int64_t &size = wide ? p.width : p.height;
      if (size < 2)
        return false;
      int64_t part = between(1, size - 1);
      (wide ? q.x : q.y) += part;
      (wide ? q.width : q.height) -= part;
      size = part;
      if (pick(2))
        std::swap(run.region, second.region);
    } else {
      q.width = between(1, problem.target.columns);
      q.height = between(1, problem.target.rows);
      if (!jump(second.region))
        return false;
    }
    runs.insert(runs.begin() + static_cast<int64_t>(at) + 1, second);
    return obeys(runs, at) && obeys(runs, at + 1);
  }

  bool join(Runs &runs, size_t at) {
    if (at + 1 == runs.size())
      return false;
    bool first = pick(2);
    Region kept = first ? runs[at].region : runs[at + 1].region;
    runs[at].end = runs[at + 1].end;
    runs[at].region = kept;
    runs.erase(runs.begin() + static_cast<int64_t>(at) + 1);
    return fits(runs[at]);
  }

  const Problem &problem;
  Filler &filler;
  int64_t chunk;
  std::mt19937_64 random{20};
};

} // namespace

void improve(const Problem &problem, Filler &filler, double seconds,
             Placement &placement) {
  std::optional<Runs> start = runsOf(placement);
  if (!start || seconds <= 0)
    return;
  Walk walk(problem, filler);
  auto begin = std::chrono::steady_clock::now();
  auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         begin)
        .count();
  };
  Runs best = *start;
  double least = walk.value(best);
  // Rounds begin at the best so far, and accept less and less that is worse.
  constexpr int rounds = 12;
  constexpr double hottest[] = {0.05, 0.2, 0.8};
  const int64_t attempts = 6000 + 400 * static_cast<int64_t>(best.size());
  for (int round = 0; round < rounds && spent() < seconds; ++round) {
    Runs now = best;
    double value = least;
    for (int64_t i = 0; i < attempts; ++i) {
      if (i % 64 == 0 && spent() > seconds)
        break;
      Runs next = now;
      if (!walk.change(next))
        continue;
      double changed = walk.value(next);
      double heat =
          hottest[round % 3] * least *
          (1 - static_cast<double>(i) / static_cast<double>(attempts));
      bool accept = changed < value ||
                    walk.chance() < std::exp((value - changed) / (heat + 1e-9));
      if (!accept)
        continue;
      now = std::move(next);
      value = changed;
      if (value < least) {
        least = value;
        best = now;
      }
    }
  }
  placement = walk.placementOf(best);
}

} // namespace sol::place
