//===- VerifyPlace.cpp - does a placement obey the rules? -----------------===//
//
// The contract at the end of the place stage: the problem is made anew from the
// function and the plan's attributes, and checks what the IR says.
//
//===----------------------------------------------------------------------===//
#include "dialects/place/PlaceDialect.h"
#include "lib/place/Passes.h"

using namespace mlir;

namespace sol::place {
#define GEN_PASS_DEF_VERIFYPLACEPASS
#include "lib/place/Passes.h.inc"

namespace {

std::string textOf(const absl::Status &status) {
  return std::string(status.message());
}

Placement placementOf(PlanOp plan) {
  Placement placement;
  placement.chunkTokens = static_cast<int64_t>(plan.getChunk());
  for (RegionOp region : plan.getOps<RegionOp>()) {
    ArrayRef<int64_t> at = region.getRectangle();
    placement.regions.push_back({static_cast<int64_t>(region.getWafer()),
                                 {at[0], at[1], at[2], at[3]}});
  }
  for (BlockOp block : plan.getOps<BlockOp>()) {
    std::vector<Shard> shards;
    for (Attribute shard : block.getShards()) {
      ArrayRef<int64_t> numbers = cast<DenseI64ArrayAttr>(shard);
      bool isIndex = numbers[0] >= 0 && numbers[0] <= INT32_MAX;
      shards.push_back({isIndex ? static_cast<int>(numbers[0]) : -1, numbers[1],
                        numbers[2]});
    }
    placement.blocks.push_back(shards);
  }
  return placement;
}

/// The problem that a plan solves, but for its graph.
absl::StatusOr<Problem> problemOf(PlanOp plan, const ModelGraph &graph) {
  absl::StatusOr<Target> target = findTarget(plan.getTarget().str());
  if (!target.ok())
    return target.status();
  Problem problem;
  problem.graph = &graph;
  problem.target = *std::move(target);
  if (plan.getDefects()) {
    absl::StatusOr<DefectMap> defects =
        DefectMap::load(plan.getDefects()->str(), problem.target);
    if (!defects.ok())
      return defects.status();
    problem.defects = *std::move(defects);
  }
  problem.wafers = static_cast<int64_t>(plan.getWafers());
  problem.context = static_cast<int64_t>(plan.getPositions());
  problem.sequences = static_cast<int64_t>(plan.getSequences());
  problem.kernels = kernelsFor(graph, plan.getFused());
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  return problem;
}

LogicalResult checkMarks(const ReadModel &model, func::FuncOp function) {
  LogicalResult result = success();
  for (const auto &[op, block] : model.blockOf) {
    auto mark = op->getAttrOfType<IntegerAttr>(PlaceDialect::blockAttr);
    if (op == function.getBody().front().getTerminator() ||
        (mark && mark.getInt() == block))
      continue;
    auto diagnostic = op->emitOpError("P7: is of block ") << block;
    if (mark)
      diagnostic << ", but says " << mark.getInt();
    else
      diagnostic << ", but carries no `" << PlaceDialect::blockAttr << "`";
    result = failure();
  }
  return result;
}

LogicalResult checkPlan(PlanOp plan, ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(plan.getFunction());
  if (!function)
    return plan.emitOpError("places @")
           << plan.getFunction() << ", which is not there";
  FailureOr<ReadModel> model = readModel(function);
  if (failed(model))
    return failure();
  absl::StatusOr<Problem> problem = problemOf(plan, model->graph);
  if (!problem.ok())
    return plan.emitOpError(textOf(problem.status()));
  LogicalResult result = checkMarks(*model, function);
  for (const std::string &violation : problem->violations(placementOf(plan))) {
    plan.emitOpError(violation);
    result = failure();
  }
  return result;
}

struct VerifyPlacePass
    : sol::place::impl::VerifyPlacePassBase<VerifyPlacePass> {
  void runOnOperation() override {
    bool failed = false;
    for (PlanOp plan : getOperation().getOps<PlanOp>())
      failed |= checkPlan(plan, getOperation()).failed();
    if (failed)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace sol::place
