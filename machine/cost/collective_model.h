//===- collective_model.h - which form a collective takes ----------------===//
//
// For each number of PEs and words the form with the least time, remembered.
// Placer, scheduler and simulator ask this, so they agree. Emits nothing: the
// tree of a choice says who sends to whom.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_COLLECTIVE_MODEL_H
#define SOL_MACHINE_COST_COLLECTIVE_MODEL_H

#include "machine/cost/collectives.h"
#include "machine/cost/reduction_search.h"

#include <map>
#include <string_view>
#include <tuple>

namespace sol {

/// How a collective over a line goes.
enum class CollectiveForm {
  None,             ///< one PE: nothing to do
  Chain,            ///< chainTree, or middleChainTree
  TwoLevel,         ///< twoLevelTree, or middleTwoLevelTree, with `group`
  Tree,             ///< what the dynamic programme finds (BestTrees)
  ScatterAndGather, ///< an all-reduce as reduce-scatter and all-gather
};

std::string_view collectiveFormName(CollectiveForm form);

enum class RootPlace {
  End,   ///< PE 0
  Middle ///< PE pes / 2
};

/// What a time consists of: `starts`, `ramps` and `hops` are what it would be
/// less if those took nothing, one after the other; the rest are words that
/// follow each other. The four add up to the time.
struct CycleParts {
  int64_t words = 0, hops = 0, ramps = 0, starts = 0;

  int64_t cycles() const { return words + hops + ramps + starts; }
  CycleParts &operator+=(const CycleParts &other);
};

/// A choice.
struct Collective {
  CollectiveForm form = CollectiveForm::None;
  int64_t group = 0; ///< of TwoLevel; of a Tree to the middle, which sides
                     ///< are gathered (1: left, 2: right)
  CycleParts parts;

  int64_t cycles() const { return parts.cycles(); }
};

/// The collectives of one machine. Not for two threads at once.
class CollectiveModel {
public:
  explicit CollectiveModel(const FabricTiming &timing) : timing(timing) {}

  const FabricTiming &fabric() const { return timing; }

  /// The sum of vectors of `words` words over a line of `pes` PEs, at the root.
  const Collective &reduce(int64_t pes, int64_t words, RootPlace root);
  /// The tree of that choice.
  ReductionTree tree(int64_t pes, int64_t words, RootPlace root);
  /// From the root to the line.
  CycleParts broadcast(int64_t pes, int64_t words, RootPlace root) const;
  /// The sum at every PE: a reduction to the middle and a broadcast from there,
  /// or a reduce-scatter and an all-gather.
  const Collective &allReduce(int64_t pes, int64_t words);

  /// @name On a rectangle
  /// The sum over all PEs: over the rows, then over the root's column.
  CycleParts reduceRectangle(int64_t width, int64_t height, int64_t words,
                             RootPlace root);
  /// From one PE to all, by one message. Source: arXiv 2404.15888, 2D
  /// broadcast: words + distance + 2 T_R + 1.
  CycleParts broadcastRectangle(int64_t width, int64_t height, int64_t words,
                                RootPlace root) const;
  /// The sum over all PEs, at all of them, by way of the middle.
  CycleParts allReduceRectangle(int64_t width, int64_t height, int64_t words);

private:
  using Key = std::tuple<int64_t, int64_t, RootPlace>;
  Collective choose(int64_t pes, int64_t words, RootPlace root);
  ReductionTree build(const Collective &choice, int64_t pes, int64_t words,
                      RootPlace root);
  BestTrees &trees(int64_t words);

  FabricTiming timing;
  std::map<Key, Collective> reductions;
  std::map<std::pair<int64_t, int64_t>, Collective> allReductions;
  std::map<int64_t, BestTrees> bestTrees;
};

/// The parts of a time that `cycles` gives for any timing: it is asked with
/// starts, ramps and hops taken out one after the other.
template <typename Function>
CycleParts partsOf(FabricTiming timing, Function cycles) {
  int64_t all = cycles(timing);
  timing.start = 0;
  int64_t withoutStarts = cycles(timing);
  timing.ramp = 0;
  int64_t withoutRamps = cycles(timing);
  timing.hop = 0;
  int64_t words = cycles(timing);
  return {words, withoutRamps - words, withoutStarts - withoutRamps,
          all - withoutStarts};
}

} // namespace sol

#endif // SOL_MACHINE_COST_COLLECTIVE_MODEL_H
