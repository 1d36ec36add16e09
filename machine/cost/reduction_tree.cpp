//===- reduction_tree.cpp - who sends its sum to whom --------------------===//
//
// The forms and the rule for their time.
//
//===----------------------------------------------------------------------===//
#include "machine/cost/reduction_tree.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace sol {

ReductionTree chainTree(int64_t pes) { return twoLevelTree(pes, pes); }

ReductionTree starTree(int64_t pes) {
  return {0, std::vector<int64_t>(pes, 0), {}};
}

ReductionTree binaryTree(int64_t pes) {
  ReductionTree tree{0, std::vector<int64_t>(pes, 0), {}};
  for (int64_t pe = 1; pe < pes; ++pe)
    tree.parent[pe] = pe - (pe & -pe);
  return tree;
}

ReductionTree twoLevelTree(int64_t pes, int64_t group) {
  ReductionTree tree{0, std::vector<int64_t>(pes, 0), {}};
  for (int64_t pe = 1; pe < pes; ++pe)
    tree.parent[pe] = pe % group == 0 ? pe - group : pe - 1;
  return tree;
}

ReductionTree twoPhaseTree(int64_t pes, int64_t group) {
  ReductionTree tree = twoLevelTree(pes, group);
  int64_t last = (pes - 1) / group * group;
  if (last > 0 && last + 1 < pes)
    tree.storing.push_back(last);
  return tree;
}

ReductionTree middleChainTree(int64_t pes) {
  return middleTwoLevelTree(pes, pes);
}

ReductionTree middleTwoLevelTree(int64_t pes, int64_t group) {
  ReductionTree tree{pes / 2, std::vector<int64_t>(pes, 0), {}};
  // Counted from the root's group; those at the ends may be short, and have
  // their root at the end then.
  auto rootOf = [&](int64_t index) {
    return std::clamp<int64_t>(tree.root + index * group, 0, pes - 1);
  };
  for (int64_t pe = 0; pe < pes; ++pe) {
    int64_t shifted = pe - tree.root + group / 2;
    int64_t index =
        shifted >= 0 ? shifted / group : -((group - 1 - shifted) / group);
    if (pe != rootOf(index))
      tree.parent[pe] = pe < rootOf(index) ? pe + 1 : pe - 1;
    else
      tree.parent[pe] = rootOf(index - (index > 0) + (index < 0));
  }
  return tree;
}

namespace {

/// PEs such that children stand before their parents.
std::vector<int64_t>
childrenFirst(const ReductionTree &tree,
              const std::vector<std::vector<int64_t>> &children) {
  std::vector<int64_t> order = {tree.root};
  for (size_t i = 0; i < order.size(); ++i)
    order.insert(order.end(), children[order[i]].begin(),
                 children[order[i]].end());
  std::reverse(order.begin(), order.end());
  return order;
}

/// The nearest first on each side: a far child's words wait on the links for
/// those of nearer ones, which nest in them. Between the sides, first come,
/// first added.
template <typename Arrival>
void orderChildren(const ReductionTree &tree, int64_t pe,
                   std::vector<int64_t> &children, Arrival arrival) {
  auto key = [&](int64_t child) {
    return std::pair(child > pe, tree.distance(child));
  };
  std::sort(children.begin(), children.end(),
            [&](int64_t a, int64_t b) { return key(a) < key(b); });
  auto right = std::partition_point(children.begin(), children.end(),
                                    [&](int64_t child) { return child < pe; });
  std::vector<int64_t> merged;
  std::merge(children.begin(), right, right, children.end(),
             std::back_inserter(merged),
             [&](int64_t a, int64_t b) { return arrival(a) < arrival(b); });
  children = std::move(merged);
}

} // namespace

ReductionSchedule scheduleReduction(const FabricTiming &timing,
                                    const ReductionTree &tree, int64_t words) {
  ReductionSchedule schedule;
  schedule.children.resize(tree.pes());
  schedule.ends.assign(tree.pes(), 0);
  for (int64_t pe = 0; pe < tree.pes(); ++pe)
    if (pe != tree.root)
      schedule.children[tree.parent[pe]].push_back(pe);
  for (int64_t pe : childrenFirst(tree, schedule.children)) {
    std::vector<int64_t> &children = schedule.children[pe];
    auto arrival = [&](int64_t child) {
      return schedule.ends[child] + timing.flight(tree.distance(child));
    };
    orderChildren(tree, pe, children, arrival);
    int64_t &end = schedule.ends[pe];
    for (int64_t child : children)
      end = std::max(end + timing.start + words, arrival(child));
    if (pe != tree.root && (children.empty() || tree.stores(pe)))
      end += timing.start + words;
  }
  schedule.cycles = schedule.ends[tree.root];
  return schedule;
}

std::vector<int> colourMessages(const ReductionTree &tree) {
  std::vector<int> colours(tree.pes(), -1);
  std::vector<int64_t> order;
  for (int64_t pe = 0; pe < tree.pes(); ++pe)
    if (pe != tree.root)
      order.push_back(pe);
  auto first = [&](int64_t pe) { return std::min(pe, tree.parent[pe]); };
  auto last = [&](int64_t pe) { return std::max(pe, tree.parent[pe]); };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::tuple(first(a), last(a)) < std::tuple(first(b), last(b));
  });
  // Intervals from left to right: the lowest colour that is free where the
  // interval begins.
  std::vector<int64_t> busyUntil;
  for (int64_t pe : order) {
    size_t colour = 0;
    while (colour < busyUntil.size() && busyUntil[colour] >= first(pe))
      ++colour;
    if (colour == busyUntil.size())
      busyUntil.push_back(0);
    busyUntil[colour] = last(pe);
    colours[pe] = static_cast<int>(colour);
  }
  return colours;
}

int coloursNeeded(const ReductionTree &tree) {
  std::vector<int> colours = colourMessages(tree);
  return 1 + *std::max_element(colours.begin(), colours.end());
}

} // namespace sol
