//===- LowerBound.h - what no plan beats ----------------------------------===//
//
// The least time of a token on a machine, whatever the plan: for each step the
// least over all rectangles of the larger of arithmetic (with what memory can
// feed) and hops, and what has to cross between wafers. Loose by design: each
// step takes the rectangle that suits it alone.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_COST_LOWERBOUND_H
#define SOL_LIB_PLACE_COST_LOWERBOUND_H

#include "lib/place/cost/StepCosts.h"
#include "machine/cost/lower_bound.h"

namespace sol::place {

/// What the bound depends on, beside the model.
struct BoundInput {
  int64_t wafers = 1;
  int64_t context = 0;   ///< positions in the cache
  int64_t sequences = 1; ///< for the bytes that decide the least wafers
  NumberFormat activations = NumberFormat::Float16;
  NumberFormat cache = NumberFormat::Float16;
};

/// The bound in its parts, in cycles.
struct LowerBound {
  double steps = 0;     ///< the longest way through all steps
  double crossings = 0; ///< between wafers that can't be avoided
  double host = 0;      ///< the trip of the token
  int64_t leastWafers = 1;

  double cycles() const { return steps + crossings + host; }
};

/// The least cycles of one step, by machine/cost's boundOfStep. Experts,
/// vocabulary and positions of the cache count as spread over all wafers.
double stepBound(const Target &target, const Step &step,
                 const BoundInput &input);

/// The bound of one token's decoding.
LowerBound lowerBound(const Target &target, const ModelGraph &graph,
                      const BoundInput &input);

} // namespace sol::place

#endif // SOL_LIB_PLACE_COST_LOWERBOUND_H
