//===- Plan.cpp - from a model and a wish to a placement and its figures --===//
//
// See Plan.h. JSON and text are in PlanText.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/place/report/Plan.h"

#include "lib/place/plan/Memory.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace sol::place {

const char *policyName(Policy policy) {
  constexpr const char *names[] = {"free", "layer-per-wafer",
                                   "layer-per-wafer-rectangle"};
  return names[static_cast<int>(policy)];
}

KernelChoices kernelsFor(const ModelGraph &graph, bool fused) {
  KernelChoices kernels;
  kernels.fused = fused;
  std::vector<Format> formats = graph.formats();
  if (std::all_of(formats.begin(), formats.end(),
                  [](Format format) { return format == Format::Float32; }))
    kernels.activations = kernels.cache = NumberFormat::Float32;
  return kernels;
}

namespace {

/// Whether a placement has memory enough on another machine.
bool fitsOn(const Problem &problem, const Target &target,
            const Placement &placement) {
  BlockMemory memory(problem);
  for (const PeBytes &bytes : memory.regionBytes(placement))
    if (bytes.total() > target.usableBytesPerPe())
      return false;
  return true;
}

FigureRange figuresOn(const Solution &solution, const Target &target) {
  Evaluation evaluation =
      Evaluator(solution.problem, target).evaluate(solution.placement);
  return {evaluation.tokensPerSecond, evaluation.tokensPerSecondAll,
          evaluation.firstTokenSeconds,
          target.clockHertz / evaluation.bound.cycles()};
}

/// Fills in what the free constants do, one by one and together.
absl::Status addRanges(Plan &plan) {
  const Target &target = plan.solution.problem.target;
  Target worst = target, best = target;
  for (const TargetConstant &constant : target.constants) {
    if (constant.certainty != Certainty::Free)
      continue;
    FreeConstant entry;
    entry.constant = constant;
    for (int end : {0, 1}) {
      Target changed = target;
      if (absl::Status status =
              changed.set(constant.path, end ? constant.high : constant.low);
          !status.ok())
        return status;
      FigureRange figures = figuresOn(plan.solution, changed);
      entry.tokensPerSecond[end] = figures.tokensPerSecond;
      entry.firstTokenSeconds[end] = figures.firstTokenSeconds;
      entry.fits[end] =
          fitsOn(plan.solution.problem, changed, plan.solution.placement);
    }
    bool isLowWorse = entry.tokensPerSecond[0] < entry.tokensPerSecond[1];
    // What has no effect on time stays.
    if (entry.tokensPerSecond[0] != entry.tokensPerSecond[1]) {
      (void)worst.set(constant.path, isLowWorse ? constant.low : constant.high);
      (void)best.set(constant.path, isLowWorse ? constant.high : constant.low);
    }
    plan.freeConstants.push_back(std::move(entry));
  }
  plan.low = figuresOn(plan.solution, worst);
  plan.high = figuresOn(plan.solution, best);
  return absl::OkStatus();
}

void addBaselines(Plan &plan) {
  if (plan.request.policy != Policy::Free)
    return;
  Problem problem = plan.solution.problem;
  problem.wafers = plan.graph.layers;
  auto place = [&](Policy policy) -> std::optional<Solution> {
    absl::StatusOr<Solution> solution =
        placeOn(problem, policy, plan.request.limits);
    if (!solution.ok())
      return std::nullopt;
    return *std::move(solution);
  };
  plan.fullGrid = place(Policy::LayerPerWafer);
  plan.bestRectangle = place(Policy::LayerRectangle);
}

absl::StatusOr<Problem> problemOf(const ModelGraph &graph,
                                  const PlanRequest &request) {
  absl::StatusOr<Target> target = findTarget(request.target);
  if (!target.ok())
    return target.status();
  Problem problem;
  problem.graph = &graph;
  problem.target = *std::move(target);
  if (!request.defects.empty()) {
    absl::StatusOr<DefectMap> defects =
        DefectMap::load(request.defects, problem.target);
    if (!defects.ok())
      return defects.status();
    problem.defects = *std::move(defects);
  }
  problem.context = request.context ? request.context : graph.contextLimit;
  if (problem.context < 1)
    return absl::InvalidArgumentError(
        "the model says no limit of positions; give one with --context");
  problem.sequences = request.sequences;
  problem.promptTokens =
      request.promptTokens ? request.promptTokens : problem.context;
  problem.objective = request.objective;
  problem.kernels = kernelsFor(graph, request.fused);
  return problem;
}

} // namespace

absl::StatusOr<std::unique_ptr<Plan>> makePlan(const ModelGraph &graph,
                                               const PlanRequest &request) {
  auto plan = std::make_unique<Plan>();
  plan->request = request;
  plan->graph = graph;
  absl::StatusOr<Problem> problem = problemOf(plan->graph, request);
  if (!problem.ok())
    return problem.status();
  constexpr int64_t manyWafers = 4096, mostOfCurve = 128;
  problem->wafers = request.wafers > 0 ? request.wafers : manyWafers;
  if (absl::Status status = problem->check(); !status.ok())
    return status;
  if (request.objective == Objective::Context) {
    if (request.wafers == 0)
      return absl::InvalidArgumentError(
          "--optimize context needs a number of wafers: with more of them "
          "there is always room for more");
    problem->context = std::max<int64_t>(1, longestContext(*problem));
    problem->promptTokens = std::min(problem->promptTokens, problem->context);
  }
  absl::StatusOr<Solution> solution;
  if (request.wafers > 0) {
    solution = placeOn(*problem, request.policy, request.limits);
  } else {
    int64_t fewest = fewestWafers(*problem, manyWafers);
    int64_t most =
        std::max(fewest, std::min(mostOfCurve, plan->graph.layers + 1));
    solution = placeOnFewest(*problem, request.policy,
                             std::max<int64_t>(1, most), request.limits);
  }
  if (!solution.ok())
    return solution.status();
  plan->solution = *std::move(solution);
  if (absl::Status status =
          plan->solution.problem.verify(plan->solution.placement);
      !status.ok())
    return absl::InternalError(absl::StrCat(
        "the placement breaks its own rules: ", std::string(status.message())));
  if (absl::Status status = addRanges(*plan); !status.ok())
    return status;
  addBaselines(*plan);
  return plan;
}

} // namespace sol::place
