//===- line_collectives.cpp - the collectives of a region ----------------===//
//
// A reduction up a tree to the PE in the middle of each line, and a broadcast
// from there. All collectives of one kind of lines share a tree and so its
// colours, as each colour of a PE has one sender and keeps the order of words.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/region/region_writer.h"

#include <algorithm>

namespace sol::fabric {
namespace {

uint32_t bit(Port port) { return 1u << static_cast<int>(port); }

/// The longest arithmetic progression that starts with the first position.
std::vector<int64_t> longestRun(const std::vector<int64_t> &positions) {
  std::vector<int64_t> best = {positions.front()};
  for (size_t i = 1; i < positions.size(); ++i) {
    int64_t step = positions[i] - positions.front();
    std::vector<int64_t> run = {positions.front()};
    for (int64_t at : positions)
      if (at == run.back() + step)
        run.push_back(at);
    if (run.size() > best.size())
      best = std::move(run);
  }
  return best;
}

/// Positions as few arithmetic progressions.
std::vector<std::vector<int64_t>> runsOf(std::vector<int64_t> positions) {
  std::vector<std::vector<int64_t>> runs;
  while (!positions.empty()) {
    runs.push_back(longestRun(positions));
    std::vector<int64_t> rest;
    std::set_difference(positions.begin(), positions.end(), runs.back().begin(),
                        runs.back().end(), std::back_inserter(rest));
    positions = std::move(rest);
  }
  return runs;
}

/// What the PE at one position of a line does in an all-reduce.
std::vector<Instruction> reductionCode(const ReductionTree &tree,
                                       const ReductionSchedule &schedule,
                                       const std::vector<int> &messages,
                                       int64_t pe, const Instruction &pattern) {
  std::vector<Instruction> code;
  bool isRoot = pe == tree.root;
  Instruction send = pattern;
  send.out = isRoot ? -1 : messages[pe];
  send.combine = Combine::None;
  // Short messages go first: what nests in a long one is needed earlier.
  send.priority = isRoot ? 0 : static_cast<int32_t>(tree.distance(pe));
  const std::vector<int64_t> &children = schedule.children[pe];
  for (size_t i = 0; i < children.size(); ++i) {
    bool isLast = i + 1 == children.size() && !isRoot && !tree.stores(pe);
    Instruction item = isLast ? send : pattern;
    item.combine = pattern.combine;
    item.in = messages[children[i]];
    // The last child's words go on as they come, and needn't be kept.
    item.store = !isLast;
    code.push_back(item);
  }
  if (!isRoot && (children.empty() || tree.stores(pe)))
    code.push_back(send);
  return code;
}

} // namespace

std::vector<PeSet> RegionWriter::setsAt(const Lines &lines,
                                        const std::vector<int64_t> &positions) {
  std::vector<PeSet> sets;
  auto add = [&](int64_t first, int64_t count, int64_t step) {
    PeSet set = all();
    bool alongX = lines.axis == Axis::X;
    (alongX ? set.x : set.y) = static_cast<int32_t>(first);
    (alongX ? set.columns : set.rows) = static_cast<int32_t>(count);
    (alongX ? set.xStep : set.yStep) =
        static_cast<int32_t>(count > 1 ? step : 1);
    sets.push_back(set);
  };
  std::vector<std::vector<int64_t>> runs = runsOf(positions);
  auto addRun = [&](const std::vector<int64_t> &run, int64_t start) {
    add(start + run.front(), static_cast<int64_t>(run.size()),
        run.size() > 1 ? run[1] - run[0] : 1);
  };
  // Each run in each segment, or each position in all segments.
  if (runs.size() * lines.segments <= positions.size()) {
    for (int64_t segment = 0; segment < lines.segments; ++segment)
      for (const std::vector<int64_t> &run : runs)
        addRun(run, segment * lines.length);
  } else {
    for (int64_t position : positions)
      add(position, lines.segments, lines.length);
  }
  return sets;
}

RegionWriter::Tree &RegionWriter::treeOf(const Lines &lines, int64_t words) {
  auto [entry, isNew] = trees.try_emplace(lines);
  Tree &tree = entry->second;
  if (!isNew)
    return tree;
  tree.shape = model.tree(lines.length, words, RootPlace::Middle);
  if (coloursNeeded(tree.shape) > mostTreeColours)
    tree.shape = middleChainTree(lines.length);
  tree.messages = colourMessages(tree.shape);
  int32_t used = coloursNeeded(tree.shape);
  for (int &colour : tree.messages)
    if (colour >= 0)
      colour += colours;
  tree.broadcast = colours + used;
  colours += used + 1;
  addRoutes(lines, tree);
  return tree;
}

void RegionWriter::addRoutes(const Lines &lines, const Tree &tree) {
  bool alongX = lines.axis == Axis::X;
  Port up = alongX ? Port::East : Port::South;
  Port down = alongX ? Port::West : Port::North;
  int64_t root = tree.shape.root;
  // Ports by colour and position.
  std::map<std::pair<int32_t, uint32_t>, std::vector<int64_t>> positions;
  for (int64_t pe = 0; pe < lines.length; ++pe) {
    uint32_t ports = pe == root ? 0 : bit(Port::Core);
    if (pe >= root && pe + 1 < lines.length)
      ports |= bit(up);
    if (pe <= root && pe > 0)
      ports |= bit(down);
    positions[{tree.broadcast, ports}].push_back(pe);
    int64_t parent = tree.shape.parent[pe];
    if (pe == root)
      continue;
    int64_t step = parent > pe ? 1 : -1;
    for (int64_t at = pe; at != parent; at += step)
      positions[{tree.messages[pe], bit(step > 0 ? up : down)}].push_back(at);
    positions[{tree.messages[pe], bit(Port::Core)}].push_back(parent);
  }
  for (auto &[key, at] : positions) {
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    for (const PeSet &set : setsAt(lines, at))
      region().routes.push_back({set, key.first, key.second});
  }
}

void RegionWriter::allReduce(const Lines &lines, const Operand &data,
                             Count rows, Count n, Combine combine) {
  if (lines.length == 1)
    return;
  // Counts that registers decide: what a short context has.
  int64_t words = int64_t(rows.value) * n.value;
  Tree &tree = treeOf(lines, std::max<int64_t>(words, 1));
  ReductionSchedule schedule = scheduleReduction(model.fabric(), tree.shape,
                                                 std::max<int64_t>(words, 1));
  Instruction pattern;
  pattern.opcode = Opcode::Stream;
  pattern.rows = rows;
  pattern.n = n;
  pattern.dst = data;
  pattern.combine = combine;
  pattern.packed = packed && combine != Combine::ArgMax;
  // Positions that do the same share pieces.
  std::vector<std::pair<std::vector<Instruction>, std::vector<int64_t>>> kinds;
  for (int64_t pe = 0; pe < lines.length; ++pe) {
    std::vector<Instruction> code =
        reductionCode(tree.shape, schedule, tree.messages, pe, pattern);
    Instruction spread = pattern;
    spread.combine = Combine::None;
    (pe == tree.shape.root ? spread.out : spread.in) = tree.broadcast;
    spread.store = pe != tree.shape.root;
    code.push_back(spread);
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](auto &item) { return item.first == code; });
    if (kind == kinds.end())
      kinds.push_back({code, {pe}});
    else
      kind->second.push_back(pe);
  }
  for (auto &[code, positions] : kinds)
    for (const PeSet &set : setsAt(lines, positions))
      region().code.push_back({set, code});
}

