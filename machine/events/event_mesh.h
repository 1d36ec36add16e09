//===- event_mesh.h - a mesh, word by word -------------------------------===//
//
// Runs programs of PEs on a mesh of routers, one event for each word and hop,
// with real numbers in the words. It knows instructions, words and hops, and
// no collective: what it takes is what the closed forms are tested against.
// Rules E1-E4 are in docs/decisions/0013. Queues of routers are as long as
// they need to be; the longest is reported.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_EVENTS_EVENT_MESH_H
#define SOL_MACHINE_EVENTS_EVENT_MESH_H

#include "machine/cost/fabric_timing.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace sol {

/// One instruction of a PE: handles `words` words, one a cycle at most. Word i
/// is element `first` + i * `step` of the PE's memory. What is handled is the
/// element, or the word that comes on colour `in`, or their sum; it is stored,
/// sent on colour `out`, or both.
struct MeshInstruction {
  int64_t words = 0;
  int64_t first = 0, step = 1;
  int in = -1;        ///< colour that words come on; -1: none, send the memory
  int out = -1;       ///< colour that words leave on; -1: none
  bool add = false;   ///< add the element to what comes
  bool store = false; ///< put the result into memory
  /// Words of a link that several want go by this, the least first.
  int priority = 0;
};

/// Where a router sends the words of a colour, whatever port they come from.
struct MeshRoute {
  int64_t pe = 0; ///< y * width + x
  int colour = 0;
  unsigned ports = 0; ///< bits 1 << Port
};

/// What a mesh is to run.
struct MeshProgram {
  int64_t width = 0, height = 0;
  int colours = 0;
  std::vector<MeshRoute> routes;
  std::vector<std::vector<MeshInstruction>> instructions; ///< of each PE
  std::vector<std::vector<int64_t>> memory;               ///< of each PE

  MeshProgram(int64_t width, int64_t height, int64_t words)
      : width(width), height(height), instructions(width * height),
        memory(width * height, std::vector<int64_t>(words)) {}
  int64_t pe(int64_t x, int64_t y) const { return y * width + x; }
};

struct MeshResult {
  int64_t cycles = 0;        ///< the end of the last instruction
  std::vector<int64_t> ends; ///< of each PE's last instruction
  std::vector<std::vector<int64_t>> memory;
  int64_t events = 0;
  int64_t longestQueue = 0; ///< words of one colour that waited in one place
};

/// Runs to the end. InvalidArgument for a program that doesn't fit its mesh;
/// FailedPrecondition, saying who waits for what, if PEs wait for words that
/// never come; ResourceExhausted after `mostEvents` events.
absl::StatusOr<MeshResult> runMesh(const FabricTiming &timing,
                                   const MeshProgram &program,
                                   int64_t mostEvents = 400'000'000);

} // namespace sol

#endif // SOL_MACHINE_EVENTS_EVENT_MESH_H
