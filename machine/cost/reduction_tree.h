//===- reduction_tree.h - who sends its sum to whom ----------------------===//
//
// A reduction over a line of PEs is a tree: each PE adds what its children send
// to what it has, and sends the sum on, a word as soon as it is there. The
// forms of the literature are shapes of this tree, and their time follows from
// one rule. Says nothing about which form to take: collective_model.h does.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_REDUCTION_TREE_H
#define SOL_MACHINE_COST_REDUCTION_TREE_H

#include "machine/cost/fabric_timing.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sol {

/// PEs 0 to parent.size() - 1 of a line. A subtree is an interval, so that
/// messages never cross but only nest.
struct ReductionTree {
  int64_t root = 0;
  std::vector<int64_t> parent; ///< of each PE; the root's is itself
  /// PEs that have their whole sum before they send it on, instead of sending
  /// the last child's words as they come.
  std::vector<int64_t> storing;

  bool stores(int64_t pe) const {
    return std::find(storing.begin(), storing.end(), pe) != storing.end();
  }
  int64_t pes() const { return static_cast<int64_t>(parent.size()); }
  /// Hops of the message that PE `pe` sends.
  int64_t distance(int64_t pe) const {
    int64_t difference = pe - parent[pe];
    return difference < 0 ? -difference : difference;
  }
};

/// @name The forms, with the root at PE 0. `pes` is at least 1.
/// Each PE sends to its neighbour.
ReductionTree chainTree(int64_t pes);
/// All send to the root.
ReductionTree starTree(int64_t pes);
/// Rounds of doubling distance: PE i sends to i minus its lowest set bit.
ReductionTree binaryTree(int64_t pes);
/// Chains in groups of `group` PEs, then a chain of the groups' first PEs.
ReductionTree twoLevelTree(int64_t pes, int64_t group);
/// The same in two phases, one after the other: the last group's first PE has
/// its sum before it sends.
ReductionTree twoPhaseTree(int64_t pes, int64_t group);

/// Chains from both ends to the PE in the middle, pes / 2.
ReductionTree middleChainTree(int64_t pes);
/// Groups with a root in their middle, then chains from both ends to the root
/// of the group in the middle, which is PE pes / 2: the shape that WaferLLM
/// gives its reductions (arXiv 2502.04563).
ReductionTree middleTwoLevelTree(int64_t pes, int64_t group);

/// When each PE does what; see scheduleReduction.
struct ReductionSchedule {
  /// Children of each PE in the order in which it adds them up: on each side
  /// from the nearest to the farthest, between the sides as they come.
  std::vector<std::vector<int64_t>> children;
  /// The end of each PE's last instruction.
  std::vector<int64_t> ends;
  /// The sum is at the root.
  int64_t cycles = 0;
};

/// The time of a tree for `words` words, all PEs starting at cycle 0. A leaf
/// sends from `start` to start + words. A PE receives child after child: an
/// instruction ends at the later of its own beginning + words and its last
/// word's arrival, the child's end + flight(distance); the last one sends on.
/// Source: rules E1-E4, from which the forms of arXiv 2404.15888 follow.
ReductionSchedule scheduleReduction(const FabricTiming &timing,
                                    const ReductionTree &tree, int64_t words);

/// A colour for the message of each PE (the root's entry is -1), so that no
/// router has two messages of one colour; colours are numbered from 0. A chain
/// takes 2, and each level of nesting adds some.
std::vector<int> colourMessages(const ReductionTree &tree);

/// How many colours those are.
int coloursNeeded(const ReductionTree &tree);

} // namespace sol

#endif // SOL_MACHINE_COST_REDUCTION_TREE_H
