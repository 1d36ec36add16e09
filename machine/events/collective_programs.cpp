//===- collective_programs.cpp - collectives as programs of a mesh -------===//
//
// See collective_programs.h.
//
//===----------------------------------------------------------------------===//
#include "machine/events/collective_programs.h"

#include <algorithm>

namespace sol {
namespace {

unsigned bit(Port port) { return 1u << static_cast<int>(port); }

/// The port of `from` towards its neighbour `to`.
Port portTowards(const MeshProgram &program, int64_t from, int64_t to) {
  // In a mesh of one column the next PE is the one below.
  if (from / program.width != to / program.width)
    return to > from ? Port::South : Port::North;
  return to > from ? Port::East : Port::West;
}

/// Routes one colour from PE `from` of a line to PE `to`; every PE on the way
/// gets a copy if `all`.
void addRoute(MeshProgram &program, const MeshLine &line, int64_t from,
              int64_t to, int colour, bool all = false) {
  int64_t step = to > from ? 1 : -1;
  for (int64_t at = from; at != to; at += step) {
    unsigned core = all && at != from ? bit(Port::Core) : 0;
    program.routes.push_back(
        {line[at], colour,
         bit(portTowards(program, line[at], line[at + step])) | core});
  }
  program.routes.push_back({line[to], colour, bit(Port::Core)});
}

} // namespace

MeshLine rowOf(const MeshProgram &program, int64_t y) {
  MeshLine line;
  for (int64_t x = 0; x < program.width; ++x)
    line.push_back(program.pe(x, y));
  return line;
}

MeshLine columnOf(const MeshProgram &program, int64_t x) {
  MeshLine line;
  for (int64_t y = 0; y < program.height; ++y)
    line.push_back(program.pe(x, y));
  return line;
}

MeshLine snakeOf(const MeshProgram &program) {
  MeshLine line;
  for (int64_t y = 0; y < program.height; ++y) {
    MeshLine row = rowOf(program, y);
    if (y % 2)
      std::reverse(row.begin(), row.end());
    line.insert(line.end(), row.begin(), row.end());
  }
  return line;
}

void addReduction(MeshProgram &program, const MeshLine &line,
                  const ReductionTree &tree, const ReductionSchedule &schedule,
                  int64_t words) {
  std::vector<int> colours = colourMessages(tree);
  int base = program.colours, used = 0;
  for (int64_t pe = 0; pe < tree.pes(); ++pe) {
    bool isRoot = pe == tree.root;
    if (!isRoot)
      addRoute(program, line, pe, tree.parent[pe], base + colours[pe]);
    used = std::max(used, colours[pe] + 1);
    MeshInstruction send;
    send.words = words;
    send.out = isRoot ? -1 : base + colours[pe];
    // Short messages go first: what nests in a long one is needed earlier.
    send.priority = isRoot ? 0 : static_cast<int>(tree.distance(pe));
    const std::vector<int64_t> &children = schedule.children[pe];
    for (size_t i = 0; i < children.size(); ++i) {
      MeshInstruction item;
      item.words = words;
      item.add = item.store = true;
      // The last child's words go on as they come, and needn't be kept.
      if (i + 1 == children.size() && !isRoot && !tree.stores(pe)) {
        item = send;
        item.add = true;
      }
      item.in = base + colours[children[i]];
      program.instructions[line[pe]].push_back(item);
    }
    if (!isRoot && (children.empty() || tree.stores(pe)))
      program.instructions[line[pe]].push_back(send);
  }
  program.colours += used;
}

void addBroadcast(MeshProgram &program, const MeshLine &line, int64_t root,
                  int64_t words) {
  int64_t size = static_cast<int64_t>(line.size());
  if (size == 1)
    return;
  int colour = program.colours++;
  if (root + 1 < size)
    addRoute(program, line, root, size - 1, colour, true);
  if (root > 0)
    addRoute(program, line, root, 0, colour, true);
  for (int64_t pe = 0; pe < size; ++pe) {
    MeshInstruction item;
    item.words = words;
    (pe == root ? item.out : item.in) = colour;
    item.store = pe != root;
    program.instructions[line[pe]].push_back(item);
  }
}

void addMeshBroadcast(MeshProgram &program, int64_t rootX, int64_t rootY,
                      int64_t words) {
  if (program.width * program.height == 1)
    return;
  int colour = program.colours++;
  int64_t root = program.pe(rootX, rootY);
  for (int64_t y = 0; y < program.height; ++y)
    for (int64_t x = 0; x < program.width; ++x) {
      int64_t pe = program.pe(x, y);
      unsigned ports = pe == root ? 0 : bit(Port::Core);
      if (y == rootY && x >= rootX && x + 1 < program.width)
        ports |= bit(Port::East);
      if (y == rootY && x <= rootX && x > 0)
        ports |= bit(Port::West);
      if (y >= rootY && y + 1 < program.height)
        ports |= bit(Port::South);
      if (y <= rootY && y > 0)
        ports |= bit(Port::North);
      program.routes.push_back({pe, colour, ports});
      MeshInstruction item;
      item.words = words;
      (pe == root ? item.out : item.in) = colour;
      item.store = pe != root;
      program.instructions[pe].push_back(item);
    }
}

/// Routes between neighbours of a line, east and west, each with two colours in
/// turn; gives the first of the four.
static int addNeighbourRoutes(MeshProgram &program, const MeshLine &line) {
  int base = program.colours;
  program.colours += 4;
  for (int64_t x = 0; x + 1 < static_cast<int64_t>(line.size()); ++x) {
    addRoute(program, line, x, x + 1, base + static_cast<int>(x % 2));
    addRoute(program, line, x + 1, x, base + 2 + static_cast<int>(x % 2));
  }
  return base;
}

void addReduceScatter(MeshProgram &program, const MeshLine &line,
                      int64_t part) {
  int64_t size = static_cast<int64_t>(line.size());
  if (size == 1)
    return;
  int base = addNeighbourRoutes(program, line);
  for (bool east : {true, false})
    for (int64_t x = 0; x < size; ++x) {
      int64_t before = east ? x : size - 1 - x, after = size - 1 - before;
      int in = base + static_cast<int>(east ? (x + 1) % 2 : 2 + x % 2);
      int out = base + static_cast<int>(east ? x % 2 : 2 + (x + 1) % 2);
      auto &instructions = program.instructions[line[x]];
      MeshInstruction item;
      item.step = east ? -1 : 1;
      item.first = east ? size * part - 1 : 0;
      item.words = after * part;
      item.out = out;
      if (before > 0) {
        item.in = in;
        item.add = true;
      }
      if (after > 0)
        instructions.push_back(item);
      if (before > 0) {
        item.first += item.step * after * part;
        item.words = part;
        item.out = -1;
        item.store = true;
        instructions.push_back(item);
      }
    }
}

void addAllGather(MeshProgram &program, const MeshLine &line, int64_t part) {
  int64_t size = static_cast<int64_t>(line.size());
  if (size == 1)
    return;
  int base = addNeighbourRoutes(program, line);
  for (bool east : {true, false})
    for (int64_t x = 0; x < size; ++x) {
      int64_t before = east ? x : size - 1 - x, after = size - 1 - before;
      MeshInstruction item;
      // Each part goes backwards when it goes east, so that the nearest part
      // comes first as one run of elements.
      item.step = east ? -1 : 1;
      item.first = east ? (x + 1) * part - 1 : x * part;
      item.words = part;
      if (after > 0)
        item.out = base + static_cast<int>(east ? x % 2 : 2 + (x + 1) % 2);
      auto &instructions = program.instructions[line[x]];
      if (after > 0)
        instructions.push_back(item);
      item.first += item.step * part;
      item.words = before * part;
      item.in = base + static_cast<int>(east ? (x + 1) % 2 : 2 + x % 2);
      item.store = true;
      if (before > 0)
        instructions.push_back(item);
    }
}

} // namespace sol
