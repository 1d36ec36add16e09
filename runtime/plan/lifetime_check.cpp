//===- lifetime_check.cpp - are values there when steps read them? --------===//
//
// Each write of a slot starts a generation of it; a value is there as long as
// its slot has the generation that it was written in. Mirrors what
// runtime/session/executor.cpp does with values, one function for each.
//
//===----------------------------------------------------------------------===//
#include "runtime/plan/lifetime_check.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <cstdint>

namespace sol {
namespace {

/// Nested loops double the work with each level: hostile ones are cut off.
constexpr int64_t maxVisitedSteps = int64_t(1) << 24;

class LifetimeCheck {
public:
  explicit LifetimeCheck(const Program &program)
      : program(program), lives(program.values.size()),
        generations(program.slots) {}

  absl::Status run() {
    for (const ProgramPort &port : program.inputs)
      lives[port.value] = {true, -1, 0};
    if (absl::Status status = checkBlock(program.body); !status.ok())
      return status;
    for (const ProgramPort &port : program.outputs)
      if (!isThere(port.value))
        return absl::InvalidArgumentError(
            absl::StrCat("output `", port.name, "` is never computed"));
    return absl::OkStatus();
  }

private:
  /// Where a value lies; in memory that isn't a slot if `slot` is negative.
  struct Life {
    bool made = false;
    int slot = -1;
    uint64_t generation = 0;
  };

  fb::ValueKind kindOf(int value) const { return program.values[value].kind; }

  bool isThere(int value) const {
    if (kindOf(value) == fb::ValueKind_Constant ||
        kindOf(value) == fb::ValueKind_Absent)
      return true;
    const Life &life = lives[value];
    return life.made &&
           (life.slot < 0 || generations[life.slot] == life.generation);
  }

  void write(int value) {
    int slot = program.values[value].slot;
    lives[value] = {true, slot, ++generations[slot]};
  }

  template <typename... Parts>
  static absl::Status fault(const ProgramStep &step, const Parts &...parts) {
    return absl::InvalidArgumentError(
        absl::StrCat("step `", step.call.location, "` ", parts...));
  }

  absl::Status checkRead(const ProgramStep &step, int value) const {
    return isThere(value)
               ? absl::OkStatus()
               : fault(step, "reads value ", value, ", which is not there");
  }

  absl::Status checkBlock(const ProgramBlock &block) {
    for (const ProgramStep &step : block.steps) {
      if (++visited > maxVisitedSteps)
        return fault(step, "lies in too many loops");
      absl::Status status = step.kind == fb::StepKind_If     ? checkIf(step)
                            : step.kind == fb::StepKind_Loop ? checkLoop(step)
                                                             : checkCall(step);
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  /// Values of a block are gone with it.
  void forget(const ProgramBlock &block) {
    for (const ProgramStep &step : block.steps)
      for (int output : step.outputs)
        lives[output].made = false;
    for (int argument : block.arguments)
      lives[argument].made = false;
  }

  /// Whether the kernel reads operand `index` as a cache.
  static bool takesCache(const ProgramStep &step, size_t index) {
    if (step.loop)
      return false;
    if (absl::StartsWith(step.call.kernel, "nn.cache_"))
      return index == 0;
    if (step.call.kernel != "nn.attention" || (index != 1 && index != 2))
      return false;
    absl::StatusOr<int64_t> cached = step.call.attributes.integer("cached", 0);
    return cached.ok() && *cached != 0;
  }

  /// A kernel, or a compiled loop.
  absl::Status checkCall(const ProgramStep &step) {
    if (step.outputs.empty())
      return fault(step, "gives nothing");
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      int input = step.inputs[i];
      if (absl::Status status = checkRead(step, input); !status.ok())
        return status;
      if ((kindOf(input) == fb::ValueKind_State) != takesCache(step, i))
        return fault(step, "takes value ", input,
                     " for a cache or not one wrongly");
    }
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (absl::Status status = checkOutput(step, i); !status.ok())
        return status;
    for (size_t i = 0; i < step.outputs.size(); ++i)
      make(step, i);
    for (int output : step.outputs)
      if (!isThere(output))
        return fault(step, "writes two values to one slot");
    return absl::OkStatus();
  }

  /// May output `index` be written while the inputs are read?
  absl::Status checkOutput(const ProgramStep &step, size_t index) const {
    int output = step.outputs[index];
    if (kindOf(output) == fb::ValueKind_State &&
        (step.inputs.empty() || kindOf(step.inputs[0]) != fb::ValueKind_State))
      return fault(step, "makes a cache of something else");
    if (kindOf(output) != fb::ValueKind_Slot)
      return absl::OkStatus();
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const Life &life = lives[step.inputs[i]];
      if (!mayWriteOver(step, index, i) && life.made &&
          life.slot == program.values[output].slot)
        return fault(step, "writes value ", output, " over value ",
                     step.inputs[i], ", which it reads");
    }
    return absl::OkStatus();
  }

