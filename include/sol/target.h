//===- target.h - the machines that Sol plans for ------------------------===//
//
// A target is data: a JSON file that says how many processing elements (PEs) a
// wafer has, what each holds and does in a cycle, and how wafers are linked.
// docs/targets.md describes the format and gives each constant's reason. The
// compiler and the simulator read targets by this header; nothing else in
// them says which machine it is. Computes no costs: that is machine/cost.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TARGET_H
#define SOL_TARGET_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sol {

/// How much a constant can be trusted.
enum class Certainty {
  Sure,   ///< stated by the vendor or its public SDK
  Likely, ///< from papers and talks, or derived from what is sure
  Free    ///< not published: a choice within a range
};

/// `sure`, `likely` or `free`, as in target files.
std::string_view certaintyName(Certainty certainty);

/// Where a constant of a target comes from.
struct TargetConstant {
  std::string path; ///< group and name, as in `router.ramp_cycles`
  std::string unit; ///< as in `cycles`
  double value = 0;
  Certainty certainty = Certainty::Free;
  std::string source; ///< who says so; for a free one, why this default
  /// The ends of the range; both equal `value` where the file gives none. A
  /// free constant always has a range.
  double low = 0, high = 0;
};

/// A machine: wafers that are all alike, each a mesh of PEs that are all alike.
/// Valid by construction when it comes from loadTarget or findTarget.
struct Target {
  std::string name;
  std::string description;
  std::string file; ///< where it was read from

  /// @name The mesh that software sees
  int64_t columns = 0; ///< PEs along x
  int64_t rows = 0;    ///< PEs along y
  /// Further columns, beyond `columns`, into which software may shift a row to
  /// get past a defective PE.
  int64_t spareColumns = 0;

  /// @name Memory of a PE
  int64_t bytesPerPe = 0;
  /// Part of bytesPerPe that code, stack and task tables take before a plan
  /// puts anything there.
  int64_t reservedBytesPerPe = 0;
  double readBytesPerCycle = 0;  ///< a PE's read ports
  double writeBytesPerCycle = 0; ///< a PE's write ports
  /// Reads and writes together that the whole wafer sustains, by PE and cycle.
  double trafficBytesPerCycle = 0;

  double clockHertz = 0;

  /// @name Arithmetic of a PE: multiply-adds in a cycle
  double float32Macs = 0;
  double float16Macs = 0;
  double int8Macs = 0;
  /// The part of those that a local product reaches, above 0 and up to 1.
  double laneFraction = 0;

  /// @name Routers
  int64_t wordBytes = 0;  ///< of a word, what a link carries in a cycle
  int64_t hopCycles = 0;  ///< router to neighbouring router
  int64_t rampCycles = 0; ///< core to its router, and back: T_R
  int64_t colours = 0;    ///< routes that a router can hold at once
  int64_t queueWords = 0; ///< words that a colour's queue holds in a router
  double startCycles = 0; ///< software begins a step: ready to first word

  /// @name Links between wafers, and the host
  double linkBytesPerSecond = 0; ///< in and out of a wafer, each
  double linkLatencySeconds = 0; ///< first byte out to first byte in
  double hostTripSeconds = 0;    ///< a token to the host and the next one back

  double systemWatts = 0; ///< a wafer with its power supply and cooling

  /// Every constant above, in the order above, with its source.
  std::vector<TargetConstant> constants;

  int64_t pes() const { return columns * rows; }
  /// Bytes of a PE that a plan may use.
  int64_t usableBytesPerPe() const { return bytesPerPe - reservedBytesPerPe; }
  /// Bytes of a wafer that a plan may use.
  int64_t usableBytes() const { return pes() * usableBytesPerPe(); }
  double seconds(double cycles) const { return cycles / clockHertz; }

  /// The entry of `constants` with that path; null if there is none.
  const TargetConstant *constant(std::string_view path) const;
  /// Changes one constant, as studies of the free ones do. The value needs to
  /// be one that a file could give; NotFound lists the paths otherwise.
  /// Example: `target.set("router.start_cycles", target.constant(
  /// "router.start_cycles")->high)`.
  absl::Status set(std::string_view path, double value);
};

/// Reads a target file. Errors are lines of the form
/// `FILE: field `router.colours`: is 0, must be from 1 to 1024: …`: NotFound
/// for a missing file, InvalidArgument for anything wrong in it, the first
/// problem only.
absl::StatusOr<Target> loadTarget(const std::string &path);

/// What `--target` means: a path if it has a slash or ends in `.json`, or else
/// the name of a target that came with Sol. NotFound lists the names.
absl::StatusOr<Target> findTarget(const std::string &nameOrFile);

/// The targets that came with Sol, sorted.
std::vector<std::string> targetNames();

/// The folder of the targets that came with Sol: `share/sol/targets` beside the
/// running program's folder, in a build tree as in an installation.
std::string targetFolder();

/// A rectangle of PEs of one wafer: columns x to x + width - 1, rows y to
/// y + height - 1.
struct PeRectangle {
  int64_t x = 0, y = 0, width = 0, height = 0;
};

/// Directions in which a router has a link, and its core.
enum class Port { North, East, South, West, Core };

/// What is broken on the wafers of a machine. Immutable.
class DefectMap {
public:
  /// Nothing is broken.
  DefectMap() = default;
  /// Reads a defect map (docs/targets.md) for `target`. Errors as loadTarget's;
  /// the map must be made for a target of this name and lie on its mesh.
  static absl::StatusOr<DefectMap> load(const std::string &path,
                                        const Target &target);

  /// Can this PE be used? True for wafers that the map says nothing about.
  bool works(int64_t wafer, int64_t x, int64_t y) const;
  /// Does the link from that PE to its neighbour on the mesh carry words? A
  /// link is broken in both directions, and with either of its PEs.
  bool linkWorks(int64_t wafer, int64_t x, int64_t y, Port towards) const;
  /// Broken PEs in a rectangle of the mesh, in constant time. A spare column
  /// counts as column `columns` and up.
  int64_t brokenPes(int64_t wafer, const PeRectangle &rectangle) const;
  bool empty() const { return wafers.empty(); }

private:
  struct Wafer {
    int64_t index = -1; ///< -1: every wafer that has no entry of its own
    /// Sums over rectangles from the corner, (columns + 1) x (rows + 1).
    std::vector<int32_t> sums;
    /// Broken links, as (y * columns + x) * 2 + (0: to the east, 1: south).
    std::vector<int64_t> links;
  };
  friend class DefectMapReader;
  const Wafer *wafer(int64_t index) const;

  int64_t columns = 0, rows = 0;
  std::vector<Wafer> wafers;
};

} // namespace sol

#endif // SOL_TARGET_H
