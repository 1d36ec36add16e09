//===- collective_model.cpp - which form a collective takes --------------===//
//
// Compares the forms by their exact times (scheduleReduction).
//
//===----------------------------------------------------------------------===//
#include "machine/cost/collective_model.h"

#include <algorithm>
#include <cmath>

namespace sol {

std::string_view collectiveFormName(CollectiveForm form) {
  switch (form) {
  case CollectiveForm::Chain:
    return "chain";
  case CollectiveForm::TwoLevel:
    return "two-level";
  case CollectiveForm::Tree:
    return "tree";
  case CollectiveForm::ScatterAndGather:
    return "scatter and gather";
  case CollectiveForm::None:
    break;
  }
  return "none";
}

CycleParts &CycleParts::operator+=(const CycleParts &other) {
  words += other.words;
  hops += other.hops;
  ramps += other.ramps;
  starts += other.starts;
  return *this;
}

BestTrees &CollectiveModel::trees(int64_t words) {
  return bestTrees.try_emplace(words, timing, words).first->second;
}

ReductionTree CollectiveModel::build(const Collective &choice, int64_t pes,
                                     int64_t words, RootPlace root) {
  bool middle = root == RootPlace::Middle;
  switch (choice.form) {
  case CollectiveForm::TwoLevel:
    return middle ? middleTwoLevelTree(pes, choice.group)
                  : twoLevelTree(pes, choice.group);
  case CollectiveForm::Tree:
    return middle ? trees(words).middleTree(pes, choice.group & 1,
                                            choice.group & 2)
                  : trees(words).tree(pes);
  default:
    return middle ? middleChainTree(pes) : chainTree(pes);
  }
}

Collective CollectiveModel::choose(int64_t pes, int64_t words, RootPlace root) {
  Collective best;
  if (pes < 2)
    return best;
  int64_t bestCycles = 0;
  auto offer = [&](CollectiveForm form, int64_t group) {
    Collective item{form, group, {}};
    ReductionTree tree = build(item, pes, words, root);
    int64_t cycles = scheduleReduction(timing, tree, words).cycles;
    // Forms come from the simplest on, and must win to replace it.
    if (best.form == CollectiveForm::None || cycles < bestCycles) {
      best = item;
      bestCycles = cycles;
    }
  };
  offer(CollectiveForm::Chain, 0);
  if (root == RootPlace::End) {
    offer(CollectiveForm::TwoLevel, bestGroup(timing, pes, words));
  } else {
    // The best group is near the root of the number of PEs.
    int64_t near = std::llround(std::sqrt(pes));
    for (int64_t group = std::max<int64_t>(2, near / 2); group <= 2 * near;
         group += 1 + near / 8)
      offer(CollectiveForm::TwoLevel, group);
  }
  // A side with no PE can't be gathered.
  for (int64_t sides = 0; sides < 4; ++sides)
    if (sides == 0 || (root == RootPlace::Middle && pes > 2))
      offer(CollectiveForm::Tree, sides);
  ReductionTree tree = build(best, pes, words, root);
  best.parts = partsOf(timing, [&](const FabricTiming &changed) {
    return scheduleReduction(changed, tree, words).cycles;
  });
  return best;
}

const Collective &CollectiveModel::reduce(int64_t pes, int64_t words,
                                          RootPlace root) {
  Key key{pes, words, root};
  auto found = reductions.find(key);
  if (found == reductions.end())
    found = reductions.emplace(key, choose(pes, words, root)).first;
  return found->second;
}

ReductionTree CollectiveModel::tree(int64_t pes, int64_t words,
                                    RootPlace root) {
  return build(reduce(pes, words, root), pes, words, root);
}

CycleParts CollectiveModel::broadcast(int64_t pes, int64_t words,
                                      RootPlace root) const {
  return broadcastRectangle(pes, 1, words, root);
}

const Collective &CollectiveModel::allReduce(int64_t pes, int64_t words) {
  auto [entry, isNew] = allReductions.try_emplace({pes, words});
  if (!isNew)
    return entry->second;
  Collective &choice = entry->second;
  choice = reduce(pes, words, RootPlace::Middle);
  choice.parts += broadcast(pes, words, RootPlace::Middle);
  // Parts of less than a word would move more than the whole vector.
  if (words >= pes && pes > 1) {
    CycleParts parts = partsOf(timing, [&](const FabricTiming &changed) {
      return reduceScatterCycles(changed, pes, words) +
             allGatherCycles(changed, pes, words);
    });
    if (parts.cycles() < choice.cycles())
      choice = {CollectiveForm::ScatterAndGather, 0, parts};
  }
  return choice;
}

CycleParts CollectiveModel::reduceRectangle(int64_t width, int64_t height,
                                            int64_t words, RootPlace root) {
  CycleParts parts = reduce(width, words, root).parts;
  parts += reduce(height, words, root).parts;
  return parts;
}

CycleParts CollectiveModel::broadcastRectangle(int64_t width, int64_t height,
                                               int64_t words,
                                               RootPlace root) const {
  int64_t distance = root == RootPlace::End
                         ? endDistance(width) + endDistance(height)
                         : middleDistance(width) + middleDistance(height);
  return partsOf(timing, [&](const FabricTiming &changed) {
    return broadcastCycles(changed, distance, words);
  });
}

CycleParts CollectiveModel::allReduceRectangle(int64_t width, int64_t height,
                                               int64_t words) {
  CycleParts parts = reduceRectangle(width, height, words, RootPlace::Middle);
  parts += broadcastRectangle(width, height, words, RootPlace::Middle);
  return parts;
}

} // namespace sol
