//===- AssignRegions.cpp - a placement as IR ------------------------------===//
//
// Reads the decoder, lets the search place it, and writes down the result.
//
//===----------------------------------------------------------------------===//
#include "dialects/place/PlaceDialect.h"
#include "lib/place/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sol::place {
#define GEN_PASS_DEF_ASSIGNREGIONSPASS
#include "lib/place/Passes.h.inc"

void attachPlan(func::FuncOp function, const ReadModel &model,
                const Plan &plan) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfter(function);
  const Problem &problem = plan.solution.problem;
  const Placement &placement = plan.solution.placement;
  Location loc = function.getLoc();
  auto number = [](int64_t value) { return static_cast<uint64_t>(value); };
  StringAttr defects = plan.request.defects.empty()
                           ? StringAttr()
                           : builder.getStringAttr(plan.request.defects);
  auto op =
      PlanOp::create(builder, loc, function.getName(), plan.request.target,
                     number(problem.wafers), number(problem.context),
                     number(problem.sequences), number(placement.chunkTokens),
                     problem.kernels.fused, defects);
  builder.createBlock(&op.getBody());
  for (auto [index, region] : llvm::enumerate(placement.regions)) {
    const PeRectangle &at = region.rectangle;
    RegionOp::create(builder, loc, index, number(region.wafer),
                     ArrayRef<int64_t>{at.x, at.y, at.width, at.height});
  }
  for (auto [index, shards] : llvm::enumerate(placement.blocks)) {
    SmallVector<Attribute> list;
    for (const Shard &shard : shards)
      list.push_back(
          builder.getDenseI64ArrayAttr({shard.region, shard.begin, shard.end}));
    BlockOp::create(builder, loc, index, problem.graph->blocks[index].name,
                    builder.getArrayAttr(list));
  }
  for (const auto &[operation, block] : model.blockOf)
    if (operation != function.getBody().front().getTerminator())
      operation->setAttr(PlaceDialect::blockAttr,
                         builder.getI64IntegerAttr(block));
}

void detachPlans(ModuleOp module) {
  for (PlanOp plan : llvm::make_early_inc_range(module.getOps<PlanOp>()))
    plan.erase();
  module.walk([](Operation *op) {
    op->removeDiscardableAttr(PlaceDialect::blockAttr);
  });
}

namespace {

struct AssignRegionsPass
    : sol::place::impl::AssignRegionsPassBase<AssignRegionsPass> {
  using AssignRegionsPassBase::AssignRegionsPassBase;

  void runOnOperation() override {
    auto functions = getOperation().getOps<func::FuncOp>();
    if (!llvm::hasSingleElement(functions)) {
      getOperation().emitError("has not just one function to place");
      return signalPassFailure();
    }
    func::FuncOp function = *functions.begin();
    FailureOr<ReadModel> model = readModel(function);
    if (failed(model))
      return signalPassFailure();
    PlanRequest request;
    request.target = target;
    request.wafers = wafers;
    request.context = context;
    request.sequences = sequences;
    request.limits.seconds = seconds;
    absl::StatusOr<std::unique_ptr<Plan>> plan =
        makePlan(model->graph, request);
    if (!plan.ok()) {
      function.emitError(std::string(plan.status().message()));
      return signalPassFailure();
    }
    attachPlan(function, *model, **plan);
  }
};

} // namespace
} // namespace sol::place
