//===- region_writer.cpp - writes the program of one rectangle -----------===//
//
// Memory, registers and code; line_collectives.cpp has the collectives.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/region/region_writer.h"

#include <algorithm>

namespace sol::fabric {

int32_t RegionWriter::buffer(const std::string &name, ElementType type,
                             int64_t elements) {
  // Sizes that no PE has are cut to one that no PE has either, for the
  // verifier to refuse.
  auto count =
      static_cast<int32_t>(std::min<int64_t>(elements, int64_t(1) << 28));
  Buffer buffer{name, all(), type, static_cast<int32_t>(bytes), count};
  bytes =
      std::min<int64_t>(bytes + (buffer.bytes() + 3) / 4 * 4, int64_t(1) << 30);
  region().buffers.push_back(std::move(buffer));
  return static_cast<int32_t>(region().buffers.size() - 1);
}

int32_t RegionWriter::temporary(int64_t elements) {
  auto best = free.end();
  for (auto item = free.begin(); item != free.end(); ++item) {
    int64_t size = region().buffers[*item].elements;
    if (size >= elements &&
        (best == free.end() || size < region().buffers[*best].elements))
      best = item;
  }
  if (best == free.end())
    return buffer("scratch", ElementType::Float32, elements);
  int32_t found = *best;
  free.erase(best);
  return found;
}

Sharded RegionWriter::vector(Axis axis, int64_t size, int32_t tokens) {
  Sharded result;
  result.axis = axis;
  result.size = size;
  result.shard = static_cast<int32_t>((size + extent(axis) - 1) / extent(axis));
  result.tokens = tokens;
  result.rowStep = result.shard;
  result.buffer = temporary(int64_t(tokens) * result.shard);
  return result;
}

int32_t RegionWriter::newRegister() {
  if (freeRegisters.empty())
    return registers++;
  auto lowest = std::min_element(freeRegisters.begin(), freeRegisters.end());
  int32_t index = *lowest;
  freeRegisters.erase(lowest);
  return index;
}

void RegionWriter::load(const Weights &weights, Slice slice, int32_t perTurn) {
  for (int32_t tensor : weights) {
    slice.tensor = tensor;
    region().weights.push_back(slice);
    slice.first += perTurn;
  }
}

void RegionWriter::beginLoop(int32_t count) {
  if (loop < 0)
    loop = newRegister();
  loopCount = count;
  Instruction begin;
  begin.opcode = Opcode::Loop;
  begin.target = loop;
  begin.n = {count, -1};
  emit(begin);
}

void RegionWriter::endLoop() {
  Instruction end;
  end.opcode = Opcode::EndLoop;
  emit(end);
  loopCount = 1;
}

Operand RegionWriter::perTurn(Operand operand, int32_t step) const {
  if (loopCount > 1) {
    operand.reg = loop;
    operand.regStep = step;
  }
  return operand;
}

void RegionWriter::emit(const PeSet &pes, const Instruction &instruction) {
  std::vector<Piece> &code = region().code;
  if (code.empty() || !(code.back().pes == pes))
    code.push_back({pes, {}});
  code.back().code.push_back(instruction);
}

void RegionWriter::setRegister(int32_t target, const Expression &expression) {
  Instruction item;
  item.opcode = Opcode::SetRegister;
  item.target = target;
  item.expression = expression;
  emit(item);
}

void RegionWriter::local(Opcode opcode, Count rows, Count n, Operand dst,
                         Operand a, Operand b, Operand c, float scale,
                         float shift) {
  Instruction item;
  item.opcode = opcode;
  item.rows = rows;
  item.n = n;
  item.dst = dst;
  item.a = a;
  item.b = b;
  item.c = c;
  item.scale = scale;
  item.shift = shift;
  emit(item);
}

} // namespace sol::fabric
