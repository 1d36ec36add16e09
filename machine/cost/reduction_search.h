//===- reduction_search.h - the best tree, and what no tree beats --------===//
//
// A dynamic programme over all trees with the root at one end (the idea of
// arXiv 2404.15888's Auto-Gen, on the exact time of scheduleReduction instead
// of an estimate), and that paper's lower bound.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_REDUCTION_SEARCH_H
#define SOL_MACHINE_COST_REDUCTION_SEARCH_H

#include "machine/cost/reduction_tree.h"

namespace sol {

/// The best trees of one number of words, for lines of any length; grows as it
/// is asked. Not for two threads at once.
class BestTrees {
public:
  /// At most `mostNested` messages cross any link, as each needs a colour, and
  /// another where two messages meet: 10 take 20 colours or fewer. At least 1.
  BestTrees(const FabricTiming &timing, int64_t words, int64_t mostNested = 10)
      : timing(timing), words(words), tables(mostNested + 1) {}

  /// Time of the best tree with the root at PE 0; 0 for a single PE.
  /// The last child that the root of p PEs adds is PE i, which sums PEs i to
  /// p - 1; what the root has before is the best of i PEs, with a message less
  /// over their links:
  /// T(p, k) = min over i of max(T(i, k - 1) + start + words, S(p - i, k) +
  /// flight(i)); S(1, k) = start + words, S(q, k) = T(q, k).
  /// O(p mostNested) for each new p.
  int64_t time(int64_t pes);
  ReductionTree tree(int64_t pes);
  /// The best trees of both sides, joined at the PE in the middle; a side that
  /// is `gathered` is summed up by the middle's neighbour, so that the middle
  /// has one message less to add where both sides' come at once.
  ReductionTree middleTree(int64_t pes, bool gatherLeft, bool gatherRight);

private:
  /// For one k, by p: T, and the i that it has.
  struct Table {
    std::vector<int64_t> cycles{0, 0};
    std::vector<int64_t> farChild{0, 0};
  };
  void grow(int64_t pes);
  /// Writes parents of the tree of PEs at, at + step, … at + step (pes - 1).
  void write(int64_t pes, int64_t nested, int64_t at, int64_t step,
             std::vector<int64_t> &parent) const;

  FabricTiming timing;
  int64_t words;
  std::vector<Table> tables;
};

/// The time of a tree in the model of arXiv 2404.15888: max(C, E / N + L) +
/// (2 T_R + 1) D, with contention C (words that the busiest PE receives),
/// energy E (hops of all words), links N, distance L of the farthest PE and
/// depth D. An estimate of scheduleReduction without starts: it adds what
/// partly overlaps, so short vectors may take less.
int64_t modelCycles(const FabricTiming &timing, const ReductionTree &tree,
                    int64_t words);

/// In that model no tree with the root at its end takes less: min over D of
/// max(words, words E(D) / (pes - 1) + pes - 1) + (2 T_R + 1) D, E(D) the
/// fewest hops of a word that a tree of depth D takes. Source: the same
/// paper's lower bound.
int64_t reductionLowerBound(const FabricTiming &timing, int64_t pes,
                            int64_t words);

} // namespace sol

#endif // SOL_MACHINE_COST_REDUCTION_SEARCH_H
