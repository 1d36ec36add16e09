//===- Templates.cpp - wafers cut into equal rectangles -------------------===//
//
// See Templates.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/search/Templates.h"

#include <algorithm>

namespace sol::place {

std::vector<Unit> unitsOf(const ModelGraph &graph) {
  std::vector<Unit> units;
  for (int i = 0; i < static_cast<int>(graph.blocks.size()); ++i) {
    BlockKind kind = graph.blocks[i].kind;
    bool isFirst = units.empty() || kind == BlockKind::Attention ||
                   kind == BlockKind::Head || kind == BlockKind::Embedding;
    // What precedes the first attention stays with the embedding.
    if (isFirst)
      units.push_back({i, i});
    units.back().end = i + 1;
  }
  return units;
}

std::vector<Region> regionsOf(const Problem &problem, int64_t wafer,
                              Shape shape) {
  std::vector<Region> regions;
  const Target &target = problem.target;
  int64_t across = target.columns / shape.width;
  int64_t down = target.rows / shape.height;
  for (int64_t row = 0; row < down; ++row)
    for (int64_t i = 0; i < across; ++i) {
      int64_t column = row % 2 == 0 ? i : across - 1 - i;
      PeRectangle at{column * shape.width, row * shape.height, shape.width,
                     shape.height};
      if (problem.defects.brokenPes(wafer, at) == 0)
        regions.push_back({wafer, at});
    }
  return regions;
}

namespace {

/// What one region holds so far. Shared tables count each time.
class Room {
public:
  Room(BlockMemory &memory, int64_t limit, int64_t tokens)
      : memory(&memory), limit(limit), tokens(tokens) {}

  bool holds(int block, Shape shape, int64_t experts) const {
    PeBytes sum = used;
    sum += needs(block, shape, experts);
    return sum.total() <= limit;
  }
  void add(int block, Shape shape, int64_t experts) {
    used += needs(block, shape, experts);
  }
  /// Most experts of a block that still fit; 0 if none does.
  int64_t mostExperts(int block, Shape shape, int64_t most) const {
    int64_t low = 0, high = most;
    while (low < high) {
      int64_t middle = (low + high + 1) / 2;
      if (holds(block, shape, middle))
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }

private:
  PeBytes needs(int block, Shape shape, int64_t experts) const {
    return memory->bytes(block, shape, experts, tokens);
  }

  BlockMemory *memory;
  int64_t limit, tokens;
  PeBytes used;
};

} // namespace

int Filler::fill(const std::vector<Region> &regions, int unit,
                 int64_t chunkTokens, Placement &placement) {
  const ModelGraph &graph = *problem.graph;
  int64_t limit = problem.target.usableBytesPerPe();
  for (const Region &region : regions) {
    Room room(memory, limit, chunkTokens);
    bool isUsed = false;
    while (unit < static_cast<int>(units.size())) {
      Room with = room;
      bool fits = true;
      for (int block = units[unit].begin; fits && block < units[unit].end;
           ++block) {
        int64_t experts = graph.blocks[block].experts();
        fits = with.holds(block, region.shape(), experts > 1 ? experts : 0);
        if (fits)
          with.add(block, region.shape(), experts > 1 ? experts : 0);
      }
      if (!fits)
        break;
      if (!isUsed)
        placement.regions.push_back(region);
      isUsed = true;
      int index = static_cast<int>(placement.regions.size()) - 1;
      for (int block = units[unit].begin; block < units[unit].end; ++block)
        placement.blocks.push_back({{index, 0, graph.blocks[block].experts()}});
      room = with;
      ++unit;
    }
  }
  return unit;
}

std::optional<Placement> Filler::fillSplitting(Shape shape,
                                               int64_t chunkTokens) {
  const ModelGraph &graph = *problem.graph;
  int64_t limit = problem.target.usableBytesPerPe();
  Placement placement;
  placement.chunkTokens = chunkTokens;
  std::vector<Region> regions;
  int64_t wafer = 0;
  auto fresh = [&] { return Room(memory, limit, chunkTokens); };
  Room room = fresh();
  size_t next = 0;
  auto open = [&] {
    while (next == regions.size() && wafer < problem.wafers) {
      for (const Region &region : regionsOf(problem, wafer, shape))
        regions.push_back(region);
      ++wafer;
    }
    if (next == regions.size())
      return false;
    placement.regions.push_back(regions[next++]);
    room = fresh();
    return true;
  };
  if (!open())
    return std::nullopt;
  for (int block = 0; block < static_cast<int>(graph.blocks.size()); ++block) {
    int64_t experts = graph.blocks[block].experts(), placed = 0;
    std::vector<Shard> shards;
    bool isFresh = false;
    while (placed < experts) {
      int64_t rest = experts - placed;
      int64_t most = experts > 1 ? room.mostExperts(block, shape, rest)
                     : room.holds(block, shape, 0) ? 1
                                                   : 0;
      if (most > 0) {
        room.add(block, shape, experts > 1 ? most : 0);
        shards.push_back({static_cast<int>(placement.regions.size()) - 1,
                          placed, placed + most});
        placed += most;
      }
      if (placed == experts)
        break;
      // An empty region that holds nothing of it never will.
      if ((most == 0 && isFresh) || !open())
        return std::nullopt;
      isFresh = true;
    }
    placement.blocks.push_back(shards);
  }
  return placement;
}

std::optional<Placement> Filler::fillEvenly(const std::vector<Region> &regions,
                                            int64_t chunkTokens) {
  // The least number of cycles for each region with which all fit, by halving.
  const ModelGraph &graph = *problem.graph;
  std::vector<double> cycles;
  Shape shape = regions.front().shape();
  double all = 0;
  for (const Unit &unit : units) {
    double sum = 0;
    for (int block = unit.begin; block < unit.end; ++block)
      sum += rough.blockTime(block, shape, evaluator.decodeLoad()).total();
    cycles.push_back(sum);
    all += sum;
  }
  int64_t limit = problem.target.usableBytesPerPe();
  auto attempt = [&](double most) -> std::optional<Placement> {
    Placement placement;
    placement.chunkTokens = chunkTokens;
    size_t unit = 0;
    for (const Region &region : regions) {
      Room room(memory, limit, chunkTokens);
      double spent = 0;
      size_t first = unit;
      while (unit < units.size() && spent + cycles[unit] <= most) {
        Room with = room;
        bool fits = true;
        for (int block = units[unit].begin; fits && block < units[unit].end;
             ++block) {
          int64_t experts = graph.blocks[block].experts();
          fits = with.holds(block, shape, experts > 1 ? experts : 0);
          if (fits)
            with.add(block, shape, experts > 1 ? experts : 0);
        }
        if (!fits)
          break;
        room = with;
        spent += cycles[unit++];
      }
      if (unit == first)
        continue;
      placement.regions.push_back(region);
      int index = static_cast<int>(placement.regions.size()) - 1;
      for (int block = units[first].begin; block < units[unit - 1].end; ++block)
        placement.blocks.push_back({{index, 0, graph.blocks[block].experts()}});
    }
    if (unit < units.size())
      return std::nullopt;
    return placement;
  };
  std::optional<Placement> best = attempt(all);
  double low = 0, high = all;
  for (int round = 0; best && round < 20; ++round) {
    double middle = (low + high) / 2;
    if (std::optional<Placement> found = attempt(middle)) {
      best = found;
      high = middle;
    } else {
      low = middle;
    }
  }
  return best;
}

} // namespace sol::place
