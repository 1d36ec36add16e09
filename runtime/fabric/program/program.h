//===- program.h - the program of a fabric, as data ----------------------===//
//
// What a plan holds for wafers: memory, routes and code of their PEs, for sets
// of PEs and never for each. docs/fabric-program.md describes it, and
// program_file.h stores it. Says nothing about operators of a model.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_PROGRAM_PROGRAM_H
#define SOL_RUNTIME_FABRIC_PROGRAM_PROGRAM_H

#include "runtime/fabric/program/instruction.h"

#include <string>
#include <vector>

namespace sol::fabric {

/// PEs (x + i * xStep, y + j * yStep) of a region, i < columns, j < rows.
struct PeSet {
  int32_t x = 0, y = 0, columns = 1, rows = 1, xStep = 1, yStep = 1;

  int64_t size() const { return int64_t(columns) * rows; }
  /// Calls `f(x, y)` for every PE, row by row.
  template <typename Function> void forEach(Function f) const {
    for (int32_t j = 0; j < rows; ++j)
      for (int32_t i = 0; i < columns; ++i)
        f(x + i * xStep, y + j * yStep);
  }
  bool operator==(const PeSet &) const = default;
};

/// constant + x * PE's x + y * PE's y, coordinates from the region's corner.
struct Affine {
  int64_t constant = 0, x = 0, y = 0;

  int64_t at(int64_t peX, int64_t peY) const {
    return constant + x * peX + y * peY;
  }
  bool operator==(const Affine &) const = default;
};

enum class ElementType : uint8_t { Float32, Float16 };
inline int64_t elementBytes(ElementType type) {
  return type == ElementType::Float32 ? 4 : 2;
}

/// A range of memory, at the same place on every PE of a set. Zero before the
/// first step but for its slices; kept from step to step.
struct Buffer {
  std::string name;
  PeSet pes;
  ElementType type = ElementType::Float32;
  int32_t offset = 0; ///< bytes, a multiple of 4
  int32_t elements = 0;

  int64_t bytes() const { return elements * elementBytes(type); }
};

/// A matrix outside the fabric: weights, or what the host gives and takes.
/// Element (r, c) is number r * rowStride + c * columnStride.
struct Tensor {
  std::string name;
  ElementType type = ElementType::Float32;
  int64_t rows = 1, columns = 1;
  int64_t rowStride = 1, columnStride = 1;
  uint64_t offset = 0; ///< weights: bytes from the start of the section
};

/// Which part of a matrix a PE has: element
/// first + r * rowStep + c * columnStep of the buffer is element
/// (row + r, column + c) of the matrix. Where that lies at or beyond rowEnd or
/// columnEnd, the buffer's element is 0, and isn't taken out.
struct Slice {
  PeSet pes;
  int32_t tensor = 0;
  int32_t buffer = 0;
  int32_t first = 0, rows = 1, columns = 1, rowStep = 0, columnStep = 1;
  Affine row, column;
  int64_t rowEnd = 1, columnEnd = 1;
};

/// Where routers send the words of a colour, whatever port they come from:
/// bits 1 << Port (sol/target.h).
struct Route {
  PeSet pes;
  int32_t colour = 0;
  uint32_t ports = 0;
};

/// Instructions of the PEs of a set. A PE runs all pieces that it is in, in
/// their order.
struct Piece {
  PeSet pes;
  std::vector<Instruction> code;
};

/// A rectangle of PEs of a wafer, and what is on it. A PE may lie in several
/// regions, and runs the code of one after the other's.
struct Region {
  std::string name;
  int32_t wafer = 0;
  int32_t x = 0, y = 0, columns = 1, rows = 1;
  std::vector<Buffer> buffers;
  std::vector<Slice> weights; ///< of FabricProgram::weights
  std::vector<Slice> inputs;  ///< of FabricProgram::inputs, at each step
  std::vector<Slice> outputs; ///< of FabricProgram::outputs, after each step
  std::vector<Route> routes;
  std::vector<Piece> code;
};

struct Wafer {
  int32_t columns = 0, rows = 0;
};

/// Rows y to y + rows - 1 of the east edge of a wafer go on at the west edge
/// of another, rows toY and on; words keep their colour.
struct WaferLink {
  int32_t from = 0, y = 0, rows = 0, to = 0, toY = 0;
};

/// All that a fabric runs: one step is what one call of the host does.
struct FabricProgram {
  std::vector<Wafer> wafers;
  std::vector<WaferLink> links;
  std::vector<Tensor> weights;
  std::vector<Tensor> inputs, outputs;
  std::vector<Region> regions;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_PROGRAM_PROGRAM_H