  /// Does `step` read each element of operand `input` before it writes the
  /// element of output `index` that lies there?
  static bool mayWriteOver(const ProgramStep &step, size_t index,
                           size_t input) {
    if (!step.loop)
      return index == 0 && step.kernel->inPlace == static_cast<int>(input);
    const ProgramNativeOperand &from = step.loop->operands[input];
    const ProgramNativeOperand &to = step.loop->results[index];
    return from.axes == to.axes && bitWidth(from.type) == bitWidth(to.type);
  }

  void make(const ProgramStep &step, size_t index) {
    int output = step.outputs[index];
    if (kindOf(output) == fb::ValueKind_Slot)
      write(output);
    else if (kindOf(output) == fb::ValueKind_View)
      lives[output] = lives[step.inputs[0]];
    lives[output].made = true;
  }

  absl::Status checkCopy(const ProgramStep &step, int from, int to) {
    if (kindOf(to) == fb::ValueKind_Absent)
      return absl::OkStatus();
    if (kindOf(to) != fb::ValueKind_Slot || kindOf(from) == fb::ValueKind_State)
      return fault(step, "passes on value ", from, " as value ", to,
                   " of another kind");
    if (absl::Status status = checkRead(step, from); !status.ok())
      return status;
    write(to);
    return absl::OkStatus();
  }

  absl::Status checkIf(const ProgramStep &step) {
    if (absl::Status status = checkRead(step, step.inputs[0]); !status.ok())
      return status;
    for (const ProgramBlock &block : step.blocks) {
      if (absl::Status status = checkBlock(block); !status.ok())
        return status;
      for (size_t i = 0; i < step.outputs.size(); ++i)
        if (absl::Status status =
                checkBranchResult(step, block.results[i], step.outputs[i]);
            !status.ok())
          return status;
      forget(block);
    }
    return absl::OkStatus();
  }

  /// A cache leaves a branch as it is, anything else as a copy.
  absl::Status checkBranchResult(const ProgramStep &step, int from, int to) {
    if (kindOf(from) != fb::ValueKind_State ||
        kindOf(to) != fb::ValueKind_State)
      return checkCopy(step, from, to);
    if (absl::Status status = checkRead(step, from); !status.ok())
      return status;
    lives[to] = {true, -1, 0};
    return absl::OkStatus();
  }

  absl::Status checkLoop(const ProgramStep &step) {
    size_t carried = step.inputs.size() - 2;
    for (size_t i = 0; i < 2; ++i)
      if (absl::Status status = checkRead(step, step.inputs[i]); !status.ok())
        return status;
    for (int argument : step.blocks[0].arguments)
      if (kindOf(argument) != fb::ValueKind_Slot)
        return fault(step, "has argument ", argument, " of another kind");
    for (size_t i = 0; i < carried; ++i)
      if (absl::Status status =
              checkCopy(step, step.inputs[i + 2], step.outputs[i]);
          !status.ok())
        return status;
    // What the first iteration overwrites the second would miss.
    for (bool first : {true, false})
      if (absl::Status status = checkIteration(step, carried, first);
          !status.ok())
        return status;
    return absl::OkStatus();
  }

  absl::Status checkIteration(const ProgramStep &step, size_t carried,
                              bool first) {
    const ProgramBlock &body = step.blocks[0];
    // The interpreter's own variables.
    lives[body.arguments[0]] = lives[body.arguments[1]] = {true, -1, 0};
    for (size_t i = 0; i < carried; ++i)
      if (absl::Status status =
              checkCopy(step, step.outputs[i], body.arguments[i + 2]);
          !status.ok())
        return status;
    if (absl::Status status = checkBlock(body); !status.ok())
      return status;
    if (absl::Status status = checkRead(step, body.results[0]); !status.ok())
      return status;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      int from = body.results[i + 1], to = step.outputs[i];
      // A stacked value grows where it lies.
      if (i >= carried && !first && !isThere(to))
        return fault(step, "overwrites value ", to, ", which it stacks");
      if (absl::Status status = checkCopy(step, from, to); !status.ok())
        return status;
    }
    forget(body);
    return absl::OkStatus();
  }

  const Program &program;
  std::vector<Life> lives;           ///< for each value
  std::vector<uint64_t> generations; ///< for each slot
  int64_t visited = 0;
};

} // namespace

absl::Status checkLifetimes(const Program &program) {
  return LifetimeCheck(program).run();
}

} // namespace sol
