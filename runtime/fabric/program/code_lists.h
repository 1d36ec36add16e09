//===- code_lists.h - the code of each PE, put together ------------------===//
//
// A PE's code is all pieces that it is in, in order. PEs in the same pieces
// share one list; operands are resolved to bytes of memory.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_PROGRAM_CODE_LISTS_H
#define SOL_RUNTIME_FABRIC_PROGRAM_CODE_LISTS_H

#include "runtime/fabric/program/mesh.h"

#include <memory>

namespace sol::fabric {

/// An operand with what its buffer says.
struct Place {
  int32_t offset = 0;    ///< bytes
  int32_t elements = -1; ///< of the buffer; -1: no operand
  ElementType type = ElementType::Float32;
  int32_t first = 0, rowStep = 0, step = 1, reg = -1, regStep = 0;
  int32_t buffer = -1; ///< of the region
};

/// An instruction as the simulators execute it.
struct Step {
  Opcode opcode = Opcode::Copy;
  int32_t guard = -1;
  Place dst, a, b, c;
  const Instruction *source = nullptr;
  int32_t region = 0;
  /// Registers decide which elements it touches.
  bool moves = false;
};

/// What PEs with the same pieces execute.
struct CodeList {
  std::vector<const Step *> steps;
  /// Index of the partner of a Loop or EndLoop; 0 for others.
  std::vector<int32_t> partner;
};

/// Deepest nesting of loops.
inline constexpr int mostLoops = 3;

class CodeLists {
public:
  /// InvalidArgument for operands, registers and counts that can't be, for
  /// loops that don't nest, and where a set of code isn't in that of a buffer.
  static absl::StatusOr<CodeLists> of(const FabricProgram &program,
                                      const Mesh &mesh,
                                      const FabricLimits &limits);

  const CodeList &of(int64_t pe) const { return lists[listOf[pe]]; }
  int64_t distinct() const { return static_cast<int64_t>(lists.size()); }
  /// Bytes of memory that a PE's buffers reach up to.
  int32_t memoryBytes(int64_t pe) const { return memory[pe]; }

private:
  absl::Status addMemory(const Region &region, const Mesh &mesh,
                         const FabricLimits &limits);

  std::vector<std::vector<std::vector<Step>>> steps; ///< region, piece
  std::vector<CodeList> lists;
  std::vector<int32_t> listOf;
  std::vector<int32_t> memory;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_PROGRAM_CODE_LISTS_H
