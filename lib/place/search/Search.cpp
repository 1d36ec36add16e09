//===- Search.cpp - finds placements --------------------------------------===//
//
// See Search.h. Wafers are cut into equal rectangles first, the best cut for
// each wafer; then single regions are changed (Improve.h).
//
//===----------------------------------------------------------------------===//
#include "lib/place/search/Search.h"

#include "lib/place/search/Improve.h"
#include "lib/place/search/WaferTable.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace sol::place {
namespace {

/// Tokens of a chunk that space is kept for at first; one if that is too many.
constexpr int64_t chunkLengths[] = {4, 1};
/// Most tokens of a chunk.
constexpr int64_t longestChunk = 512;

/// What is to be small.
double valueOf(const Problem &problem, Evaluator &evaluator,
               const Placement &placement) {
  double token = evaluator.tokenCycles(placement);
  if (problem.objective != Objective::Throughput)
    return token;
  return std::max(token / static_cast<double>(problem.sequences),
                  evaluator.intervalCycles(placement));
}

std::vector<Shape> shapesFor(const Problem &problem,
                             const SearchLimits &limits) {
  if (!limits.freeShape)
    return {{problem.target.columns, problem.target.rows}};
  return templateShapes(problem.target);
}

/// The best placements of a problem, found with one set of tables.
class Searcher {
public:
  Searcher(const Problem &problem, const SearchLimits &limits)
      : problem(problem), limits(limits), filler(this->problem),
        shapes(shapesFor(problem, limits)) {}

  /// The best placement on at most 1, 2, … wafers; nothing where none fits.
  std::vector<std::optional<Placement>> placeOnEach(int64_t most) {
    std::vector<std::optional<Placement>> found(most);
    for (int64_t chunk : chunkLengths) {
      placeByRuns(chunk, found);
      if (problem.objective == Objective::Throughput)
        placeEvenly(chunk, found);
    }
    if (!found.back())
      placeSplitting(found);
    for (int64_t i = 1; i < most; ++i)
      if (found[i - 1] &&
          (!found[i] || value(*found[i - 1]) <= value(*found[i])))
        found[i] = found[i - 1];
    return found;
  }

  double value(const Placement &placement) {
    return valueOf(problem, filler.costs(), placement);
  }
  Filler &tables() { return filler; }

private:
  void keep(std::optional<Placement> &best, Placement placement) {
    // Room for longer chunks is worth a little.
    constexpr double littleWorse = 0.995;
    bool isShorter = best && placement.chunkTokens < best->chunkTokens;
    Evaluator &rough = filler.roughCosts();
    if (!best ||
        valueOf(problem, rough, placement) <
            valueOf(problem, rough, *best) * (isShorter ? littleWorse : 1))
      best = std::move(placement);
  }

  const WaferTable &table(int64_t wafer, int64_t chunk) {
    // Wafers without defects are alike.
    if (problem.defects.empty())
      wafer = 0;
    auto &entry = tablesOf[{wafer, chunk}];
    if (!entry)
      entry =
          std::make_unique<WaferTable>(filler, problem, wafer, shapes, chunk);
    return *entry;
  }

  void placeByRuns(int64_t chunk,
                   std::vector<std::optional<Placement>> &found) {
    int units = static_cast<int>(filler.allUnits().size());
    double link =
        filler.costs().stepCosts().link(problem.graph->width, 1).total();
    auto most = static_cast<int64_t>(found.size());
    std::vector<WaferCover> covers =
        bestCovers(units, std::min<int64_t>(most, units), link,
                   [&](int64_t wafer) -> const WaferTable & {
                     return table(wafer, chunk);
                   });
    for (size_t i = 0; i < covers.size(); ++i) {
      if (covers[i].ends.empty())
        continue;
      Placement placement;
      placement.chunkTokens = chunk;
      int unit = 0;
      for (size_t wafer = 0; wafer < covers[i].ends.size(); ++wafer)
        unit = fillUpTo(static_cast<int64_t>(wafer),
                        shapes[covers[i].shapes[wafer]], unit,
                        covers[i].ends[wafer], placement);
      if (unit == units)
        keep(found[i], std::move(placement));
    }
  }

