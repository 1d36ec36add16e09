//===- collectives.h - the time of collectives in closed form ------------===//
//
// One function for each formula, each with its source. Cycles from the moment
// at which all PEs have their part to the moment at which the last PE has the
// result, the start of every instruction included. A line has `pes` PEs, each
// with a vector of `words` words; both are at least 1.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_COLLECTIVES_H
#define SOL_MACHINE_COST_COLLECTIVES_H

#include "machine/cost/fabric_timing.h"

namespace sol {

/// @name Reductions over a line to its end

/// words + (2 T_R + 2)(pes - 1). Source: arXiv 2404.15888, chain.
int64_t chainReduceCycles(const FabricTiming &timing, int64_t pes,
                          int64_t words);
/// words (pes - 1) + 2 T_R + 2, a start for each sender. Source: arXiv
/// 2404.15888, star (contention at the root), with the hop to it.
int64_t starReduceCycles(const FabricTiming &timing, int64_t pes,
                         int64_t words);
/// (group - 1)(2 T_R + 2) + (ceil(pes / group) - 1)(group + 2 T_R + 1) +
/// 2 words. Source: arXiv 2404.15888, two-phase (twoPhaseTree). Exact where
/// `group` divides `pes`, else an upper bound: a short last group is ready
/// earlier.
int64_t twoPhaseReduceCycles(const FabricTiming &timing, int64_t pes,
                             int64_t words, int64_t group);
/// The same where the last group sends its sum on as it comes (twoLevelTree):
/// up to `words` less. Exact where `group` divides `pes`, else an upper bound.
/// Source: our own, by rules E1-E4 (docs/decisions/0013).
int64_t twoLevelReduceCycles(const FabricTiming &timing, int64_t pes,
                             int64_t words, int64_t group);
/// The group with the least twoPhaseReduceCycles; the smallest of equals.
int64_t bestGroup(const FabricTiming &timing, int64_t pes, int64_t words);
/// max(words log2 pes, words/(pes - 1) pes/2 log2 pes + pes - 1) +
/// (2 T_R + 1) log2 pes, rounds up. Source: arXiv 2404.15888, tree, as its
/// general form max(C, E / N + L) + (2 T_R + 1) D; an estimate.
int64_t treeReduceEstimate(const FabricTiming &timing, int64_t pes,
                           int64_t words);

/// @name From one PE to many

/// words + distance + 2 T_R + 1: routers copy the words on their way; the
/// farthest PE is `distance` hops away. Source: arXiv 2404.15888, broadcast
/// (L = distance, D = 1).
int64_t broadcastCycles(const FabricTiming &timing, int64_t distance,
                        int64_t words);
/// Hops from the end of a line to its other end.
inline int64_t endDistance(int64_t pes) { return pes - 1; }
/// Hops from PE pes / 2 to the farther end.
inline int64_t middleDistance(int64_t pes) { return pes / 2; }

/// @name All PEs of a line take part and have a result
/// `words` is the whole vector; PE i ends with, or brings, the i-th part of
/// ceil(words / pes) words.

/// Sums, each part at one PE: partial sums flow east, then west, each through
/// the cores between. Source: our own, by rules E1-E4 (docs/decisions/0013).
int64_t reduceScatterCycles(const FabricTiming &timing, int64_t pes,
                            int64_t words);
/// Every part at every PE: parts flow east, then west. Source: as above.
int64_t allGatherCycles(const FabricTiming &timing, int64_t pes, int64_t words);

/// @name Between wafers, in seconds

/// latency + bytes / bandwidth; both directions are independent. Source:
/// docs/targets.md, `link`.
double linkSeconds(const Target &target, double bytes);
/// A stream of `bytes` from a rectangle to the wafer's edge and on: the hops to
/// the nearest column at the edge, then the link. Source: as above.
double waferToWaferSeconds(const Target &target, const PeRectangle &from,
                           double bytes);

} // namespace sol

#endif // SOL_MACHINE_COST_COLLECTIVES_H
