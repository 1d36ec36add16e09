//===- Problem.h - what is to be placed, and what a placement has to obey -===//
//
// The optimisation problem of the place stage: a model, a machine and what is
// asked of them. It checks its own input and verifies any placement, whoever
// made it. It finds none: lib/place/search does.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_PLAN_PROBLEM_H
#define SOL_LIB_PLACE_PLAN_PROBLEM_H

#include "lib/place/cost/StepCosts.h"
#include "lib/place/plan/Placement.h"

#include "absl/status/status.h"

namespace sol::place {

/// What a placement is to be best at.
enum class Objective {
  Latency,    ///< tokens in a second for one sequence
  Throughput, ///< tokens in a second for all sequences
  Context     ///< positions that fit
};

/// `latency`, `throughput` or `context`.
const char *objectiveName(Objective objective);

/// The problem. The graph outlives it.
struct Problem {
  const ModelGraph *graph = nullptr;
  Target target;
  DefectMap defects;
  int64_t wafers = 1;
  int64_t context = 1;      ///< positions that the cache has room for
  int64_t sequences = 1;    ///< that have a cache of their own
  int64_t promptTokens = 1; ///< for the time to the first token
  Objective objective = Objective::Latency;
  KernelChoices kernels;

  /// InvalidArgument for what no placement could solve or no model is: counts
  /// below 1, a prompt longer than the context, a graph that contradicts
  /// itself.
  absl::Status check() const;

  /// Everything that is wrong with a placement, one sentence each, saying what
  /// and by how much; empty if it obeys. The rules:
  /// (P1) a region is a rectangle of the mesh of a wafer that there is;
  /// (P2) regions don't overlap; (P3) no PE of a region is broken;
  /// (P4) each block has its shards, which lie on regions that there are and
  /// hold each expert once; (P5) only experts are spread over several regions;
  /// (P6) a PE's bytes are enough for all that its region holds.
  std::vector<std::string> violations(const Placement &placement) const;

  /// InvalidArgument with the first violations, if there are any.
  absl::Status verify(const Placement &placement) const;
};

} // namespace sol::place

#endif // SOL_LIB_PLACE_PLAN_PROBLEM_H
