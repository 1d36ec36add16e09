//===- PlaceModel.cpp - a compiled model's place on wafers ----------------===//
//
// See PlaceModel.h.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/PlaceModel.h"

#include "lib/pipeline/Reproducer.h"
#include "lib/place/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sol {
namespace {

LogicalResult refuse(ModuleOp module, StringRef text) {
  return emitError(UnknownLoc::get(module.getContext())) << text;
}

FailureOr<place::PlanRequest> requestOf(ModuleOp module,
                                        const CompileOptions &options) {
  place::PlanRequest request;
  const PlaceOptions &asked = options.place;
  request.target = asked.target;
  request.defects = asked.defects;
  request.wafers = asked.wafers;
  request.context = options.context;
  request.sequences = asked.sequences;
  request.promptTokens = asked.promptTokens;
  request.limits.seconds = asked.searchSeconds;
  request.fused = asked.fused;
  request.weightless = options.weightless;
  bool isKnown = false;
  for (place::Policy policy :
       {place::Policy::Free, place::Policy::LayerPerWafer,
        place::Policy::LayerRectangle})
    if (asked.policy == place::policyName(policy)) {
      request.policy = policy;
      isKnown = true;
    }
  if (!isKnown)
    return refuse(module, "no policy is called `" + asked.policy + "`");
  isKnown = false;
  for (place::Objective objective :
       {place::Objective::Latency, place::Objective::Throughput,
        place::Objective::Context})
    if (asked.objective == place::objectiveName(objective)) {
      request.objective = objective;
      isKnown = true;
    }
  if (!isKnown)
    return refuse(module, "no objective is called `" + asked.objective + "`");
  return request;
}

LogicalResult writeReport(ModuleOp module, const place::Plan &plan,
                          StringRef path) {
  std::string reason;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &reason);
  if (!file)
    return refuse(module, reason);
  file->os() << plan.json().dump(1) << "\n";
  file->keep();
  return success();
}

} // namespace

LogicalResult placeModel(ModuleOp module, const CompileOptions &options,
                         int64_t contextLimit) {
  auto functions = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions))
    return refuse(module, "a plan of several functions can't be placed: "
                          "compile the decoder alone");
  FailureOr<place::PlanRequest> request = requestOf(module, options);
  if (failed(request))
    return failure();
  FailureOr<place::ReadModel> read = place::readModel(*functions.begin());
  if (failed(read))
    return failure();
  read->graph.contextLimit = contextLimit;
  absl::StatusOr<std::unique_ptr<place::Plan>> plan =
      place::makePlan(read->graph, *request);
  if (!plan.ok())
    return refuse(module, std::string(plan.status().message()));
  bool isIrPrinted = options.stopAfter == "place" && options.output.empty();
  (isIrPrinted ? llvm::errs() : llvm::outs()) << (*plan)->summary();
  llvm::outs().flush();
  place::attachPlan(*functions.begin(), *read, **plan);
  if (runPipelines(module, {"verify-place"}, options.output))
    return failure();
  if (options.place.report.empty())
    return success();
  return writeReport(module, **plan, options.place.report);
}

} // namespace sol
