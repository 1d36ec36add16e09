//===- verify_control.cpp - registers, words and addresses ---------------===//
//
// Follows the control of every PE through some steps: registers that come from
// memory are unknown, everything else is computed.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/program/addresses.h"
#include "runtime/fabric/verify/verify.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace sol::fabric {
namespace {

/// Most instructions of a PE and step that are followed.
constexpr int64_t mostFollowed = 1 << 24;

class ControlRun {
public:
  ControlRun(const VerifiedParts &parts, int64_t colours)
      : parts(parts), colours(colours),
        registers(parts.mesh.pes() * registerCount, 0),
        known(parts.mesh.pes(), 0xffff) {}

  void setRegisters(const std::vector<int32_t> &start);
  absl::Status step();

private:
  absl::Status follow();
  absl::Status execute(const Step &step);
  absl::Status loop(const Step &step);
  absl::Status checkOperands(const Step &step);
  absl::Status compareWords() const;
  bool isKnown(int32_t reg) const {
    return reg < 0 || (known[pe] >> reg & 1) != 0;
  }
  bool isKnown(const Count &count) const { return isKnown(count.reg); }
  void set(int32_t reg, bool isKnown) {
    known[pe] = static_cast<uint16_t>(isKnown ? known[pe] | 1u << reg
                                              : known[pe] & ~(1u << reg));
  }
  absl::Status bad(const std::string &what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(parts.mesh.text(pe), ", instruction ", next, " (",
                     opcodeName(list->steps[next]->opcode), "): ", what));
  }

  const VerifiedParts &parts;
  int64_t colours;
  std::vector<int32_t> registers;
  std::vector<uint16_t> known; ///< a bit for each register
  std::vector<int64_t> sent, taken;
  int64_t pe = 0;
  const CodeList *list = nullptr;
  int32_t next = 0;
  std::vector<std::pair<int32_t, int64_t>> loops; ///< begin, turns left
};

void ControlRun::setRegisters(const std::vector<int32_t> &start) {
  for (int64_t pe = 0; pe < parts.mesh.pes(); ++pe)
    for (size_t i = 0; i < start.size() && i < registerCount; ++i)
      registers[pe * registerCount + i] = start[i];
}

absl::Status ControlRun::loop(const Step &step) {
  const Instruction &item = *step.source;
  int32_t *values = registers.data() + pe * registerCount;
  if (step.opcode == Opcode::EndLoop) {
    if (--loops.back().second == 0) {
      loops.pop_back();
      ++next;
    } else {
      ++values[list->steps[list->partner[next]]->source->target];
      next = loops.back().first;
    }
    return absl::OkStatus();
  }
  if (!isKnown(item.n))
    return bad("how often it repeats depends on data (F4)");
  int64_t count = valueOf(item.n, values);
  if (count == 0) {
    next = list->partner[next] + 1;
    return absl::OkStatus();
  }
  values[item.target] = 0;
  set(item.target, true);
  loops.push_back({++next, count});
  return absl::OkStatus();
}

absl::Status ControlRun::checkOperands(const Step &step) {
  const Instruction &item = *step.source;
  if (!step.moves || !isKnown(item.rows) || !isKnown(item.n) ||
      !isKnown(item.k))
    return absl::OkStatus();
  const int32_t *values = registers.data() + pe * registerCount;
  for (const Access &access : accessesOf(step, values))
    if (isKnown(access.place->reg) &&
        elementsAt(*access.place, values, access.rows, access.n) < 0)
      return bad(absl::StrCat(outsideText(access.name, *access.place, values,
                                          access.rows, access.n),
                              " (F5)"));
  return absl::OkStatus();
}