  int fillUpTo(int64_t wafer, Shape shape, int unit, int end,
               Placement &placement) {
    size_t blocks = end == static_cast<int>(filler.allUnits().size())
                        ? problem.graph->blocks.size()
                        : filler.allUnits()[end].begin;
    size_t regionsBefore = placement.regions.size();
    unit = filler.fill(regionsOf(problem, wafer, shape), unit,
                       placement.chunkTokens, placement);
    if (placement.blocks.size() > blocks)
      placement.blocks.resize(blocks);
    // Regions that only held what was taken back.
    size_t used = regionsBefore;
    for (const auto &shards : placement.blocks)
      used = std::max(used, static_cast<size_t>(shards.back().region) + 1);
    placement.regions.resize(used);
    return std::min(unit, end);
  }

  void placeEvenly(int64_t chunk,
                   std::vector<std::optional<Placement>> &found) {
    for (Shape shape : shapes) {
      std::vector<Region> regions;
      for (size_t i = 0; i < found.size(); ++i) {
        for (const Region &region :
             regionsOf(problem, static_cast<int64_t>(i), shape))
          regions.push_back(region);
        if (regions.empty())
          continue;
        if (auto placement = filler.fillEvenly(regions, chunk))
          keep(found[i], *placement);
      }
    }
  }

  /// Layers that do not fit a wafer by themselves, or leave too much of it
  /// empty: their experts are spread.
  void placeSplitting(std::vector<std::optional<Placement>> &found) {
    for (Shape shape : shapes)
      for (int64_t chunk : chunkLengths)
        if (auto placement = filler.fillSplitting(shape, chunk))
          keep(found[placement->wafers() - 1], *placement);
  }

  const Problem problem;
  SearchLimits limits;
  Filler filler;
  std::vector<Shape> shapes;
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<WaferTable>> tablesOf;
};

/// The chunk length with the least time to the first token among those that
/// fit.
void chooseChunk(const Problem &problem, Filler &filler, Placement &placement) {
  int64_t room = problem.target.usableBytesPerPe();
  double least = std::numeric_limits<double>::infinity();
  Placement trial = placement;
  for (int64_t chunk = 1; chunk <= longestChunk; chunk *= 2) {
    trial.chunkTokens = chunk;
    bool fits = true;
    for (const PeBytes &bytes : filler.bytes().regionBytes(trial))
      fits &= bytes.total() <= room;
    if (!fits)
      break;
    double seconds = filler.costs().firstTokenSeconds(trial);
    if (seconds < least) {
      least = seconds;
      placement.chunkTokens = chunk;
    }
  }
}

Solution finish(Problem problem, Placement placement) {
  Filler filler(problem);
  chooseChunk(problem, filler, placement);
  Solution solution;
  solution.evaluation = filler.costs().evaluate(placement);
  solution.placement = std::move(placement);
  solution.problem = std::move(problem);
  return solution;
}

/// One layer for each wafer on a rectangle of that shape, the embedding with
/// the first, the head with the last; nothing if that does not fit.
std::optional<Placement> placeLayers(const Problem &problem, Filler &filler,
                                     Shape shape, int64_t chunk) {
  const ModelGraph &graph = *problem.graph;
  Placement placement;
  placement.chunkTokens = chunk;
  int64_t wafer = -1;
  for (const Unit &unit : filler.allUnits()) {
    bool isLayer = graph.blocks[unit.begin].kind == BlockKind::Attention;
    if (wafer < 0 || (isLayer && graph.blocks[unit.begin].layer > 0)) {
      std::vector<Region> regions = regionsOf(problem, ++wafer, shape);
      if (regions.empty())
        return std::nullopt;
      placement.regions.push_back(regions.front());
    }
    for (int block = unit.begin; block < unit.end; ++block)
      placement.blocks.push_back(
          {{static_cast<int>(wafer), 0, graph.blocks[block].experts()}});
  }
  for (const PeBytes &bytes : filler.bytes().regionBytes(placement))
    if (bytes.total() > problem.target.usableBytesPerPe())
      return std::nullopt;
  return placement;
}

/// The best of `shapes` for a layer on each wafer.
std::optional<Placement> placeLayers(const Problem &problem,
                                     const std::vector<Shape> &shapes) {
  if (problem.wafers < problem.graph->layers)
    return std::nullopt;
  Filler filler(problem);
  std::vector<std::pair<double, Placement>> found;
  for (Shape shape : shapes)
    for (int64_t chunk : chunkLengths)
      if (auto placement = placeLayers(problem, filler, shape, chunk)) {
        double value = valueOf(problem, filler.roughCosts(), *placement);
        found.emplace_back(value, *std::move(placement));
        break;
      }
  std::sort(found.begin(), found.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  std::optional<Placement> best;
  double least = std::numeric_limits<double>::infinity();
  // The rounding of rough costs may have put one before another.
  constexpr size_t mostLookedAt = 8;
  for (size_t i = 0; i < std::min(found.size(), mostLookedAt); ++i) {
    double value = valueOf(problem, filler.costs(), found[i].second);
    if (value >= least)
      continue;
    least = value;
    best = found[i].second;
  }
  return best;
}

} // namespace

std::optional<Placement> placeQuickly(const Problem &problem) {
  Filler filler(problem);
  std::optional<Placement> best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t parts = 1; parts <= 4; ++parts) {
    Shape shape{std::max<int64_t>(1, problem.target.columns / parts),
                std::max<int64_t>(1, problem.target.rows / parts)};
    auto placement = filler.fillSplitting(shape, 1);
    if (!placement)
      continue;
    double value = valueOf(problem, filler.costs(), *placement);
    if (value >= least)
      continue;
    least = value;
    best = placement;
  }
  return best;
}

