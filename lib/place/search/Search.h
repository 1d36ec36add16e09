//===- Search.h - finds placements ----------------------------------------===//
//
// Algorithms for Problem: a quick constructive one, a search that improves on
// it, and the two baselines that plans are compared with. Whatever they give
// obeys Problem's rules.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_SEARCH_SEARCH_H
#define SOL_LIB_PLACE_SEARCH_SEARCH_H

#include "lib/place/search/Templates.h"

#include "absl/status/statusor.h"

namespace sol::place {

/// How layers are put on wafers.
enum class Policy {
  Free,           ///< as the objective likes it
  LayerPerWafer,  ///< one layer on the whole grid of each wafer
  LayerRectangle, ///< one layer on the best rectangle of each wafer
};

/// What the search may leave out, for studies.
struct SearchLimits {
  bool freeShape = true; ///< else regions have the whole grid
  double seconds = 20;   ///< most time for improving
};

/// One point of the curve over numbers of wafers.
struct CurvePoint {
  int64_t wafers = 0;
  double tokensPerSecond = 0;    ///< one sequence alone
  double tokensPerSecondAll = 0; ///< all sequences
};

/// A placement, and how it came about.
struct Solution {
  Problem problem; ///< with the number of wafers that was chosen
  Placement placement;
  Evaluation evaluation;
  std::vector<CurvePoint> curve; ///< where the number was free
};

/// The quick placer: each layer on the best of a few shapes. Used as a start.
std::optional<Placement> placeQuickly(const Problem &problem);

/// The best placement for the problem's number of wafers that the search finds.
/// ResourceExhausted, saying what does not fit, by how much, and the smallest
/// changes that would make it fit, if there is none.
absl::StatusOr<Solution> placeOn(const Problem &problem, Policy policy,
                                 const SearchLimits &limits = {});

/// The fewest wafers, up to `most`, whose best value is within 2 % of the best
/// of all.
absl::StatusOr<Solution> placeOnFewest(Problem problem, Policy policy,
                                       int64_t most,
                                       const SearchLimits &limits = {});

/// Fewest wafers on which the model fits at all, up to `most`; 0 if it does
/// not.
int64_t fewestWafers(const Problem &problem, int64_t most);

/// Most positions for which the model fits the problem's wafers; 0 if it does
/// for none.
int64_t longestContext(const Problem &problem);

/// The sentence about what does not fit and what would.
std::string whyNot(const Problem &problem, Policy policy);

} // namespace sol::place

#endif // SOL_LIB_PLACE_SEARCH_SEARCH_H
