//===- Plan.h - from a model and a wish to a placement and its figures ----===//
//
// What `sol-compile --target` asks of the place stage: finds the target, places
// the model, costs the result over the ranges of what nobody publishes, and
// says it as JSON and as text.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_REPORT_PLAN_H
#define SOL_LIB_PLACE_REPORT_PLAN_H

#include "lib/place/search/Search.h"

#include <nlohmann/json.hpp>

namespace sol::place {

/// What is asked for.
struct PlanRequest {
  std::string target;  ///< a name or a file, as findTarget takes it
  std::string defects; ///< a file; empty: nothing is broken
  int64_t wafers = 0;  ///< 0: the fewest that are within 2 % of the best
  Policy policy = Policy::Free;
  Objective objective = Objective::Latency;
  int64_t context = 0;      ///< positions; 0: the model's limit
  int64_t sequences = 1;    ///< interleaved
  int64_t promptTokens = 0; ///< 0: the context
  SearchLimits limits;
  bool fused = true;       ///< products of one operand share a reduction
  bool weightless = false; ///< only told
};

/// How a figure changes with one constant that nobody publishes.
struct FreeConstant {
  TargetConstant constant;
  /// At `constant.low` and at `constant.high`.
  double tokensPerSecond[2] = {0, 0}, firstTokenSeconds[2] = {0, 0};
  bool fits[2] = {true, true}; ///< whether the placement has memory enough
};

/// A figure's ends over all free constants together: each at the end that is
/// worse for the rate, or each at the better one.
struct FigureRange {
  double tokensPerSecond = 0, tokensPerSecondAll = 0, firstTokenSeconds = 0,
         boundTokensPerSecond = 0;
};

/// A plan with all its figures.
struct Plan {
  PlanRequest request;
  ModelGraph graph; ///< the solution's problem refers to it
  Solution solution;
  std::vector<FreeConstant> freeConstants;
  FigureRange low, high;
  /// The baselines of the free policy, where the model fits them: one layer on
  /// each wafer's whole grid, and on its best rectangle.
  std::optional<Solution> fullGrid, bestRectangle;

  nlohmann::ordered_json json() const;
  /// A few lines for a terminal.
  std::string summary() const;
};

/// Makes a plan. Errors as findTarget's and placeOn's; InvalidArgument if no
/// context is asked for and the model has no limit.
absl::StatusOr<std::unique_ptr<Plan>> makePlan(const ModelGraph &graph,
                                               const PlanRequest &request);

/// How the steps of a model are done: a model whose weights are all float32 is
/// computed in float32 with such a cache, any other in 16 bits.
KernelChoices kernelsFor(const ModelGraph &graph, bool fused);

/// `layer-per-wafer` and so on, as on the command line.
const char *policyName(Policy policy);

} // namespace sol::place

#endif // SOL_LIB_PLACE_REPORT_PLAN_H
