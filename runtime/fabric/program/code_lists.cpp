//===- code_lists.cpp - the code of each PE, put together ----------------===//
//
// Lists are made along a tree whose edges are pieces, so that PEs with the
// same pieces meet in one node.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/program/code_lists.h"

#include "absl/strings/str_cat.h"

#include <map>

namespace sol::fabric {
namespace {

/// Is every PE of `inner` in `outer`?
bool covers(const PeSet &outer, const PeSet &inner) {
  auto along = [](int32_t first, int32_t step, int32_t count, int32_t at,
                  int32_t atStep, int32_t atCount) {
    int32_t last = at + atStep * (atCount - 1);
    return at >= first && last <= first + step * (count - 1) &&
           (at - first) % step == 0 && (atCount == 1 || atStep % step == 0);
  };
  return along(outer.x, outer.xStep, outer.columns, inner.x, inner.xStep,
               inner.columns) &&
         along(outer.y, outer.yStep, outer.rows, inner.y, inner.yStep,
               inner.rows);
}

/// Resolves and checks one piece.
class PieceReader {
public:
  PieceReader(const Region &region, int32_t regionIndex, size_t piece,
              const FabricLimits &limits)
      : region(region), regionIndex(regionIndex), piece(piece), limits(limits) {
  }

  absl::StatusOr<Step> read(size_t index);

private:
  absl::Status bad(const std::string &what) const {
    const Instruction &item = region.code[piece].code[index];
    return absl::InvalidArgumentError(absl::StrCat(
        "region `", region.name, "`: instruction ", index, " (",
        opcodeName(item.opcode), ") of piece ", piece, ": ", what));
  }
  absl::Status reg(const char *name, int32_t number, bool needed) const;
  absl::Status count(const char *name, const Count &count) const;
  absl::Status place(const char *name, const Operand &operand, bool needed,
                     Place &result) const;
  absl::Status stream(const Instruction &item) const;
  absl::Status registers(const Instruction &item) const;

