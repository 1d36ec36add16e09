//===- transfer.cpp - a vector from one rectangle to the next ------------===//
//
// See transfer.h.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/region/transfer.h"

namespace sol::fabric {
namespace {

constexpr uint32_t core = 1u << static_cast<int>(Port::Core);
constexpr uint32_t east = 1u << static_cast<int>(Port::East);

/// Columns x to end - 1 of a wafer pass the colour on, in a region of theirs.
void addTransit(FabricProgram &program, int32_t wafer, int32_t x, int32_t end,
                int32_t y, int32_t rows, int32_t colour) {
  if (x >= end)
    return;
  Region region;
  region.name = "transit";
  region.wafer = wafer;
  region.x = x;
  region.y = y;
  region.columns = end - x;
  region.rows = rows;
  region.routes.push_back({{0, 0, end - x, rows, 1, 1}, colour, east});
  program.regions.push_back(std::move(region));
}

} // namespace

bool canTransferEast(const Region &from, const Region &to) {
  if (from.rows != to.rows)
    return false;
  return from.wafer != to.wafer ||
         (from.y == to.y && to.x >= from.x + from.columns);
}

Sharded transferEast(FabricProgram &program, RegionWriter &from,
                     const Sharded &x, RegionWriter &to, int32_t colour) {
  int32_t rows = from.region().rows, columns = from.region().columns;
  Sharded y = to.vector(Axis::Y, x.size, x.tokens);
  Instruction item;
  item.opcode = Opcode::Stream;
  item.rows = {x.tokens, -1};
  item.n = {x.shard, -1};
  item.dst = x.operand();
  item.out = colour;
  from.emit({columns - 1, 0, 1, rows, 1, 1}, item);
  from.region().routes.push_back(
      {{columns - 1, 0, 1, rows, 1, 1}, colour, east});
  item.dst = y.operand();
  item.out = -1;
  item.in = colour;
  item.store = true;
  to.emit(item);
  int32_t width = to.region().columns;
  if (width > 1)
    to.region().routes.push_back(
        {{0, 0, width - 1, rows, 1, 1}, colour, core | east});
  to.region().routes.push_back({{width - 1, 0, 1, rows, 1, 1}, colour, core});
  // The PEs between them; places first, as regions are added.
  int32_t wafer = from.region().wafer, next = to.region().wafer;
  int32_t end = from.region().x + columns, begin = to.region().x;
  int32_t y0 = from.region().y, y1 = to.region().y;
  if (wafer == next) {
    addTransit(program, wafer, end, begin, y0, rows, colour);
    return y;
  }
  addTransit(program, wafer, end, program.wafers[wafer].columns, y0, rows,
             colour);
  addTransit(program, next, 0, begin, y1, rows, colour);
  program.links.push_back({wafer, y0, rows, next, y1});
  return y;
}

} // namespace sol::fabric
