//===- program.h - a function of a plan, ready to be interpreted ----------===//
//
// What the plan reader makes of the description: checked once, so that the
// interpreter need not check again that indices are in range.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_PLAN_PROGRAM_H
#define SOL_RUNTIME_PLAN_PROGRAM_H

#include "runtime/cpu/kernel.h"
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

struct ProgramBlock;

/// One step. `kernel` is null for control flow.
struct ProgramStep {
  fb::StepKind kind = fb::StepKind_Kernel;
  const KernelDefinition *kernel = nullptr;
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
