//===- mesh.h - the PEs of all wafers, and the way of words --------------===//
//
// Numbers all PEs, joins wafers by their links, and follows colours from a
// sender to its receivers.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_PROGRAM_MESH_H
#define SOL_RUNTIME_FABRIC_PROGRAM_MESH_H

#include "runtime/fabric/program/program.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sol/target.h"

namespace sol::fabric {

/// What a machine sets bounds to.
struct FabricLimits {
  int64_t colours = 24;
  int64_t queueWords = 4;      ///< of a colour in a router
  int64_t bytesPerPe = 46'080; ///< that buffers may use
  int64_t codeBytes = 3'072;   ///< that instructions may use

  static FabricLimits of(const Target &target) {
    return {target.colours, target.queueWords, target.usableBytesPerPe(),
            target.reservedBytesPerPe};
  }
};

/// Most PEs of a program that is executed PE by PE.
inline constexpr int64_t mostPes = 1 << 21;

/// PEs are numbered wafer after wafer, row after row.
class Mesh {
public:
  /// InvalidArgument for wafers, regions, links or sets that don't fit.
  static absl::StatusOr<Mesh> of(const FabricProgram &program);

  int64_t pes() const { return base.back(); }
  int64_t number(const Region &region, int64_t x, int64_t y) const {
    return base[region.wafer] + (region.y + y) * shape[region.wafer].columns +
           region.x + x;
  }
  /// Where a word goes through a port of the mesh (not Core): -1 for nowhere.
  int64_t neighbour(int64_t pe, Port port) const;
  /// Is that way a link between wafers?
  bool isWaferLink(int64_t pe, Port port) const;
  int32_t waferOf(int64_t pe) const;
  /// `PE [3, 4]`, with `of wafer 1` where there are several.
  std::string text(int64_t pe) const;

private:
  struct Seam {
    int64_t from, rows, fromStride, to, toStride;
  };
  std::vector<Wafer> shape;
  std::vector<int64_t> base; ///< of each wafer, and the end
  std::vector<Seam> seams;
};

/// A PE that a message comes to.
struct Receiver {
  int64_t pe = 0;
  int32_t hops = 0;      ///< links within wafers
  int32_t crossings = 0; ///< links between wafers
};

/// Ports of every router and colour.
class Routes {
public:
  /// InvalidArgument for colours beyond the limit, ports that don't exist, and
  /// routers that would have two routes of a colour.
  static absl::StatusOr<Routes> of(const FabricProgram &program,
                                   const Mesh &mesh,
                                   const FabricLimits &limits);

  int64_t colours() const { return colourCount; }
  unsigned ports(int64_t pe, int64_t colour) const {
    return table[pe * colourCount + colour];
  }
  /// Who gets what `pe` sends on `colour`, by routers' order of ports.
  /// InvalidArgument if words would leave the mesh, come to a router without a
  /// route, or go in a circle.
  absl::StatusOr<std::vector<Receiver>> receivers(const Mesh &mesh, int64_t pe,
                                                  int64_t colour) const;

private:
  int64_t colourCount = 0;
  std::vector<uint8_t> table;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_PROGRAM_MESH_H