void RegionWriter::broadcast(const Operand &data, Count rows, Count n) {
  int32_t columns = region().columns, height = region().rows;
  if (columns * height == 1)
    return;
  auto route = [&](int32_t x, int32_t y, int32_t w, int32_t h, uint32_t ports) {
    if (w > 0 && h > 0 && ports != 0)
      region().routes.push_back({{x, y, w, h, 1, 1}, broadcastColour, ports});
  };
  if (broadcastColour < 0) {
    broadcastColour = colours++;
    uint32_t core = bit(Port::Core), east = bit(Port::East);
    uint32_t south = height > 1 ? bit(Port::South) : 0;
    // Along the first row, and from each of its PEs down.
    route(0, 0, 1, 1, south | (columns > 1 ? east : 0));
    route(1, 0, columns - 2, 1, core | south | east);
    route(columns - 1, 0, columns > 1, 1, core | south);
    route(0, 1, columns, height - 2, core | bit(Port::South));
    route(0, height - 1, columns, height > 1, core);
  }
  Instruction item;
  item.opcode = Opcode::Stream;
  item.rows = rows;
  item.n = n;
  item.dst = data;
  item.out = broadcastColour;
  region().code.push_back({{0, 0, 1, 1, 1, 1}, {item}});
  std::swap(item.in, item.out);
  item.store = true;
  if (columns > 1)
    region().code.push_back({{1, 0, columns - 1, 1, 1, 1}, {item}});
  if (height > 1)
    region().code.push_back({{0, 1, columns, height - 1, 1, 1}, {item}});
}

} // namespace sol::fabric
