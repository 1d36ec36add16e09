//===- reduction_search.cpp - the best tree, and what no tree beats ------===//
//
// See reduction_search.h.
//
//===----------------------------------------------------------------------===//
#include "machine/cost/reduction_search.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace sol {

/// More than any time, and sums of it don't overflow.
constexpr int64_t never = std::numeric_limits<int64_t>::max() / 4;

void BestTrees::grow(int64_t pes) {
  for (int64_t p = static_cast<int64_t>(tables[0].cycles.size()); p <= pes;
       ++p) {
    tables[0].cycles.push_back(never);
    tables[0].farChild.push_back(0);
    for (size_t nested = 1; nested < tables.size(); ++nested) {
      const Table &before = tables[nested - 1];
      Table &table = tables[nested];
      int64_t best = never, child = 0;
      for (int64_t i = 1; i < p; ++i) {
        int64_t sent = p - i == 1 ? timing.start + words : table.cycles[p - i];
        int64_t time = std::max(before.cycles[i] + timing.start + words,
                                sent + timing.flight(i));
        // The nearest of equals: it takes the fewest hops.
        if (time < best) {
          best = time;
          child = i;
        }
      }
      table.cycles.push_back(best);
      table.farChild.push_back(child);
    }
  }
}

int64_t BestTrees::time(int64_t pes) {
  grow(pes);
  return tables.back().cycles[pes];
}

void BestTrees::write(int64_t pes, int64_t nested, int64_t at, int64_t step,
                      std::vector<int64_t> &parent) const {
  // The root's children from the farthest to the nearest.
  for (; pes > 1; --nested) {
    int64_t far = tables[nested].farChild[pes];
    parent[at + step * far] = at;
    write(pes - far, nested, at + step * far, step, parent);
    pes = far;
  }
}

ReductionTree BestTrees::tree(int64_t pes) {
  grow(pes);
  ReductionTree tree{0, std::vector<int64_t>(pes, 0), {}};
  write(pes, std::ssize(tables) - 1, 0, 1, tree.parent);
  return tree;
}

ReductionTree BestTrees::middleTree(int64_t pes, bool gatherLeft,
                                    bool gatherRight) {
  grow(pes);
  int64_t root = pes / 2, nested = std::ssize(tables) - 1;
  ReductionTree tree{root, std::vector<int64_t>(pes, root), {}};
  int64_t left = gatherLeft ? 1 : 0, right = gatherRight ? 1 : 0;
  write(root + 1 - left, nested, root - left, -1, tree.parent);
  write(pes - root - right, nested, root + right, 1, tree.parent);
  return tree;
}

int64_t modelCycles(const FabricTiming &timing, const ReductionTree &tree,
                    int64_t words) {
  int64_t pes = tree.pes();
  if (pes < 2)
    return 0;
  int64_t contention = 0, energy = 0, distance = 0, depth = 0;
  std::vector<int64_t> received(pes, 0);
  for (int64_t pe = 0; pe < pes; ++pe) {
    if (pe == tree.root)
      continue;
    contention = std::max(contention, received[tree.parent[pe]] += words);
    energy += words * tree.distance(pe);
    int64_t messages = 0;
    for (int64_t at = pe; at != tree.root; at = tree.parent[at])
      ++messages;
    depth = std::max(depth, messages);
    distance = std::max(distance, std::abs(pe - tree.root));
  }
  return std::max(contention,
                  (energy + pes - 2) / (pes - 1) + distance * timing.hop) +
         (2 * timing.ramp + 1) * depth;
}

int64_t reductionLowerBound(const FabricTiming &timing, int64_t pes,
                            int64_t words) {
  if (pes < 2)
    return 0;
  int64_t best = never;
  int64_t distance = (pes - 1) * timing.hop;
  // hops[p]: fewest hops of a word over p PEs at the depth in question. With
  // no depth at all only one PE is a tree.
  std::vector<int64_t> hops(pes + 1, never), shallower;
  hops[1] = 0;
  for (int64_t depth = 1; depth < pes; ++depth) {
    int64_t latency = (2 * timing.ramp + 1) * depth;
    // Deeper trees pay more than this for depth alone.
    if (latency + std::max(words, distance + words) >= best)
      break;
    shallower = hops;
    for (int64_t p = 2; p <= pes; ++p)
      for (int64_t i = 1; i < p; ++i)
        hops[p] = std::min(hops[p], hops[i] + shallower[p - i] + i);
    if (hops[pes] >= never)
      continue;
    int64_t energy = (words * hops[pes] + pes - 2) / (pes - 1);
    best = std::min(best, std::max(words, energy + distance) + latency);
  }
  return best;
}

} // namespace sol