absl::StatusOr<Solution> placeOn(const Problem &problem, Policy policy,
                                 const SearchLimits &limits) {
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  std::optional<Placement> placement;
  if (policy == Policy::Free) {
    Searcher searcher(problem, limits);
    placement = searcher.placeOnEach(problem.wafers).back();
    if (placement)
      improve(problem, searcher.tables(), limits.seconds, *placement);
  } else {
    std::vector<Shape> shapes = {{problem.target.columns, problem.target.rows}};
    if (policy == Policy::LayerRectangle)
      shapes = templateShapes(problem.target);
    placement = placeLayers(problem, shapes);
  }
  if (!placement)
    return absl::ResourceExhaustedError(whyNot(problem, policy));
  return finish(problem, std::move(*placement));
}

absl::StatusOr<Solution> placeOnFewest(Problem problem, Policy policy,
                                       int64_t most,
                                       const SearchLimits &limits) {
  problem.wafers = most;
  if (policy != Policy::Free) {
    problem.wafers = problem.graph->layers;
    return placeOn(problem, policy, limits);
  }
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  Searcher searcher(problem, limits);
  std::vector<std::optional<Placement>> found = searcher.placeOnEach(most);
  std::vector<CurvePoint> curve;
  double best = std::numeric_limits<double>::infinity();
  auto perSecond = [&](double cycles) {
    return problem.target.clockHertz / cycles;
  };
  for (int64_t i = 0; i < most; ++i) {
    if (!found[i])
      continue;
    best = std::min(best, searcher.value(*found[i]));
    double token = searcher.tables().costs().tokenCycles(*found[i]);
    double interval = searcher.tables().costs().intervalCycles(*found[i]);
    curve.push_back(
        {i + 1, perSecond(token),
         std::min(static_cast<double>(problem.sequences) * perSecond(token),
                  perSecond(interval))});
  }
  for (int64_t i = 0; i < most; ++i) {
    constexpr double nearEnough = 1.02;
    if (!found[i] || searcher.value(*found[i]) > best * nearEnough)
      continue;
    problem.wafers = i + 1;
    Placement placement = *found[i];
    improve(problem, searcher.tables(), limits.seconds, placement);
    Solution solution = finish(problem, std::move(placement));
    solution.curve = std::move(curve);
    return solution;
  }
  return absl::ResourceExhaustedError(whyNot(problem, policy));
}

} // namespace sol::place
