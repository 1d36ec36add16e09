//===- PlanText.cpp - a plan as JSON and as text --------------------------===//
//
// See Plan.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/plan/Memory.h"
#include "lib/place/report/Plan.h"

#include "absl/strings/str_format.h"

#include <map>

using nlohmann::ordered_json;

namespace sol::place {
namespace {

std::string nameOf(NumberFormat format) {
  return std::string(numberFormatName(format));
}

ordered_json rectangleJson(const Region &region) {
  const PeRectangle &at = region.rectangle;
  return {{"wafer", region.wafer},
          {"x", at.x},
          {"y", at.y},
          {"width", at.width},
          {"height", at.height}};
}

ordered_json partsJson(const TimeParts &parts, const Target &target) {
  ordered_json json;
  for (int i = 0; i < resourceCount; ++i)
    json[resourceName(static_cast<Resource>(i))] =
        target.seconds(parts.cycles[i]);
  return json;
}

ordered_json rangeJson(const FigureRange &range) {
  return {{"decode_tokens_per_s", range.tokensPerSecond},
          {"tokens_per_s_all_sequences", range.tokensPerSecondAll},
          {"time_to_first_token_s", range.firstTokenSeconds},
          {"lower_bound_tokens_per_s", range.boundTokensPerSecond}};
}

ordered_json regionsJson(const Plan &plan) {
  const Solution &solution = plan.solution;
  BlockMemory memory(solution.problem);
  std::vector<PeBytes> bytes = memory.regionBytes(solution.placement);
  ordered_json regions = ordered_json::array();
  for (size_t i = 0; i < bytes.size(); ++i) {
    ordered_json region = rectangleJson(solution.placement.regions[i]);
    region["bytes_per_pe"] = {
        {"weights", bytes[i].weights},
        {"cache", bytes[i].cache},
        {"scratch", bytes[i].scratch},
        {"code_and_tables", solution.problem.target.reservedBytesPerPe},
        {"free",
         solution.problem.target.usableBytesPerPe() - bytes[i].total()}};
    regions.push_back(region);
  }
  return regions;
}

ordered_json blocksJson(const Plan &plan) {
  const Solution &solution = plan.solution;
  const Target &target = solution.problem.target;
  ordered_json blocks = ordered_json::array();
  for (size_t i = 0; i < plan.graph.blocks.size(); ++i) {
    const Block &block = plan.graph.blocks[i];
    const TimeParts &time = solution.evaluation.blocks[i];
    ordered_json shards = ordered_json::array();
    for (const Shard &shard : solution.placement.blocks[i])
      shards.push_back({{"region", shard.region},
                        {"begin", shard.begin},
                        {"end", shard.end}});
    ordered_json steps = ordered_json::array();
    for (const Step &step : block.steps)
      steps.push_back({{"kind", stepKindName(step.kind)}, {"node", step.node}});
    blocks.push_back(
        {{"name", block.name},
         {"kind", blockKindName(block.kind)},
         {"shards", shards},
         {"seconds", target.seconds(time.total())},
         {"arrival_seconds",
          target.seconds(solution.evaluation.moves[i].total())},
         {"bound_by", resourceName(time.largest())},
         {"parts_seconds", partsJson(time, target)},
         {"weight_bytes", block.matrixBytes() + block.vectorBytes()},
         {"steps", steps}});
  }
  return blocks;
}

ordered_json gapJson(const Evaluation &evaluation, const Target &target) {
  const BoundGap &gap = evaluation.gap;
  auto seconds = [&](double cycles) { return target.seconds(cycles); };
  return {{"bound_s", seconds(evaluation.bound.cycles())},
          {"ramps_s", seconds(gap.ramps)},
          {"starts_s", seconds(gap.starts)},
          {"words_s", seconds(gap.words)},
          {"not_overlapped_s", seconds(gap.notOverlapped)},
          {"one_shape_s", seconds(gap.oneShape)},
          {"moves_s", seconds(gap.moves)},
          {"links_s", seconds(gap.links)},
          {"token_s", seconds(evaluation.token.total())}};
}

ordered_json baselineJson(const std::optional<Solution> &baseline,
                          const Solution &plan) {
  if (!baseline)
    return nullptr;
  const PeRectangle &at = baseline->placement.regions.front().rectangle;
  const Evaluation &costs = baseline->evaluation;
  return {{"wafers", baseline->placement.wafers()},
          {"width", at.width},
          {"height", at.height},
          {"decode_tokens_per_s", costs.tokensPerSecond},
          {"tokens_per_s_all_sequences", costs.tokensPerSecondAll},
          {"time_to_first_token_s", costs.firstTokenSeconds},
          {"ratio", plan.evaluation.tokensPerSecond / costs.tokensPerSecond}};
}

ordered_json freeJson(const Plan &plan) {
  ordered_json list = ordered_json::array();
  for (const FreeConstant &entry : plan.freeConstants) {
    const TargetConstant &constant = entry.constant;
    auto end = [&](int which, double value) {
      return ordered_json{
          {"value", value},
          {"decode_tokens_per_s", entry.tokensPerSecond[which]},
          {"time_to_first_token_s", entry.firstTokenSeconds[which]},
          {"fits", entry.fits[which]}};
    };
    list.push_back({{"constant", constant.path},
                    {"unit", constant.unit},
                    {"value", constant.value},
                    {"low", end(0, constant.low)},
                    {"high", end(1, constant.high)}});
  }
  return list;
}

double wattsOf(const Plan &plan) {
  return plan.solution.problem.target.systemWatts *
         static_cast<double>(plan.solution.placement.wafers());
}

} // namespace

ordered_json Plan::json() const {
  const Problem &problem = solution.problem;
  const Evaluation &costs = solution.evaluation;
  const Target &target = problem.target;
  ordered_json weights = ordered_json::array();
  for (Format format : graph.formats())
    weights.push_back(formatName(format));
  ordered_json json;
  json["schema_version"] = 1;
  json["model"] = graph.name;
  json["target"] = target.name;
  json["wafers"] = solution.placement.wafers();
  json["decode_tokens_per_s"] = costs.tokensPerSecond;
  json["tokens_per_s_all_sequences"] = costs.tokensPerSecondAll;
  json["time_to_first_token_s"] = costs.firstTokenSeconds;
  json["lower_bound_tokens_per_s"] = target.clockHertz / costs.bound.cycles();
  json["initiation_interval_s"] = target.seconds(costs.interval);
  json["context"] = problem.context;
  json["prompt_tokens"] = problem.promptTokens;
  json["sequences"] = problem.sequences;
  json["number_formats"] = {
      {"weights", weights},
      {"activations", nameOf(problem.kernels.activations)},
      {"cache", nameOf(problem.kernels.cache)},
      {"sums", "float32"}};
  json["limiting_resource"] = resourceName(costs.token.largest());
  json["watts"] = wattsOf(*this);
  json["joules_per_token"] = wattsOf(*this) / costs.tokensPerSecondAll;
  json["low"] = rangeJson(low);
  json["high"] = rangeJson(high);
  json["free_constants"] = freeJson(*this);
  json["policy"] = policyName(request.policy);
  json["optimize"] = objectiveName(problem.objective);
  json["weightless"] = request.weightless;
  json["chunk_tokens"] = solution.placement.chunkTokens;
  json["parameters"] = graph.parameters();
  json["weight_bytes"] = graph.weightBytes();
  json["cache_bytes"] = static_cast<double>(graph.cacheElements()) *
                        static_cast<double>(bytesOf(problem.kernels.cache)) *
                        static_cast<double>(problem.context) *
                        static_cast<double>(problem.sequences);
  json["token_parts_s"] = partsJson(costs.token, target);
  json["gap_to_lower_bound"] = gapJson(costs, target);
  json["baselines"] = {
      {"layer_per_wafer_full_grid", baselineJson(fullGrid, solution)},
      {"layer_per_wafer_best_rectangle",
       baselineJson(bestRectangle, solution)}};
  json["wafer_curve"] = ordered_json::array();
  for (const CurvePoint &point : solution.curve)
    json["wafer_curve"].push_back(
        {{"wafers", point.wafers},
         {"decode_tokens_per_s", point.tokensPerSecond},
         {"tokens_per_s_all_sequences", point.tokensPerSecondAll}});
  json["grid"] = {{"columns", target.columns}, {"rows", target.rows}};
  json["regions"] = regionsJson(*this);
  json["blocks"] = blocksJson(*this);
  return json;
}

std::string Plan::summary() const {
  const Problem &problem = solution.problem;
  const Evaluation &costs = solution.evaluation;
  const Target &target = problem.target;
  std::string formats;
  for (Format format : graph.formats())
    formats += (formats.empty() ? "" : "+") + std::string(formatName(format));
  std::string text = absl::StrFormat(
      "%s on `%s`: %d wafer%s, %d region%s\n", graph.name, target.name,
      solution.placement.wafers(), solution.placement.wafers() == 1 ? "" : "s",
      solution.placement.regions.size(),
      solution.placement.regions.size() == 1 ? "" : "s");
  absl::StrAppendFormat(
      &text,
      "  %.4g billion parameters in %s, context %d, prompt %d, sequences %d, "
      "cache %s\n",
      graph.parameters() / 1e9, formats, problem.context, problem.promptTokens,
      problem.sequences, nameOf(problem.kernels.cache));
  absl::StrAppendFormat(
      &text,
      "  decode           %.1f tokens/s for one sequence (%.1f to %.1f)\n",
      costs.tokensPerSecond, low.tokensPerSecond, high.tokensPerSecond);
  absl::StrAppendFormat(&text,
                        "  all sequences    %.1f tokens/s (%.1f to %.1f)\n",
                        costs.tokensPerSecondAll, low.tokensPerSecondAll,
                        high.tokensPerSecondAll);
  absl::StrAppendFormat(
      &text, "  first token      %.3g s (%.3g to %.3g), chunks of %d\n",
      costs.firstTokenSeconds, high.firstTokenSeconds, low.firstTokenSeconds,
      solution.placement.chunkTokens);
  absl::StrAppendFormat(&text,
                        "  lower bound      %.1f tokens/s; limited by %s\n",
                        target.clockHertz / costs.bound.cycles(),
                        resourceName(costs.token.largest()));
  absl::StrAppendFormat(&text, "  power            %.1f kW, %.3g J a token\n",
                        wattsOf(*this) / 1000,
                        wattsOf(*this) / costs.tokensPerSecondAll);
  auto addBaseline = [&](const char *name,
                         const std::optional<Solution> &baseline) {
    if (baseline)
      absl::StrAppendFormat(
          &text, "  %s %.1f tokens/s on %d wafers (ratio %.2f)\n", name,
          baseline->evaluation.tokensPerSecond, baseline->placement.wafers(),
          costs.tokensPerSecond / baseline->evaluation.tokensPerSecond);
  };
  addBaseline("a layer a wafer ", fullGrid);
  addBaseline("its best shape  ", bestRectangle);
  text += "  depends on free constants:";
  for (const FreeConstant &entry : freeConstants)
    if (entry.tokensPerSecond[0] != entry.tokensPerSecond[1])
      absl::StrAppendFormat(&text, " %s", entry.constant.path);
  return text + "\n";
}

} // namespace sol::place
