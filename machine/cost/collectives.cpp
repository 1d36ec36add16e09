//===- collectives.cpp - the time of collectives in closed form ----------===//
//
// See collectives.h for formulas and sources.
//
//===----------------------------------------------------------------------===//
#include "machine/cost/collectives.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace sol {

int64_t chainReduceCycles(const FabricTiming &timing, int64_t pes,
                          int64_t words) {
  if (pes == 1)
    return 0;
  return timing.start + words + timing.flight(1) * (pes - 1);
}

int64_t starReduceCycles(const FabricTiming &timing, int64_t pes,
                         int64_t words) {
  if (pes == 1)
    return 0;
  // The first sender's words come as soon as they can, the others queue.
  return timing.start + words + timing.flight(1) +
         (timing.start + words) * (pes - 2);
}

int64_t twoPhaseReduceCycles(const FabricTiming &timing, int64_t pes,
                             int64_t words, int64_t group) {
  if (pes <= group)
    return chainReduceCycles(timing, pes, words);
  int64_t groups = (pes + group - 1) / group;
  return chainReduceCycles(timing, group, words) + timing.start + words +
         (groups - 1) * timing.flight(group);
}

int64_t twoLevelReduceCycles(const FabricTiming &timing, int64_t pes,
                             int64_t words, int64_t group) {
  if (pes <= group)
    return chainReduceCycles(timing, pes, words);
  int64_t groups = (pes + group - 1) / group;
  // The second root adds its own group's sum and the last group's, one after
  // the other; the others find their own sum waiting.
  return chainReduceCycles(timing, group, words) +
         std::max(timing.start + words, timing.flight(group)) +
         (groups - 2) * timing.flight(group);
}

int64_t bestGroup(const FabricTiming &timing, int64_t pes, int64_t words) {
  int64_t best = pes;
  for (int64_t group = pes; group >= 2; --group)
    if (twoPhaseReduceCycles(timing, pes, words, group) <=
        twoPhaseReduceCycles(timing, pes, words, best))
      best = group;
  return best;
}

int64_t treeReduceEstimate(const FabricTiming &timing, int64_t pes,
                           int64_t words) {
  if (pes == 1)
    return 0;
  int64_t rounds = std::bit_width(static_cast<uint64_t>(pes - 1));
  int64_t energy = (words * rounds * pes / 2 + pes - 2) / (pes - 1);
  return timing.start * rounds +
         std::max(words * rounds, energy + (pes - 1) * timing.hop) +
         (2 * timing.ramp + 1) * rounds;
}

int64_t broadcastCycles(const FabricTiming &timing, int64_t distance,
                        int64_t words) {
  return distance == 0 ? 0 : timing.start + timing.message(words, distance);
}

int64_t reduceScatterCycles(const FabricTiming &timing, int64_t pes,
                            int64_t words) {
  if (pes == 1)
    return 0;
  int64_t part = (words + pes - 1) / pes, step = timing.flight(1);
  int64_t start = timing.start;
  // East: PE x passes on (pes - 1 - x) parts and keeps one.
  std::vector<int64_t> free(pes);
  for (int64_t x = 0; x < pes; ++x) {
    free[x] = start + (pes - 1 - x) * part + x * step;
    if (x == pes - 1)
      free[x] += part;
    else if (x > 0)
      free[x] += start + part;
  }
  // West: the first word at x comes from x + 1, and a word a cycle follows.
  int64_t last = 0, first = 0;
  for (int64_t x = pes - 1; x >= 0; --x) {
    first = x == pes - 1 ? free[x] + start + 1
                         : std::max(free[x] + start + 1, first + step);
    int64_t end = first - 1 + x * part;
    if (x == 0)
      end = first - 1 + part;
    else if (x < pes - 1)
      end += start + part;
    last = std::max(last, end);
  }
  return last;
}

int64_t allGatherCycles(const FabricTiming &timing, int64_t pes,
                        int64_t words) {
  if (pes == 1)
    return 0;
  int64_t part = (words + pes - 1) / pes, step = timing.flight(1);
  int64_t start = timing.start;
  // Each PE sends its own part, then passes on what comes, part after part.
  // begin[x]: when x begins to send the part in question, the first being its
  // own; the second waits for the next instruction.
  auto pass = [&](const std::vector<int64_t> &free) {
    std::vector<int64_t> ends(pes), begin(pes);
    for (int64_t x = 0; x < pes; ++x) {
      begin[x] = free[x] + start;
      ends[x] = x == pes - 1 ? free[x] : begin[x] + part;
    }
    for (int64_t block = 1; block < pes; ++block)
      for (int64_t x = pes - 1; x >= block; --x) {
        int64_t ready = block == 1 ? ends[x] + start : begin[x] + part;
        begin[x] = std::max(ready, begin[x - 1] + step);
        ends[x] = begin[x] + part;
      }
    return ends;
  };
  std::vector<int64_t> east = pass(std::vector<int64_t>(pes, 0));
  std::reverse(east.begin(), east.end());
  std::vector<int64_t> west = pass(east);
  return *std::max_element(west.begin(), west.end());
}

double linkSeconds(const Target &target, double bytes) {
  return target.linkLatencySeconds + bytes / target.linkBytesPerSecond;
}

double waferToWaferSeconds(const Target &target, const PeRectangle &from,
                           double bytes) {
  int64_t right = target.columns - from.x - from.width;
  int64_t hops = std::max<int64_t>(0, std::min(from.x, right));
  FabricTiming timing = FabricTiming::of(target);
  return target.seconds(static_cast<double>(timing.ramp + hops * timing.hop)) +
         linkSeconds(target, bytes);
}

} // namespace sol