absl::Status ControlRun::execute(const Step &step) {
  const Instruction &item = *step.source;
  int32_t *values = registers.data() + pe * registerCount;
  bool maybe = !isKnown(item.guard);
  if (!maybe && item.guard >= 0 && values[item.guard] == 0)
    return absl::OkStatus();
  if (step.opcode == Opcode::LoadRegister)
    set(item.target, false);
  if (step.opcode == Opcode::SetRegister) {
    const Region &region = parts.program.regions[step.region];
    int64_t local = pe - parts.mesh.number(region, 0, 0);
    int64_t columns = parts.program.wafers[region.wafer].columns;
    set(item.target, !maybe && isKnown(item.expression.regA) &&
                         isKnown(item.expression.regB));
    values[item.target] =
        valueOf(item.expression, values, static_cast<int32_t>(local % columns),
                static_cast<int32_t>(local / columns));
  }
  if (step.opcode == Opcode::Stream) {
    if (maybe)
      return bad("whether it runs depends on data (F4)");
    if (!isKnown(item.rows) || !isKnown(item.n))
      return bad("how many words it handles depends on data (F4)");
    int64_t elements = valueOf(item.rows, values) * valueOf(item.n, values);
    int64_t words = item.packed ? (elements + 1) / 2 : elements;
    if (item.in >= 0)
      taken[pe * colours + item.in] += words;
    if (item.out >= 0)
      sent[pe * colours + item.out] += words;
  }
  return maybe ? absl::OkStatus() : checkOperands(step);
}

absl::Status ControlRun::follow() {
  list = &parts.codes.of(pe);
  next = 0;
  loops.clear();
  int64_t followed = 0;
  while (next < static_cast<int64_t>(list->steps.size())) {
    if (++followed > mostFollowed)
      return bad(absl::StrCat("more than ", mostFollowed,
                              " instructions in a step (F4)"));
    const Step &step = *list->steps[next];
    bool jumps = step.opcode == Opcode::Loop || step.opcode == Opcode::EndLoop;
    if (absl::Status status = jumps ? loop(step) : execute(step); !status.ok())
      return status;
    next += !jumps;
  }
  return absl::OkStatus();
}

absl::Status ControlRun::compareWords() const {
  for (const Channel &channel : parts.channels.all()) {
    int64_t out = sent[channel.sender * colours + channel.colour];
    int64_t in = taken[channel.receiver * colours + channel.colour];
    if (out != in)
      return absl::InvalidArgumentError(absl::StrCat(
          parts.mesh.text(channel.sender), " sends ", out, " words on colour ",
          channel.colour, ", ", parts.mesh.text(channel.receiver), " takes ",
          in, " (F4)"));
  }
  for (int64_t at = 0; at < static_cast<int64_t>(taken.size()); ++at)
    if (taken[at] > 0 && parts.channels.into(at / colours, at % colours) < 0)
      return absl::InvalidArgumentError(absl::StrCat(
          parts.mesh.text(at / colours), " takes ", taken[at],
          " words on colour ", at % colours, ", which nobody sends (F4)"));
  return absl::OkStatus();
}

absl::Status ControlRun::step() {
  sent.assign(parts.mesh.pes() * colours, 0);
  taken.assign(parts.mesh.pes() * colours, 0);
  for (pe = 0; pe < parts.mesh.pes(); ++pe)
    if (absl::Status status = follow(); !status.ok())
      return status;
  return compareWords();
}

} // namespace

absl::Status verifyControl(const VerifiedParts &parts,
                           const VerifyOptions &options) {
  std::vector<std::vector<int32_t>> starts = options.starts;
  starts.insert(starts.begin(), std::vector<int32_t>());
  for (const std::vector<int32_t> &start : starts) {
    ControlRun run(parts, parts.limits.colours);
    run.setRegisters(start);
    // A full cache has room for no further step.
    int32_t steps = start.empty() ? std::max(options.steps, 1) : 1;
    for (int32_t i = 0; i < steps; ++i)
      if (absl::Status status = run.step(); !status.ok())
        return status;
  }
  return absl::OkStatus();
}

} // namespace sol::fabric
