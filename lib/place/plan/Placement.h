//===- Placement.h - where each block lies --------------------------------===//
//
// A solution of the place stage: rectangles of PEs, called regions, and for
// each block the regions that hold it. Plain data; Problem.h says what it has
// to obey, Evaluate.h what it costs.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_PLAN_PLACEMENT_H
#define SOL_LIB_PLACE_PLAN_PLACEMENT_H

#include "lib/place/cost/StepCosts.h"

#include <vector>

namespace sol::place {

/// A rectangle of a wafer. Several blocks may share it, one after the other.
struct Region {
  int64_t wafer = 0;
  PeRectangle rectangle;

  Shape shape() const { return {rectangle.width, rectangle.height}; }
};

/// A part of a block on a region: experts `begin` to `end` - 1 of those that
/// it has; a block without experts has the one shard 0 to 1.
struct Shard {
  int region = 0;
  int64_t begin = 0, end = 1;

  int64_t experts() const { return end - begin; }
};

/// Where each block of a graph lies.
struct Placement {
  std::vector<Region> regions;
  /// For each block of the graph, in the graph's order. A token comes to the
  /// first shard and leaves from the last.
  std::vector<std::vector<Shard>> blocks;
  /// Tokens of a prompt that go through the stages together.
  int64_t chunkTokens = 1;

  /// Wafers that some region lies on.
  int64_t wafers() const;
};

} // namespace sol::place

#endif // SOL_LIB_PLACE_PLAN_PLACEMENT_H