  const Region &region;
  int32_t regionIndex;
  size_t piece;
  const FabricLimits &limits;
  size_t index = 0;
};

absl::Status PieceReader::reg(const char *name, int32_t number,
                              bool needed) const {
  if (number >= (needed ? 0 : -1) && number < registerCount)
    return absl::OkStatus();
  return bad(absl::StrCat(name, " is register ", number, ": a PE has ",
                          registerCount));
}

absl::Status PieceReader::count(const char *name, const Count &count) const {
  if (count.value < 0)
    return bad(
        absl::StrCat(name, " is ", count.value, ": a count can't be negative"));
  return reg(name, count.reg, false);
}

absl::Status PieceReader::place(const char *name, const Operand &operand,
                                bool needed, Place &result) const {
  if (operand.buffer == -1)
    return needed ? bad(absl::StrCat("needs operand `", name, "`"))
                  : absl::OkStatus();
  auto buffers = static_cast<int64_t>(region.buffers.size());
  if (operand.buffer < 0 || operand.buffer >= buffers)
    return bad(absl::StrCat("operand `", name, "` is buffer ", operand.buffer,
                            ": the region has ", buffers));
  const Buffer &buffer = region.buffers[operand.buffer];
  if (!covers(buffer.pes, region.code[piece].pes))
    return bad(absl::StrCat("operand `", name,
                            "`: not all PEs of the piece "
                            "have buffer `",
                            buffer.name, "`"));
  result = {buffer.offset, buffer.elements, buffer.type,
            operand.first, operand.rowStep, operand.step,
            operand.reg,   operand.regStep, operand.buffer};
  return reg(name, operand.reg, false);
}

absl::Status PieceReader::stream(const Instruction &item) const {
  if (item.in < -1 || item.in >= limits.colours || item.out < -1 ||
      item.out >= limits.colours)
    return bad(absl::StrCat("is on colours ", item.in, " and ", item.out,
                            ": the machine has ", limits.colours));
  if (item.in < 0 && item.out < 0)
    return bad("neither takes words from a colour nor sends them on one");
  if (static_cast<int>(item.combine) > static_cast<int>(Combine::ArgMax))
    return bad("no such combination of words");
  if (item.packed && item.combine == Combine::ArgMax)
    return bad("pairs of value and index can't be packed to float16");
  return absl::OkStatus();
}

absl::Status PieceReader::registers(const Instruction &item) const {
  bool sets = item.opcode == Opcode::SetRegister ||
              item.opcode == Opcode::LoadRegister ||
              item.opcode == Opcode::StoreRegister ||
              item.opcode == Opcode::Loop;
  absl::Status status = reg("`guard`", item.guard, false);
  status.Update(reg("`target`", item.target, sets));
  status.Update(reg("`shiftBy`", item.shiftBy, item.opcode == Opcode::Mask));
  status.Update(reg("`limitBy`", item.limitBy, item.opcode == Opcode::Mask));
  status.Update(reg("`regA`", item.expression.regA, false));
  status.Update(reg("`regB`", item.expression.regB, false));
  if (item.group < 1)
    status.Update(
        bad(absl::StrCat("`group` is ", item.group, ", must be at least 1")));
  if (item.opcode == Opcode::Mask && !(item.scale >= 0 && item.scale < 0x1p24f))
    status.Update(bad(
        absl::StrCat("`scale` is ", item.scale, ", must be from 0 to 2^24")));
  bool divides = item.expression.op == ScalarOp::Divide ||
                 item.expression.op == ScalarOp::Remainder;
  if (divides && item.expression.operand < 1)
    status.Update(bad(absl::StrCat("divides by ", item.expression.operand,
                                   ", must be at least 1")));
  if (static_cast<int>(item.expression.op) >
      static_cast<int>(ScalarOp::Maximum))
    status.Update(bad("no such operation on registers"));
  bool jumps = item.opcode == Opcode::Loop || item.opcode == Opcode::EndLoop;
  if (jumps && item.guard != -1)
    status.Update(bad("a loop can't have a guard"));
  return status;
}

absl::StatusOr<Step> PieceReader::read(size_t at) {
  index = at;
  const Instruction &item = region.code[piece].code[index];
  if (static_cast<int>(item.opcode) >= opcodeCount)
    return bad("no such instruction");
  Step step;
  step.opcode = item.opcode;
  step.guard = item.guard;
  step.source = &item;
  step.region = regionIndex;
  Opcode op = item.opcode;
  bool isControl = op >= Opcode::SetRegister;
  bool writes = !isControl || op == Opcode::StoreRegister;
  bool hasA = (!isControl && op != Opcode::Stream && op != Opcode::Fill &&
               op != Opcode::Mask) ||
              op == Opcode::LoadRegister;
  bool hasB = (op >= Opcode::Add && op <= Opcode::Select) ||
              op == Opcode::Rotate || op == Opcode::Product;
  bool hasC = op == Opcode::Select || op == Opcode::Rotate;
  // A stream that only passes words on needs no memory.
  if (op == Opcode::Stream)
    writes = item.in < 0 || item.store || item.combine != Combine::None;
  absl::Status status = place("dst", item.dst, writes, step.dst);
  status.Update(place("a", item.a, hasA, step.a));
  status.Update(place("b", item.b, hasB, step.b));
  status.Update(place("c", item.c, hasC, step.c));
  status.Update(count("`rows`", item.rows));
  status.Update(count("`n`", item.n));
  status.Update(count("`k`", item.k));
  status.Update(registers(item));
  if (op == Opcode::Stream)
    status.Update(stream(item));
  if (!status.ok())
    return status;
  step.moves = item.rows.reg >= 0 || item.n.reg >= 0 || item.k.reg >= 0;
  for (const Place *place : {&step.dst, &step.a, &step.b, &step.c})
    step.moves |= place->reg >= 0;
  return step;
}

/// Finds the partners of loops.
absl::Status matchLoops(CodeList &list) {
  std::vector<int32_t> open;
  list.partner.assign(list.steps.size(), 0);
  for (size_t i = 0; i < list.steps.size(); ++i) {
    auto at = static_cast<int32_t>(i);
    if (list.steps[i]->opcode == Opcode::Loop) {
      open.push_back(at);
      if (open.size() > mostLoops)
        return absl::InvalidArgumentError(
            absl::StrCat("more than ", mostLoops, " loops in one another"));
    } else if (list.steps[i]->opcode == Opcode::EndLoop) {
      if (open.empty())
        return absl::InvalidArgumentError(
            absl::StrCat("instruction ", i, " ends a loop that never began"));
      list.partner[i] = open.back();
      list.partner[open.back()] = at;
      open.pop_back();
    }
  }
  if (open.empty())
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the loop of instruction ", open.back(), " never ends"));
}

/// A list of pieces: the one before, and the last piece.
struct CodeListNode {
  int32_t parent;
  const std::vector<Step> *steps;
};

/// The list along the way from the root to a node.
CodeList listAt(const std::vector<CodeListNode> &nodes, int32_t node) {
  std::vector<const std::vector<Step> *> pieces;
  for (int32_t at = node; at > 0; at = nodes[at].parent)
    pieces.push_back(nodes[at].steps);
  CodeList list;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece)
    for (const Step &step : **piece)
      list.steps.push_back(&step);
  return list;
}

} // namespace

