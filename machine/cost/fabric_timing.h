//===- fabric_timing.h - what instructions and words take ----------------===//
//
// The constants per instruction, word and hop, and the time of one message:
// all that the event-by-event mesh takes from the cost library. Rules E1-E4
// are in docs/decisions/0013. Everything is in cycles and words.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_FABRIC_TIMING_H
#define SOL_MACHINE_COST_FABRIC_TIMING_H

#include "sol/target.h"

#include <cmath>
#include <cstdint>

namespace sol {

/// Cycles of the fabric's smallest parts.
struct FabricTiming {
  int64_t hop = 1;   ///< router to the next router
  int64_t ramp = 2;  ///< core to router, or router to core: T_R
  int64_t start = 0; ///< between two instructions of a PE (E1)

  static FabricTiming of(const Target &target) {
    return {target.hopCycles, target.rampCycles,
            static_cast<int64_t>(std::llround(target.startCycles))};
  }

  /// From a word handled by the sender to the same word handled by a receiver
  /// `hops` away: up the ramp, along, down the ramp, one cycle to handle it.
  /// Source: arXiv 2404.15888, (2 T_R + 1) D + L with D = 1.
  int64_t flight(int64_t hops) const { return 2 * ramp + hops * hop + 1; }

  /// A message: `words` handled by the receiver, once the sender's instruction
  /// has begun. Source: arXiv 2404.15888, words + hops + 2 T_R + 1.
  int64_t message(int64_t words, int64_t hops) const {
    return words + flight(hops);
  }
};

} // namespace sol

#endif // SOL_MACHINE_COST_FABRIC_TIMING_H
