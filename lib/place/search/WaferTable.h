//===- WaferTable.h - what a wafer can hold, and in what time -------------===//
//
// For each run of units that a single wafer can hold, the template that does it
// fastest; and the fastest way to cover all units with such runs.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_SEARCH_WAFERTABLE_H
#define SOL_LIB_PLACE_SEARCH_WAFERTABLE_H

#include "lib/place/search/Search.h"

#include <functional>
#include <limits>

namespace sol::place {

/// Shapes that wafers are cut into: whole fractions of the mesh, and sizes
/// between them.
std::vector<Shape> templateShapes(const Target &target);

/// The fastest template for a run of units on a wafer.
struct WaferRun {
  double cycles = std::numeric_limits<double>::infinity();
  int shape = -1; ///< in the table's list of shapes
};

/// Runs of units on one wafer. Built once for a problem and a chunk length.
class WaferTable {
public:
  /// `wafer` decides which PEs are broken.
  WaferTable(Filler &filler, const Problem &problem, int64_t wafer,
             const std::vector<Shape> &shapes, int64_t chunkTokens);

  /// Units `begin` to `end` - 1 on one wafer.
  const WaferRun &run(int begin, int end) const {
    return runs[begin * (units + 1) + end];
  }
  /// The end of the longest run from `begin` on that fits.
  int reach(int begin) const { return reaches[begin]; }

private:
  void addShape(Filler &filler, const Problem &problem, int64_t wafer,
                Shape shape, int index, int64_t chunkTokens);

  int units = 0;
  std::vector<WaferRun> runs;
  std::vector<int> reaches;
};

/// A cover of all units: where each wafer's run ends, and its shape.
struct WaferCover {
  std::vector<int> ends;
  std::vector<int> shapes;
  double cycles = 0;
};

/// The covers with the least cycles for 1, 2, … `most` wafers; no ends where
/// there is none. `linkCycles` is added between wafers. `table` gives the table
/// of each wafer.
std::vector<WaferCover>
bestCovers(int units, int64_t most, double linkCycles,
           const std::function<const WaferTable &(int64_t)> &table);

} // namespace sol::place

#endif // SOL_LIB_PLACE_SEARCH_WAFERTABLE_H
