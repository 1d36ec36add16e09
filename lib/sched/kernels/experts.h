//===- experts.h - a mixture of experts on one rectangle -----------------===//
//
// Every expert's matrices lie over the whole rectangle; the router's choice
// decides by registers which of them a product reads. So all PEs do the same
// work, whichever experts are chosen.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SCHED_KERNELS_EXPERTS_H
#define SOL_LIB_SCHED_KERNELS_EXPERTS_H

#include "lib/sched/kernels/linear.h"

namespace sol::fabric {

struct ExpertsShape {
  int32_t experts = 1;
  int32_t chosen = 1;    ///< experts of a token
  int64_t hidden = 0;    ///< of one expert
  bool normalise = true; ///< weights of the chosen ones add up to 1
  Opcode activation = Opcode::Silu;
};

struct ExpertsWeights {
  Weights router; ///< [width][experts], one for each turn
  /// [width][hidden] twice and [hidden][width]: expert after expert, for each
  /// turn.
  Weights gate, up, down;
};

/// The sum over the chosen experts of their weight, the softmax of the router's
/// scores, times their gated MLP. `x` is along Axis::Y. The lowest expert of
/// equal scores is taken first.
Sharded experts(RegionWriter &writer, const Sharded &x,
                const ExpertsShape &shape, const ExpertsWeights &weights,
                ElementType storage);

} // namespace sol::fabric

#endif // SOL_LIB_SCHED_KERNELS_EXPERTS_H
