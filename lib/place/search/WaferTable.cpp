//===- WaferTable.cpp - what a wafer can hold, and in what time -----------===//
//
// See WaferTable.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/search/WaferTable.h"

#include <algorithm>
#include <set>

namespace sol::place {
namespace {

/// Whole fractions, and sixteenths between the larger ones.
std::vector<int64_t> sizesOf(int64_t whole) {
  std::set<int64_t> sizes;
  for (int64_t part = 1; part <= 12; ++part)
    sizes.insert(std::max<int64_t>(1, whole / part));
  for (int64_t part = 5; part <= 14; ++part)
    sizes.insert(std::max<int64_t>(1, whole * part / 16));
  return {sizes.begin(), sizes.end()};
}

} // namespace

std::vector<Shape> templateShapes(const Target &target) {
  std::vector<Shape> shapes;
  for (int64_t width : sizesOf(target.columns))
    for (int64_t height : sizesOf(target.rows))
      shapes.push_back({width, height});
  return shapes;
}

WaferTable::WaferTable(Filler &filler, const Problem &problem, int64_t wafer,
                       const std::vector<Shape> &shapes, int64_t chunkTokens)
    : units(static_cast<int>(filler.allUnits().size())),
      runs(static_cast<size_t>(units) * (units + 1)), reaches(units) {
  for (int i = 0; i < units; ++i)
    reaches[i] = i;
  for (size_t i = 0; i < shapes.size(); ++i)
    addShape(filler, problem, wafer, shapes[i], static_cast<int>(i),
             chunkTokens);
}

void WaferTable::addShape(Filler &filler, const Problem &problem, int64_t wafer,
                          Shape shape, int index, int64_t chunkTokens) {
  std::vector<Region> regions = regionsOf(problem, wafer, shape);
  if (regions.empty())
    return;
  const ModelGraph &graph = *problem.graph;
  int64_t limit = problem.target.usableBytesPerPe();
  std::vector<PeBytes> bytes(units);
  std::vector<double> cycles(units);
  for (int unit = 0; unit < units; ++unit)
    for (int block = filler.allUnits()[unit].begin;
         block < filler.allUnits()[unit].end; ++block) {
      int64_t experts = graph.blocks[block].experts();
      bytes[unit] += filler.bytes().bytes(
          block, shape, experts > 1 ? experts : 0, chunkTokens);
    }
  // Time is asked for only where something fits.
  for (int unit = 0; unit < units; ++unit)
    if (bytes[unit].total() <= limit)
      for (int block = filler.allUnits()[unit].begin;
           block < filler.allUnits()[unit].end; ++block)
        cycles[unit] +=
            filler.roughCosts()
                .blockTime(block, shape, filler.costs().decodeLoad())
                .total();
  std::vector<double> moves(regions.size());
  for (size_t i = 1; i < regions.size(); ++i)
    moves[i] = filler.costs().moveTime(regions[i - 1], regions[i], 1).total();
  for (int begin = 0; begin < units; ++begin) {
    size_t region = 0;
    PeBytes used;
    double spent = 0;
    for (int end = begin; end < units; ++end) {
      PeBytes with = used;
      with += bytes[end];
      if (with.total() > limit) {
        if (++region == regions.size() || bytes[end].total() > limit)
          break;
        spent += moves[region];
        with = bytes[end];
      }
      used = with;
      spent += cycles[end];
      WaferRun &best = runs[begin * (units + 1) + end + 1];
      if (spent < best.cycles)
        best = {spent, index};
      reaches[begin] = std::max(reaches[begin], end + 1);
    }
  }
}

std::vector<WaferCover>
bestCovers(int units, int64_t most, double linkCycles,
           const std::function<const WaferTable &(int64_t)> &table) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(most + 1,
                                        std::vector<double>(units + 1, never));
  std::vector<std::vector<int>> from(most + 1, std::vector<int>(units + 1, -1));
  best[0][0] = 0;
  std::vector<WaferCover> covers(most);
  for (int64_t wafers = 1; wafers <= most; ++wafers) {
    const WaferTable &runs = table(wafers - 1);
    for (int begin = 0; begin < units; ++begin) {
      if (best[wafers - 1][begin] == never)
        continue;
      double before = best[wafers - 1][begin] + (begin > 0 ? linkCycles : 0);
      for (int end = begin + 1; end <= runs.reach(begin); ++end) {
        double cycles = before + runs.run(begin, end).cycles;
        if (cycles >= best[wafers][end])
          continue;
        best[wafers][end] = cycles;
        from[wafers][end] = begin;
      }
    }
    if (best[wafers][units] == never)
      continue;
    WaferCover &cover = covers[wafers - 1];
    cover.cycles = best[wafers][units];
    int end = units;
    for (int64_t wafer = wafers; wafer > 0; --wafer) {
      int begin = from[wafer][end];
      cover.ends.insert(cover.ends.begin(), end);
      cover.shapes.insert(cover.shapes.begin(),
                          table(wafer - 1).run(begin, end).shape);
      end = begin;
    }
  }
  return covers;
}

} // namespace sol::place
