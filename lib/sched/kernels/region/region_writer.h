//===- region_writer.h - writes the program of one rectangle -------------===//
//
// Hands out memory, colours and registers of a region, and appends code. The
// kernels beside this file write through it; what they write is a program that
// the simulators execute without knowing who wrote it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SCHED_KERNELS_REGION_REGION_WRITER_H
#define SOL_LIB_SCHED_KERNELS_REGION_REGION_WRITER_H

#include "machine/cost/collective_model.h"
#include "runtime/fabric/program/program.h"

#include <map>

namespace sol::fabric {

/// The direction along which something goes: X along rows, Y along columns.
enum class Axis { X, Y };
inline Axis other(Axis axis) { return axis == Axis::X ? Axis::Y : Axis::X; }

/// `tokens` vectors of `size` elements, cut along one axis into shards of
/// `shard` elements, the last ones padded with zeros; all PEs across that axis
/// hold the same. Token t begins at element first + t * rowStep.
/// Axis::Y is what the fabric's layouts call by row, Axis::X by column.
struct Sharded {
  Axis axis = Axis::Y;
  int64_t size = 0;
  int32_t shard = 0;
  int32_t tokens = 1;
  int32_t buffer = -1;
  int32_t first = 0;
  int32_t rowStep = 0;

  /// As an operand with one row for each token.
  Operand operand() const { return {buffer, first, rowStep, 1, -1, 0}; }
  /// The same `n` elements later.
  Operand from(int32_t n) const {
    return {buffer, first + n, rowStep, 1, -1, 0};
  }
};

/// Lines of PEs that reduce together: for axis Y all columns of the region;
/// for axis X its rows, or `segments` pieces of `length` PEs of each from
/// column 0 on.
struct Lines {
  Axis axis = Axis::Y;
  int32_t length = 1;
  int32_t segments = 1;

  auto operator<=>(const Lines &) const = default;
};

/// Matrices of the weights, one for each turn of the loop that is open, or one.
using Weights = std::vector<int32_t>;

class RegionWriter {
public:
  /// Appends to region `region` of `program`; both must outlive it, and regions
  /// may not be added meanwhile.
  RegionWriter(FabricProgram &program, int32_t region, CollectiveModel &model)
      : program(program), index(region), model(model) {}

  Region &region() { return program.regions[index]; }
  PeSet all() { return {0, 0, region().columns, region().rows, 1, 1}; }
  int32_t extent(Axis axis) {
    return axis == Axis::X ? region().columns : region().rows;
  }
  Lines lines(Axis axis) { return {axis, extent(axis), 1}; }

  /// @name Memory: the same on all PEs
  int32_t buffer(const std::string &name, ElementType type, int64_t elements);
  /// Float32 scratch, maybe used before; give it back with `release`.
  int32_t temporary(int64_t elements);
  void release(int32_t buffer) { free.push_back(buffer); }
  Sharded vector(Axis axis, int64_t size, int32_t tokens);
  int64_t bytesUsed() const { return bytes; }

  /// Fills a part of `into` from the matrices of `weights`, which lie `perTurn`
  /// elements after each other; the slice says the rest.
  void load(const Weights &weights, Slice slice, int32_t perTurn);

  /// @name Registers and loops
  /// The lowest one that is free; give it back with `releaseRegister`.
  int32_t newRegister();
  void releaseRegister(int32_t index) { freeRegisters.push_back(index); }
  int32_t registersUsed() const { return registers; }
  /// Code up to endLoop runs `count` times, with weights of its own each time.
  void beginLoop(int32_t count);
  void endLoop();
  /// Turns of the open loop; 1 without.
  int32_t turns() const { return loopCount; }
  int32_t loopRegister() const { return loop; }
  /// An operand that moves by `step` elements with each turn of the loop.
  Operand perTurn(Operand operand, int32_t step) const;

  /// @name Code
  void emit(const Instruction &instruction) { emit(all(), instruction); }
  void emit(const PeSet &pes, const Instruction &instruction);
  void setRegister(int32_t target, const Expression &expression);
  /// dst = opcode(a, b) over rows x n.
  void local(Opcode opcode, Count rows, Count n, Operand dst, Operand a,
             Operand b = {}, Operand c = {}, float scale = 1, float shift = 0);

  /// @name Collectives
  /// rows x n elements of `data` become their combination over each line, on
  /// every PE of it. Does nothing on lines of one PE.
  void allReduce(const Lines &lines, const Operand &data, Count rows, Count n,
                 Combine combine);
  /// rows x n elements go from PE [0, 0] of the region to all others.
  void broadcast(const Operand &data, Count rows, Count n);
  int32_t coloursUsed() const { return colours; }
  /// Words on links are two float16 where that is allowed.
  bool packed = false;
  /// Colours that the tree of one kind of lines may take.
  int mostTreeColours = 6;

private:
  /// The tree of a kind of lines, with its colours.
  struct Tree {
    ReductionTree shape;
    std::vector<int> messages; ///< colour of each PE's message
    int32_t broadcast = -1;
  };
  Tree &treeOf(const Lines &lines, int64_t words);
  void addRoutes(const Lines &lines, const Tree &tree);
  /// Sets of PEs at those positions of all lines.
  std::vector<PeSet> setsAt(const Lines &lines,
                            const std::vector<int64_t> &positions);

  FabricProgram &program;
  int32_t index;
  CollectiveModel &model;
  std::vector<int32_t> free;
  std::vector<int32_t> freeRegisters;
  int64_t bytes = 0;
  int32_t registers = 0;
  int32_t colours = 0;
  int32_t loop = -1, loopCount = 1;
  int32_t broadcastColour = -1;
  std::map<Lines, Tree> trees;
};

} // namespace sol::fabric

#endif // SOL_LIB_SCHED_KERNELS_REGION_REGION_WRITER_H
