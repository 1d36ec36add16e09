//===- Memory.h - bytes of a PE that a placement takes --------------------===//
//
// Adds up what each region's busiest PE has to hold.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_PLAN_MEMORY_H
#define SOL_LIB_PLACE_PLAN_MEMORY_H

#include "lib/place/plan/Problem.h"

#include <map>
#include <string>

namespace sol::place {

/// The bytes of blocks on regions, remembered for blocks that are alike. The
/// problem outlives it. Not for two threads at once.
class BlockMemory {
public:
  explicit BlockMemory(const Problem &problem);

  /// What block `block` takes of a PE of a region of that shape, with `experts`
  /// of its experts (0: all), and `tokens` passing at once. Scratch is the sum
  /// over its steps: nothing is assumed to be used twice within a block.
  PeBytes bytes(int block, Shape shape, int64_t experts, int64_t tokens);

  /// For each region of a placement what its PEs have to hold: the sum of
  /// weights and caches, the largest of scratch, and what a table that two of
  /// its blocks share counts once.
  std::vector<PeBytes> regionBytes(const Placement &placement);

  /// Blocks with the same number are alike in all that costs depend on.
  int kindOf(int block) const { return kinds[block]; }

private:
  using Key = std::tuple<int, int64_t, int64_t, int64_t, int64_t>;

  const Problem &problem;
  StepCosts costs;
  std::vector<int> kinds;
  std::map<Key, PeBytes> known;
};

/// Numbers blocks so that equal numbers mean equal sizes.
std::vector<int> numberBlockKinds(const ModelGraph &graph);

} // namespace sol::place

#endif // SOL_LIB_PLACE_PLAN_MEMORY_H
