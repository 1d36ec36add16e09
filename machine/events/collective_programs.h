//===- collective_programs.h - collectives as programs of a mesh ---------===//
//
// Writes the instructions and routes of collectives: what a PE program holds
// for them. Each function appends to a program, so that one collective follows
// another; colours are new ones from MeshProgram::colours on.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_EVENTS_COLLECTIVE_PROGRAMS_H
#define SOL_MACHINE_EVENTS_COLLECTIVE_PROGRAMS_H

#include "machine/cost/reduction_tree.h"
#include "machine/events/event_mesh.h"

namespace sol {

/// A row or a column of PEs of a mesh, or any path of neighbours.
using MeshLine = std::vector<int64_t>;
MeshLine rowOf(const MeshProgram &program, int64_t y);
MeshLine columnOf(const MeshProgram &program, int64_t x);
/// All PEs, row after row, every other row backwards: neighbours throughout.
MeshLine snakeOf(const MeshProgram &program);

/// Reduces elements 0 to words - 1 over a line; PE tree.root of it stores the
/// sum. `schedule` gives the order of children.
void addReduction(MeshProgram &program, const MeshLine &line,
                  const ReductionTree &tree, const ReductionSchedule &schedule,
                  int64_t words);

/// Copies elements 0 to words - 1 from PE `root` of a line to the others.
void addBroadcast(MeshProgram &program, const MeshLine &line, int64_t root,
                  int64_t words);

/// Copies elements from PE (rootX, rootY) to the whole mesh, by one message
/// that goes along the root's row and from there along the columns.
void addMeshBroadcast(MeshProgram &program, int64_t rootX, int64_t rootY,
                      int64_t words);

/// PE i of the line ends with the sum of part i, of `part` words.
void addReduceScatter(MeshProgram &program, const MeshLine &line, int64_t part);
/// PE i brings part i, of `part` words; all end with all parts.
void addAllGather(MeshProgram &program, const MeshLine &line, int64_t part);

} // namespace sol

#endif // SOL_MACHINE_EVENTS_COLLECTIVE_PROGRAMS_H
