//===- Evaluate.h - what a placement costs --------------------------------===//
//
// The time of a token, of a prompt and of many sequences on a placement, in
// parts, from the costs of its steps. A placement needs to obey Problem's
// rules.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_PLAN_EVALUATE_H
#define SOL_LIB_PLACE_PLAN_EVALUATE_H

#include "lib/place/cost/LowerBound.h"
#include "lib/place/plan/Problem.h"

#include <map>

namespace sol::place {

/// Where the time beyond the lower bound goes, in cycles.
struct BoundGap {
  double ramps = 0, starts = 0;
  double words = 0;         ///< of collectives: words that follow each other
  double notOverlapped = 0; ///< the lesser of arithmetic and hops of each step
  double oneShape = 0;      ///< steps on a rectangle that suits others
  double moves = 0;         ///< between regions of a wafer
  double links = 0;         ///< between wafers, beyond what can't be avoided

  double total() const {
    return ramps + starts + words + notOverlapped + oneShape + moves + links;
  }
};

/// The costs of one placement. Cycles unless said otherwise.
struct Evaluation {
  TimeParts token;               ///< one token of one sequence, all in all
  std::vector<TimeParts> blocks; ///< of it, each block
  std::vector<TimeParts> moves;  ///< of it, what brings the vector to a block
  double interval = 0;           ///< least time from token to token
  int busiestRegion = 0;         ///< the region that sets it
  double firstTokenSeconds = 0;  ///< of a prompt

  double tokensPerSecond = 0;    ///< one sequence alone
  double tokensPerSecondAll = 0; ///< all sequences together
  LowerBound bound;
  BoundGap gap;
};

/// Costs placements of one problem. The problem outlives it. Not for two
/// threads at once.
class Evaluator {
public:
  explicit Evaluator(const Problem &problem);
  /// As it would be on another machine of the same mesh.
  Evaluator(const Problem &problem, const Target &target);

  /// Everything.
  Evaluation evaluate(const Placement &placement);
  /// Cycles of one token of one sequence alone.
  double tokenCycles(const Placement &placement);
  /// Cycles of the busiest region for each token.
  double intervalCycles(const Placement &placement);
  /// Seconds to the first token of a prompt: chunks follow each other through
  /// the regions. Attention's cost is taken at 17 lengths of the cache and in
  /// straight lines between them.
  double firstTokenSeconds(const Placement &placement);

  /// A block on a single region of that shape.
  TimeParts blockTime(int block, Shape shape, Load load, int64_t experts = 0);
  /// A vector from one region to another.
  TimeParts moveTime(const Region &from, const Region &to, int64_t tokens);

  /// The decode step of a filled cache.
  Load decodeLoad() const { return {1, problem.context - 1}; }
  StepCosts &stepCosts() { return costs; }

private:
  using Key = std::tuple<int, int64_t, int64_t, int64_t, int64_t, int64_t>;

  /// A block wherever it lies, once the vector is at its first shard.
  TimeParts spreadTime(const Placement &placement, int block, Load load);
  TimeParts partTime(int block, Shape shape, Load load, int64_t experts,
                     size_t begin, size_t end);
  /// Adds the cycles that each region is busy with a block.
  void addBusy(const Placement &placement, int block, Load load,
               std::vector<double> &busy);
  /// From the last region to the edge, and to the host and back.
  TimeParts leave(const Placement &placement);
  BoundGap gapOf(const Placement &placement, const Evaluation &evaluation);

  const Problem &problem;
  StepCosts costs;
  std::vector<int> kinds;
  std::map<Key, TimeParts> known;
};

} // namespace sol::place

#endif // SOL_LIB_PLACE_PLAN_EVALUATE_H
