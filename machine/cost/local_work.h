//===- local_work.h - what a PE computes on its own ----------------------===//
//
// Cycles of products and vector operations on one PE: the larger of what its
// lanes and what its memory take. No messages, and no starts: those are counted
// from the program.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_LOCAL_WORK_H
#define SOL_MACHINE_COST_LOCAL_WORK_H

#include "sol/target.h"

namespace sol {

/// How numbers are held.
enum class NumberFormat { Float32, Float16, Int8 };

int64_t bytesOf(NumberFormat format);
std::string_view numberFormatName(NumberFormat format);
/// Words of a vector of `elements` on the fabric, rounded up.
int64_t wordsOf(const Target &target, NumberFormat format, int64_t elements);

/// Where sums are while they grow.
enum class Accumulators {
  Registers,     ///< an output at a time: no traffic for the sums
  MemoryFloat16, ///< read and written for each multiply-add, 2 bytes
  MemoryFloat32  ///< the same, 4 bytes
};

/// A product of a matrix that a PE holds with vectors that it holds:
/// `inputs` x `outputs` weights, each used for `vectors` vectors.
struct LocalProduct {
  int64_t inputs = 0, outputs = 0, vectors = 1;
  NumberFormat weights = NumberFormat::Float16;
  NumberFormat activations = NumberFormat::Float16;
  Accumulators accumulators = Accumulators::Registers;
};

/// What decides a time.
enum class LocalLimit { Arithmetic, Memory };

struct LocalCost {
  int64_t cycles = 0;
  LocalLimit limit = LocalLimit::Arithmetic;
};

/// Multiply-adds in a cycle that the lanes can do: those of the wider format,
/// times `arithmetic.lane_fraction`. Source: docs/targets.md.
double laneRate(const Target &target, NumberFormat weights,
                NumberFormat activations);

/// Multiply-adds in a cycle that memory can feed: a weight and an element of
/// the vector are read for each, and the sum is read and written if it is in
/// memory; `vectors` and `outputs` above 1 keep operands in registers, up to 4
/// of a kind. The least of read ports, write ports and the wafer's total.
/// Hence 4 float16 or 8 int8 multiply-adds for a matrix-vector product at most,
/// whatever the lanes. Source: ports and total of docs/targets.md; the 4 are a
/// choice of ours (docs/decisions/0013).
double memoryRate(const Target &target, const LocalProduct &product);

/// inputs x outputs x vectors / the lesser rate, rounded up.
LocalCost productCycles(const Target &target, const LocalProduct &product);

/// An operation on vectors of `elements`: `operations` multiply-adds or their
/// like for each element, `reads` and `writes` operands of that format. The
/// larger of lanes and memory, rounded up.
LocalCost vectorCycles(const Target &target, NumberFormat format,
                       int64_t elements, int64_t operations, int64_t reads,
                       int64_t writes);

} // namespace sol

#endif // SOL_MACHINE_COST_LOCAL_WORK_H
