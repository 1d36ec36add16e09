//===- Improve.h - changes single regions of a placement ------------------===//
//
// The part of the search that knows no templates.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_SEARCH_IMPROVE_H
#define SOL_LIB_PLACE_SEARCH_IMPROVE_H

#include "lib/place/search/Search.h"

namespace sol::place {

/// Makes a placement that obeys the rules better, by changes at random with a
/// fixed seed: a region grows, shrinks or moves, blocks go to the region before
/// or behind, or to a new one. Ends after `seconds`, or when a number of
/// attempts that grows with the placement has brought nothing.
void improve(const Problem &problem, Filler &filler, double seconds,
             Placement &placement);

} // namespace sol::place

#endif // SOL_LIB_PLACE_SEARCH_IMPROVE_H
