//===- Templates.h - wafers cut into equal rectangles ---------------------===//
//
// The material of the search: a wafer cut into regions of one shape, filled
// with blocks in the order in which a token passes them.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_SEARCH_TEMPLATES_H
#define SOL_LIB_PLACE_SEARCH_TEMPLATES_H

#include "lib/place/plan/Evaluate.h"
#include "lib/place/plan/Memory.h"

#include <optional>

namespace sol::place {

/// Blocks that stay together: a layer, the embedding, the head.
struct Unit {
  int begin = 0, end = 0; ///< blocks
};

/// The units of a graph, in order: each attention with what follows it.
std::vector<Unit> unitsOf(const ModelGraph &graph);

/// Regions of one shape that fit a wafer side by side and work, neighbours one
/// after the other: along the first row, back along the second.
std::vector<Region> regionsOf(const Problem &problem, int64_t wafer,
                              Shape shape);

/// Fills regions in order and remembers costs. The problem outlives it.
class Filler {
public:
  explicit Filler(const Problem &problem)
      : problem(problem), memory(problem), evaluator(problem), rough(problem),
        units(unitsOf(*problem.graph)) {
    rough.stepCosts().roundWords();
  }

  /// Places units from `unit` on, and as many as fit, on `regions`; gives the
  /// number of the first that found no room. A unit lies on one region.
  int fill(const std::vector<Region> &regions, int unit, int64_t chunkTokens,
           Placement &placement);

  /// Places all blocks on regions of `shape` of as many wafers as the problem
  /// has; experts that find no room are put on the next region. Nothing if
  /// there are not enough wafers.
  std::optional<Placement> fillSplitting(Shape shape, int64_t chunkTokens);

  /// Spreads the blocks of a placement of `units` evenly over its regions, for
  /// throughput.
  std::optional<Placement> fillEvenly(const std::vector<Region> &regions,
                                      int64_t chunkTokens);

  Evaluator &costs() { return evaluator; }
  /// The same with words of collectives rounded, for comparing many shapes.
  Evaluator &roughCosts() { return rough; }
  BlockMemory &bytes() { return memory; }
  const std::vector<Unit> &allUnits() const { return units; }

private:
  const Problem &problem;
  BlockMemory memory;
  Evaluator evaluator, rough;
  std::vector<Unit> units;
};

} // namespace sol::place

#endif // SOL_LIB_PLACE_SEARCH_TEMPLATES_H