absl::Status CodeLists::addMemory(const Region &region, const Mesh &mesh,
                                  const FabricLimits &limits) {
  for (const Buffer &buffer : region.buffers) {
    int64_t end = buffer.offset + buffer.bytes();
    if (buffer.offset < 0 || buffer.offset % 4 != 0 || buffer.elements < 0 ||
        end > limits.bytesPerPe)
      return absl::InvalidArgumentError(absl::StrCat(
          "region `", region.name, "`: buffer `", buffer.name, "` has ",
          buffer.elements, " elements at byte ", buffer.offset,
          ": a program may use ", limits.bytesPerPe, " bytes of a PE"));
    buffer.pes.forEach([&](int64_t x, int64_t y) {
      int32_t &bytes = memory[mesh.number(region, x, y)];
      bytes = std::max(bytes, static_cast<int32_t>((end + 3) / 4 * 4));
    });
  }
  return absl::OkStatus();
}

absl::StatusOr<CodeLists> CodeLists::of(const FabricProgram &program,
                                        const Mesh &mesh,
                                        const FabricLimits &limits) {
  CodeLists result;
  result.listOf.assign(mesh.pes(), 0);
  result.memory.assign(mesh.pes(), 0);
  std::vector<CodeListNode> nodes = {{-1, nullptr}};
  result.steps.resize(program.regions.size());
  for (size_t r = 0; r < program.regions.size(); ++r) {
    const Region &region = program.regions[r];
    if (absl::Status status = result.addMemory(region, mesh, limits);
        !status.ok())
      return status;
    result.steps[r].resize(region.code.size());
    for (size_t p = 0; p < region.code.size(); ++p) {
      PieceReader reader(region, static_cast<int32_t>(r), p, limits);
      std::vector<Step> &steps = result.steps[r][p];
      for (size_t i = 0; i < region.code[p].code.size(); ++i) {
        absl::StatusOr<Step> step = reader.read(i);
        if (!step.ok())
          return step.status();
        steps.push_back(*step);
      }
      std::map<int32_t, int32_t> moved; // from node to node along this piece
      region.code[p].pes.forEach([&](int64_t x, int64_t y) {
        int32_t &node = result.listOf[mesh.number(region, x, y)];
        auto [entry, isNew] =
            moved.try_emplace(node, static_cast<int32_t>(nodes.size()));
        if (isNew)
          nodes.push_back({node, &steps});
        node = entry->second;
      });
    }
  }
  std::map<int32_t, int32_t> lists; // by node
  for (int32_t &node : result.listOf) {
    auto [entry, isNew] =
        lists.try_emplace(node, static_cast<int32_t>(result.lists.size()));
    if (isNew) {
      result.lists.push_back(listAt(nodes, node));
      if (absl::Status status = matchLoops(result.lists.back()); !status.ok())
        return status;
    }
    node = entry->second;
  }
  return result;
}

} // namespace sol::fabric
