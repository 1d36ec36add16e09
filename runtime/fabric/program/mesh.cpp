//===- mesh.cpp - the PEs of all wafers, and the way of words ------------===//
//
// See mesh.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/program/mesh.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <unordered_set>

namespace sol::fabric {
namespace {

absl::Status bad(const std::string &text) {
  return absl::InvalidArgumentError(text);
}

absl::Status checkSet(const Region &region, const PeSet &set, const char *what,
                      size_t index) {
  auto last = [](int32_t first, int32_t count, int32_t step) {
    return first + (int64_t(count) - 1) * step;
  };
  bool fits = set.columns >= 1 && set.rows >= 1 && set.xStep >= 1 &&
              set.yStep >= 1 && set.x >= 0 && set.y >= 0 &&
              last(set.x, set.columns, set.xStep) < region.columns &&
              last(set.y, set.rows, set.yStep) < region.rows;
  if (fits)
    return absl::OkStatus();
  return bad(absl::StrCat("region `", region.name, "`: ", what, " ", index,
                          " is for PEs [", set.x, ", ", set.y, "] and on, ",
                          set.columns, " x ", set.rows, " in steps of ",
                          set.xStep, " and ", set.yStep, ": the region has ",
                          region.columns, " x ", region.rows, " PEs"));
}

template <typename Items>
absl::Status checkSets(const Region &region, const Items &items,
                       const char *what) {
  for (size_t i = 0; i < items.size(); ++i)
    if (absl::Status status = checkSet(region, items[i].pes, what, i);
        !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status checkRegion(const Region &region,
                         const std::vector<Wafer> &wafers) {
  if (region.wafer < 0 || region.wafer >= static_cast<int64_t>(wafers.size()))
    return bad(absl::StrCat("region `", region.name, "` is on wafer ",
                            region.wafer, " of ", wafers.size()));
  const Wafer &wafer = wafers[region.wafer];
  if (region.x < 0 || region.y < 0 || region.columns < 1 || region.rows < 1 ||
      int64_t(region.x) + region.columns > wafer.columns ||
      int64_t(region.y) + region.rows > wafer.rows)
    return bad(absl::StrCat("region `", region.name, "` of ", region.columns,
                            " x ", region.rows, " PEs at [", region.x, ", ",
                            region.y, "] doesn't lie on a wafer of ",
                            wafer.columns, " x ", wafer.rows));
  absl::Status status = checkSets(region, region.buffers, "buffer");
  status.Update(checkSets(region, region.weights, "slice of weights"));
  status.Update(checkSets(region, region.inputs, "slice of inputs"));
  status.Update(checkSets(region, region.outputs, "slice of outputs"));
  status.Update(checkSets(region, region.routes, "route"));
  status.Update(checkSets(region, region.code, "piece of code"));
  return status;
}

} // namespace

absl::StatusOr<Mesh> Mesh::of(const FabricProgram &program) {
  Mesh mesh;
  mesh.shape = program.wafers;
  mesh.base.push_back(0);
  for (const Wafer &wafer : program.wafers) {
    if (wafer.columns < 1 || wafer.rows < 1 ||
        int64_t(wafer.columns) * wafer.rows > mostPes - mesh.base.back())
      return bad(absl::StrCat("a wafer of ", wafer.columns, " x ", wafer.rows,
                              " PEs: all wafers together may have from 1 to ",
                              mostPes));
    mesh.base.push_back(mesh.base.back() + int64_t(wafer.columns) * wafer.rows);
  }
  for (const Region &region : program.regions)
    if (absl::Status status = checkRegion(region, program.wafers); !status.ok())
      return status;
  auto wafers = static_cast<int64_t>(program.wafers.size());
  for (const WaferLink &link : program.links) {
    if (link.from < 0 || link.to < 0 || link.from >= wafers ||
        link.to >= wafers || link.rows < 1 || link.y < 0 || link.toY < 0 ||
        int64_t(link.y) + link.rows > program.wafers[link.from].rows ||
        int64_t(link.toY) + link.rows > program.wafers[link.to].rows)
      return bad(absl::StrCat("a link from wafer ", link.from, " to wafer ",
                              link.to, " for ", link.rows, " rows from ",
                              link.y, " to ", link.toY, " doesn't fit them"));
    int64_t columns = program.wafers[link.from].columns;
    int64_t toColumns = program.wafers[link.to].columns;
    mesh.seams.push_back(
        {mesh.base[link.from] + link.y * columns + columns - 1, link.rows,
         columns, mesh.base[link.to] + link.toY * toColumns, toColumns});
  }
  return mesh;
}

int32_t Mesh::waferOf(int64_t pe) const {
  return static_cast<int32_t>(std::upper_bound(base.begin(), base.end(), pe) -
                              base.begin() - 1);
}

int64_t Mesh::neighbour(int64_t pe, Port port) const {
  int32_t wafer = waferOf(pe);
  int64_t columns = shape[wafer].columns, local = pe - base[wafer];
  int64_t x = local % columns, y = local / columns;
  switch (port) {
  case Port::North:
    return y > 0 ? pe - columns : -1;
  case Port::South:
    return y + 1 < shape[wafer].rows ? pe + columns : -1;
  case Port::West:
    return x > 0 ? pe - 1 : -1;
  case Port::East:
    if (x + 1 < columns)
      return pe + 1;
    for (const Seam &seam : seams)
      if (pe >= seam.from && (pe - seam.from) % seam.fromStride == 0 &&
          (pe - seam.from) / seam.fromStride < seam.rows)
        return seam.to + (pe - seam.from) / seam.fromStride * seam.toStride;
    return -1;
  case Port::Core:
    break;
  }
  return -1;
}

bool Mesh::isWaferLink(int64_t pe, Port port) const {
  int32_t wafer = waferOf(pe);
  return port == Port::East &&
         (pe - base[wafer]) % shape[wafer].columns == shape[wafer].columns - 1;
}

std::string Mesh::text(int64_t pe) const {
  int32_t wafer = waferOf(pe);
  int64_t local = pe - base[wafer];
  std::string text = absl::StrCat("PE [", local % shape[wafer].columns, ", ",
                                  local / shape[wafer].columns, "]");
  if (shape.size() > 1)
    absl::StrAppend(&text, " of wafer ", wafer);
  return text;
}

absl::StatusOr<Routes> Routes::of(const FabricProgram &program,
                                  const Mesh &mesh,
                                  const FabricLimits &limits) {
  Routes routes;
  routes.colourCount = limits.colours;
  routes.table.assign(mesh.pes() * limits.colours, 0);
  for (const Region &region : program.regions)
    for (size_t i = 0; i < region.routes.size(); ++i) {
      const Route &route = region.routes[i];
      std::string where = absl::StrCat("region `", region.name, "`: route ", i);
      if (route.colour < 0 || route.colour >= limits.colours)
        return bad(absl::StrCat(where, " is of colour ", route.colour,
                                ": the machine has ", limits.colours));
      if (route.ports == 0 || route.ports >= 32)
        return bad(absl::StrCat(where, " has ports ", route.ports,
                                ": from 1 to 31 name ports"));
      absl::Status status;
      route.pes.forEach([&](int64_t x, int64_t y) {
        int64_t pe = mesh.number(region, x, y);
        uint8_t &entry = routes.table[pe * limits.colours + route.colour];
        if (entry != 0 && entry != route.ports)
          status.Update(
              bad(absl::StrCat(where, ": ", mesh.text(pe),
                               " has another route of colour ", route.colour)));
        entry = static_cast<uint8_t>(route.ports);
        for (int port = 0; port < 4; ++port)
          if (route.ports >> port & 1 &&
              mesh.neighbour(pe, static_cast<Port>(port)) < 0)
            status.Update(bad(
                absl::StrCat(where, " leaves the mesh at ", mesh.text(pe))));
      });
      if (!status.ok())
        return status;
    }
  return routes;
}

absl::StatusOr<std::vector<Receiver>>
Routes::receivers(const Mesh &mesh, int64_t pe, int64_t colour) const {
  std::vector<Receiver> found, waiting = {{pe, 0, 0}};
  std::unordered_set<int64_t> seen = {pe};
  while (!waiting.empty()) {
    Receiver at = waiting.back();
    waiting.pop_back();
    unsigned open = ports(at.pe, colour);
    if (open == 0)
      return bad(absl::StrCat("words of ", mesh.text(pe), " on colour ", colour,
                              " come to ", mesh.text(at.pe),
                              ", which has no route for them"));
    if (open >> static_cast<int>(Port::Core) & 1)
      found.push_back(at);
    for (int index = 3; index >= 0; --index) {
      if (!(open >> index & 1))
        continue;
      Port port = static_cast<Port>(index);
      int64_t next = mesh.neighbour(at.pe, port);
      if (!seen.insert(next).second)
        return bad(absl::StrCat("words of ", mesh.text(pe), " on colour ",
                                colour, " come to ", mesh.text(next),
                                " twice: the route goes in a circle"));
      bool crosses = mesh.isWaferLink(at.pe, port);
      waiting.push_back({next, at.hops + !crosses, at.crossings + crosses});
    }
  }
  return found;
}

} // namespace sol::fabric
