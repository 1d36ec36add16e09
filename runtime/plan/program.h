//===- program.h - a function of a plan, ready to be interpreted ----------===//
//
// What the plan reader makes of the description: checked once, so that the
// interpreter need not check again that indices are in range.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_PLAN_PROGRAM_H
#define SOL_RUNTIME_PLAN_PROGRAM_H

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/native_call.h"
#include "runtime/plan/plan_generated.h"

#include <string>
#include <vector>

namespace sol {

struct ProgramValue {
  fb::ValueKind kind = fb::ValueKind_Absent;
  DType type = DType::None;
  int slot = -1;
  Dims dims;                  ///< constants only
  const void *data = nullptr; ///< constants only: inside the mapped plan
};

/// How a tensor lies in the space of a compiled loop: `axes` has for each of
/// its axes the dimension of the space that runs along it, -1 for size 1.
struct ProgramNativeOperand {
  DType type = DType::None;
  std::vector<int> axes;
};

/// A group of operators that the compiler fused to one function. Example: rows
/// of `[2, 3, 8]` times a vector of 8 is `groups` {0, 0, 1}, `sizes` 2,
/// operands {0, 1, 2} and {2}; the code sees the sizes 6 and 8.
struct ProgramNativeLoop {
  std::string name;
  std::vector<int>
      groups;    ///< for each dimension: the code's size it is part of
  int sizes = 1; ///< of the code
  std::vector<ProgramNativeOperand> operands, results;
  bool byRows = false;           ///< units of a call are rows, not elements
  int64_t scratch = 0;           ///< bytes for each element of a row
  std::vector<uint64_t> entries; ///< offset of the function in each image
  /// Null if the plan was opened without its code (PlanOpenOptions::loadCode).
  NativeFunction function = nullptr;
};

struct ProgramBlock;

/// One step. `kernel` is null for control flow and compiled loops; `loop` is
/// there for these alone, and `call.kernel` is its name.
struct ProgramStep {
  fb::StepKind kind = fb::StepKind_Kernel;
  const KernelDefinition *kernel = nullptr;
  const ProgramNativeLoop *loop = nullptr; ///< of the plan
  KernelCall call;
  std::vector<int> inputs, outputs;
  bool view = false;
  std::vector<ProgramBlock> blocks;
};

struct ProgramBlock {
  std::vector<int> arguments;
  std::vector<ProgramStep> steps;
  std::vector<int> results;
};

/// An input or output as the caller sees it.
struct ProgramPort {
  std::string name;
  int value = -1;
  DType type = DType::None;
  bool hasRank = false;
  std::vector<std::string> sizes; ///< numbers or expressions over symbols
  std::string role;
  int partner = -1;
};

/// An output that feeds an input of another function; all as indices.
struct ProgramLink {
  int fromFunction = 0, fromOutput = 0, toFunction = 0, toInput = 0;
};

struct Program {
  std::string name;
  std::vector<ProgramPort> inputs, outputs;
  std::vector<ProgramValue> values;
  ProgramBlock body;
  int slots = 0;
  int64_t context = 0; ///< most positions of a sequence, 0 if not limited
};

} // namespace sol

#endif // SOL_RUNTIME_PLAN_PROGRAM_H
