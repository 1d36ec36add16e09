//===- fabric_tables.cpp - what the fabric's model says about itself -----===//
//
// See fabric_tables.h. Published figures stand here with their sources; no
// constant is chosen here.
//
//===----------------------------------------------------------------------===//
#include "tools/sol-bench/fabric_tables.h"

#include "machine/cost/lower_bound.h"
#include "machine/events/collective_programs.h"
#include "tools/sol-bench/waferllm.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <map>

namespace sol {
namespace {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

std::string percent(double value, double reference) {
  return absl::StrFormat("%+.1f %%", 100 * (value / reference - 1));
}

/// Cycles of a tree, word by word.
absl::StatusOr<int64_t> runTree(const FabricTiming &timing,
                                const ReductionTree &tree, int64_t words) {
  MeshProgram program(tree.pes(), 1, words);
  addReduction(program, rowOf(program, 0), tree,
               scheduleReduction(timing, tree, words), words);
  absl::StatusOr<MeshResult> result = runMesh(timing, program);
  if (!result.ok())
    return result.status();
  return result->cycles;
}

/// Cycles of an all-reduce over a rectangle, word by word.
absl::StatusOr<int64_t> runAllReduce(CollectiveModel &model, int64_t width,
                                     int64_t height, int64_t words) {
  MeshProgram program(width, height, words);
  const FabricTiming &timing = model.fabric();
  ReductionTree row = model.tree(width, words, RootPlace::Middle);
  ReductionTree column = model.tree(height, words, RootPlace::Middle);
  for (int64_t y = 0; y < height; ++y) {
    program.colours = 0;
    addReduction(program, rowOf(program, y), row,
                 scheduleReduction(timing, row, words), words);
  }
  addReduction(program, columnOf(program, row.root), column,
               scheduleReduction(timing, column, words), words);
  addMeshBroadcast(program, row.root, column.root, words);
  absl::StatusOr<MeshResult> result = runMesh(timing, program);
  if (!result.ok())
    return result.status();
  return result->cycles;
}

} // namespace

absl::StatusOr<Table> reductionTable(const Target &target) {
  Table table;
  table.name = "reductions";
  table.title = "Reductions over a line to its end, in cycles, without starts";
  table.columns = {"PEs",   "words",      "chain",       "two-phase",
                   "group", "tree",       "events 2ph",  "error",
                   "best",  "form",       "events best", "error best",
                   "bound", "best/bound", "chain/best"};
  FabricTiming timing = FabricTiming::of(target);
  timing.start = 0;
  CollectiveModel model(timing);
  for (int64_t pes : {16, 64, 256, 512, 660})
    for (int64_t words : {1, 4, 32, 256, 1024}) {
      int64_t group = bestGroup(timing, pes, words);
      int64_t form = twoPhaseReduceCycles(timing, pes, words, group);
      absl::StatusOr<int64_t> events =
          runTree(timing, twoPhaseTree(pes, group), words);
      if (!events.ok())
        return events.status();
      Collective best = model.reduce(pes, words, RootPlace::End);
      absl::StatusOr<int64_t> bestEvents =
          runTree(timing, model.tree(pes, words, RootPlace::End), words);
      if (!bestEvents.ok())
        return bestEvents.status();
      int64_t bound = reductionLowerBound(timing, pes, words);
      int64_t chain = chainReduceCycles(timing, pes, words);
      auto cycles = static_cast<double>(best.cycles());
      table.rows.push_back(
          {pes, words, chain, form, group,
           treeReduceEstimate(timing, pes, words), *events,
           percent(static_cast<double>(form), static_cast<double>(*events)),
           best.cycles(), std::string(collectiveFormName(best.form)),
           *bestEvents, percent(cycles, static_cast<double>(*bestEvents)),
           bound, ratio(cycles, static_cast<double>(bound)),
           ratio(static_cast<double>(chain), cycles)});
    }
  table.notes = {
      "chain, two-phase, tree, bound: the forms of arXiv 2404.15888 (tree is "
      "its general form, an estimate).",
      "best: the least of chain, two levels and the tree of the dynamic "
      "programme; events: the same trees word by word.",
      "A ratio to the bound below 1: the bound holds in that paper's model, "
      "which adds what partly overlaps."};
  return table;
}

absl::StatusOr<Table> allReduceTable(const Target &target) {
  Table table;
  table.name = "all-reduces";
  table.title = absl::StrCat("All-reduces over a rectangle, by its middle, in "
                             "cycles, each step's start of ",
                             FabricTiming::of(target).start, " included");
  table.columns = {"width", "height", "words", "cycles", "events",
                   "error", "hops",   "ramps", "starts"};
  CollectiveModel model(FabricTiming::of(target));
  for (auto [width, height] :
       {std::pair<int64_t, int64_t>{8, 8}, {32, 32}, {128, 128}, {660, 1}})
    for (int64_t words : {1, 4, 32}) {
      absl::StatusOr<int64_t> events =
          runAllReduce(model, width, height, words);
      if (!events.ok())
        return events.status();
      CycleParts parts = model.allReduceRectangle(width, height, words);
      table.rows.push_back({width, height, words, parts.cycles(), *events,
                            percent(static_cast<double>(parts.cycles()),
                                    static_cast<double>(*events)),
                            parts.hops, parts.ramps, parts.starts});
    }
  return table;
}

namespace {

/// A published figure of WaferLLM, and what the model says with a start cost.
struct PublishedRun {
  std::string figure, unit;
  double published;
  std::function<double(int64_t)> predicted; ///< from the start cost
};

/// Cycles of communication a layer: the profile of the public repository, on a
/// WSE-3.
constexpr double profile240 = 11982, profile360 = 14459;
/// Tokens a second: the abstract of arXiv 2502.04563 version 2, on a WSE-2.
constexpr double llamaRate = 2700, qwenRate = 840;

double profileCycles(const Target &wse3, int64_t side, int64_t start) {
  FabricTiming timing = FabricTiming::of(wse3);
  timing.start = start;
  return static_cast<double>(
      waferLlmFabricCycles(timing, waferLlmProfileCase(side)));
}

double rate(Target wse2, const WaferLlmCase &item, int64_t start) {
  wse2.startCycles = static_cast<double>(start);
  return waferLlmTokensPerSecond(wse2, item);
}

WaferLlmCase llamaAt(int64_t side) {
  for (const WaferLlmCase &item : waferLlmLlamaCases())
    if (item.side == side)
      return item;
  return {};
}

int64_t fitToRow(const Target &wse2) {
  WaferLlmCase item = llamaAt(660);
  return fitStart(1 / llamaRate,
                  [&](int64_t start) { return 1 / rate(wse2, item, start); });
}

Table residualTable(const Target &wse2, const Target &wse3, int64_t byProfile,
                    int64_t byRow) {
  Table table;
  table.name = "waferllm";
  table.title = "WaferLLM's figures, predicted with a start cost that is "
                "fitted to one of them alone";
  table.columns = {"figure",   "unit",     "published",   "from profile",
                   "residual", "from row", "residual row"};
  std::vector<PublishedRun> runs = {
      {"profile, 240 a side", "cycles/layer", profile240,
       [&](int64_t start) { return profileCycles(wse3, 240, start); }},
      {"profile, 360 a side", "cycles/layer", profile360,
       [&](int64_t start) { return profileCycles(wse3, 360, start); }},
      {"Llama-3-8B, 660 a side", "tokens/s", llamaRate,
       [&](int64_t start) { return rate(wse2, llamaAt(660), start); }},
      {"Qwen2-72B, 720 a side", "tokens/s", qwenRate,
       [&](int64_t start) { return rate(wse2, waferLlmQwenCase(), start); }}};
  for (const PublishedRun &run : runs) {
    double a = run.predicted(byProfile), b = run.predicted(byRow);
    table.rows.push_back({run.figure, run.unit, run.published, a,
                          percent(a, run.published), b,
                          percent(b, run.published)});
  }
  table.notes = {absl::StrCat("start fitted to the profile at 240: ", byProfile,
                              " cycles; to the row at 660: ", byRow,
                              " cycles. They are the two ends of "
                              "`router.start_cycles`.")};
  // The second candidate: kernels that reach 0.5 multiply-adds a cycle.
  Target slow = wse2;
  slow.laneFraction = 0.125;
  int64_t start = fitToRow(slow);
  double qwen = rate(slow, waferLlmQwenCase(), start);
  table.notes.push_back(absl::StrFormat(
      "with 0.5 multiply-adds a cycle the row is fitted by %d cycles, and "
      "Qwen2-72B gets %.0f tokens/s (%s).",
      start, qwen, percent(qwen, qwenRate)));
  table.notes.push_back(
      "the 606 x of its matrix-vector product over an A100 is not reproduced: "
      "it depends on the GPU's kernel, which isn't modelled.");
  return table;
}

Table sidesTable(const Target &wse2, int64_t byProfile, int64_t byRow) {
  Table table;
  table.name = "waferllm-sides";
  table.title = "Llama-3-8B by WaferLLM on its own mesh sides, tokens/s";
  table.columns = {"side", "groups", "from profile", "from row"};
  for (const WaferLlmCase &item : waferLlmLlamaCases())
    table.rows.push_back({item.side, item.groups, rate(wse2, item, byProfile),
                          rate(wse2, item, byRow)});
  return table;
}

} // namespace

absl::StatusOr<std::vector<Table>> waferLlmTables() {
  absl::StatusOr<Target> wse2 = findTarget("wse2"), wse3 = findTarget("wse3");
  if (!wse2.ok() || !wse3.ok())
    return wse2.ok() ? wse3.status() : wse2.status();
  int64_t byProfile = fitStart(profile240, [&](int64_t start) {
    return profileCycles(*wse3, 240, start);
  });
  int64_t byRow = fitToRow(*wse2);
  return std::vector<Table>{residualTable(*wse2, *wse3, byProfile, byRow),
                            sidesTable(*wse2, byProfile, byRow)};
}

namespace {

/// A rate that the service has published for one user.
struct VendorRow {
  const char *shape;
  NumberFormat weights;
  int64_t wafers; ///< 0: not published; the fewest that hold the model
  int64_t context;
  double rate;
  bool drafted; ///< drafted tokens are in it, or not excluded
  const char *note;
};

constexpr VendorRow vendorRows[] = {
    {"llama-3.1-8b", NumberFormat::Float16, 1, 4096, 1800, false,
     "August 2024"},
    {"llama-3.1-70b", NumberFormat::Float16, 4, 4096, 450, false, "at launch"},
    {"llama-3.1-70b", NumberFormat::Float16, 4, 4096, 2100, true,
     "October 2024, with drafted tokens"},
    {"llama-3.1-405b", NumberFormat::Float16, 20, 4096, 969, true,
     "November 2024; drafting not excluded"},
    {"gpt-oss-120b", NumberFormat::Float16, 0, 4096, 3000, true,
     "2026; drafting not excluded"},
    {"kimi-k2", NumberFormat::Int8, 0, 10000, 981, true,
     "May 2026; drafting not excluded"}};

/// The fewest wafers that hold a model.
DecodeEstimate estimateFewest(const Target &target, CollectiveModel &model,
                              const DecoderShape &shape,
                              const DecodeSetting &setting, int64_t wafers) {
  if (wafers > 0)
    return estimateDecode(target, model, shape, setting, wafers);
  double bytes =
      static_cast<double>(shape.layerWeights() * bytesOf(setting.weights) +
                          2 * shape.vocabulary * shape.width *
                              bytesOf(setting.weights)) +
      static_cast<double>(shape.layers * setting.context * shape.cacheWidth() *
                          bytesOf(setting.activations));
  auto fewest = static_cast<int64_t>(
      bytes / static_cast<double>(target.usableBytes()) + 1);
  return estimateDecode(target, model, shape, setting, fewest);
}

/// A target with the start cost at one end of its range.
Target withStart(Target target, double start) {
  target.startCycles = start;
  return target;
}

} // namespace

absl::StatusOr<Table> vendorTable() {
  absl::StatusOr<Target> wse3 = findTarget("wse3");
  if (!wse3.ok())
    return wse3.status();
  const TargetConstant &start = *wse3->constant("router.start_cycles");
  Table table;
  table.name = "vendor";
  table.title = "The service's published rates, tokens/s of one user, and our "
                "estimate from shapes alone";
  table.columns = {"model",    "weights", "wafers",  "rectangle", "published",
                   "default",  "ratio",   "low",     "high",      "binds",
                   "us/layer", "fits",    "verdict", "note"};
  // A model for each start cost, as they remember what they found.
  std::map<double, CollectiveModel> models;
  for (const VendorRow &row : vendorRows) {
    absl::StatusOr<DecoderShape> shape = findShape(row.shape);
    if (!shape.ok())
      return shape.status();
    DecodeSetting setting;
    setting.weights = row.weights;
    setting.context = row.context;
    auto estimate = [&](double cycles) {
      Target target = withStart(*wse3, cycles);
      CollectiveModel &model =
          models.try_emplace(cycles, FabricTiming::of(target)).first->second;
      return estimateFewest(target, model, *shape, setting, row.wafers);
    };
    DecodeEstimate usual = estimate(wse3->startCycles);
    double pessimistic = estimate(start.high).tokensPerSecond();
    double optimistic = estimate(start.low).tokensPerSecond();
    double found = usual.tokensPerSecond();
    table.rows.push_back(
        {shape->name, std::string(numberFormatName(row.weights)), usual.wafers,
         absl::StrCat(usual.width, " x ", usual.height), row.rate, found,
         found / row.rate, pessimistic, optimistic,
         std::string(usual.layer.binding()),
         1e6 * wse3->seconds(static_cast<double>(usual.layer.cycles())),
         usual.fits ? "yes" : "no",
         row.drafted         ? "not comparable"
         : found >= row.rate ? "not slower"
                             : "SLOWER",
         row.note});
  }
  table.notes = {
      absl::StrCat("low and high: `router.start_cycles` of ", start.high,
                   " and ", start.low, "; default ", wse3->startCycles, "."),
      "The comparison is one-sided: the service's kernels aren't known, so our "
      "estimate mustn't be slower than a figure without drafting.",
      "What would explain a ratio above 1: starts and kernels that cost more "
      "than ours, a host trip for each token, sharing a wafer among users.",
      "GPT-5.3-Codex-Spark (> 1,000 tokens/s) has no published shape."};
  return table;
}

absl::StatusOr<Table> shapeTable(const Target &target) {
  Table table;
  table.name = "shapes";
  table.title = absl::StrCat("Shapes on ", target.name,
                             ", int8 weights, 131,072 positions in the cache: "
                             "estimates from shapes alone");
  table.columns = {"shape",          "wafers", "layers/wafer", "rectangle",
                   "us/layer",       "binds",  "links us",     "tokens/s",
                   "bound tokens/s", "fits"};
  CollectiveModel model(FabricTiming::of(target));
  DecodeSetting setting;
  setting.weights = NumberFormat::Int8;
  setting.context = 131072;
  for (const char *name : {"a", "b", "c", "d"}) {
    absl::StatusOr<DecoderShape> shape = findShape(name);
    if (!shape.ok())
      return shape.status();
    for (int64_t wafers : {int64_t(0), shape->layers}) {
      DecodeEstimate found =
          estimateFewest(target, model, *shape, setting, wafers);
      table.rows.push_back(
          {shape->name, found.wafers, found.layersPerWafer,
           absl::StrCat(found.width, " x ", found.height),
           1e6 * target.seconds(static_cast<double>(found.layer.cycles())),
           std::string(found.layer.binding()), 1e6 * found.linkSeconds,
           found.tokensPerSecond(),
           1 / boundDecodeSeconds(target, *shape, setting, found.wafers),
           found.fits ? "yes" : "no"});
    }
  }
  return table;
}

} // namespace sol
