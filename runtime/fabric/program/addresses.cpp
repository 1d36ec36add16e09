//===- addresses.cpp - what registers make of counts and operands --------===//
//
// See addresses.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/program/addresses.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace sol::fabric {

int64_t valueOf(const Count &count, const int32_t *registers) {
  int64_t value = count.value;
  if (count.reg >= 0)
    value *= registers[count.reg];
  return std::clamp<int64_t>(value, 0, mostCount);
}

int32_t valueOf(const Expression &item, const int32_t *registers, int32_t x,
                int32_t y) {
  // Sums wrap around as 32-bit registers do.
  auto product = [](int32_t a, int32_t b) {
    return static_cast<uint32_t>(int64_t(a) * b);
  };
  uint32_t sum = static_cast<uint32_t>(item.constant) + product(item.x, x) +
                 product(item.y, y);
  if (item.regA >= 0)
    sum += product(item.a, registers[item.regA]);
  if (item.regB >= 0)
    sum += product(item.b, registers[item.regB]);
  int64_t value = static_cast<int32_t>(sum);
  int64_t operand = item.operand;
  switch (item.op) {
  case ScalarOp::None:
    break;
  case ScalarOp::Divide:
    value = (value - (value % operand + operand) % operand) / operand;
    break;
  case ScalarOp::Remainder:
    value = (value % operand + operand) % operand;
    break;
  case ScalarOp::Equal:
    value = value == operand;
    break;
  case ScalarOp::Less:
    value = value < operand;
    break;
  case ScalarOp::Minimum:
    value = std::min(value, operand);
    break;
  case ScalarOp::Maximum:
    value = std::max(value, operand);
    break;
  }
  return static_cast<int32_t>(value);
}

int64_t elementsAt(const Place &place, const int32_t *registers, int64_t rows,
                   int64_t n) {
  if (rows == 0 || n == 0)
    return 0;
  int64_t first = place.first;
  if (place.reg >= 0)
    first += int64_t(place.regStep) * registers[place.reg];
  int64_t down = (rows - 1) * place.rowStep, along = (n - 1) * place.step;
  int64_t low =
      first + std::min<int64_t>(down, 0) + std::min<int64_t>(along, 0);
  int64_t high =
      first + std::max<int64_t>(down, 0) + std::max<int64_t>(along, 0);
  return low >= 0 && high < place.elements ? first : -1;
}

std::string outsideText(const char *operand, const Place &place,
                        const int32_t *registers, int64_t rows, int64_t n) {
  int64_t first = place.first;
  if (place.reg >= 0)
    first += int64_t(place.regStep) * registers[place.reg];
  return absl::StrCat("operand `", operand, "` takes ", rows, " x ", n,
                      " elements from ", first, " in steps of ", place.rowStep,
                      " and ", place.step, ": its buffer has ", place.elements);
}

std::vector<Access> accessesOf(const Step &step, const int32_t *registers) {
  const Instruction &item = *step.source;
  int64_t rows = valueOf(item.rows, registers);
  int64_t n = valueOf(item.n, registers);
  int64_t k = valueOf(item.k, registers);
  std::vector<Access> result;
  auto add = [&](const char *name, const Place &place, int64_t r, int64_t c,
                 bool reads, bool writes) {
    if (place.elements >= 0 && r > 0 && c > 0)
      result.push_back({name, &place, r, c, reads, writes});
  };
  switch (step.opcode) {
  case Opcode::Stream:
    add("dst", step.dst, rows, n, item.in < 0 || item.combine != Combine::None,
        item.store);
    break;
  case Opcode::Mask:
    // What isn't masked stays as it is.
    add("dst", step.dst, rows, n, true, true);
    break;
  case Opcode::Rotate:
    add("dst", step.dst, rows, 2 * n, false, true);
    add("a", step.a, rows, 2 * n, true, false);
    add("b", step.b, rows, n, true, false);
    add("c", step.c, rows, n, true, false);
    break;
  case Opcode::Sum:
  case Opcode::SumOfSquares:
  case Opcode::RowMaximum:
  case Opcode::RowArgMax:
    add("dst", step.dst, rows, step.opcode == Opcode::RowArgMax ? 2 : 1, false,
        true);
    add("a", step.a, rows, n, true, false);
    break;
  case Opcode::Product:
    add("dst", step.dst, rows, n, item.accumulate, true);
    add("a", step.a, rows, k, true, false);
    add("b", step.b, k, n, true, false);
    break;
  default:
    if (step.opcode >= Opcode::SetRegister) {
      bool loads = step.opcode == Opcode::LoadRegister;
      add(loads ? "a" : "dst", loads ? step.a : step.dst, 1, 1, loads, !loads);
      break;
    }
    add("dst", step.dst, rows, n, false, true);
    if (step.opcode != Opcode::Fill)
      add("a", step.a, rows, n, true, false);
    if (step.opcode >= Opcode::Add && step.opcode <= Opcode::Select)
      add("b", step.b, rows, n, true, false);
    if (step.opcode == Opcode::Select)
      add("c", step.c, rows, n, true, false);
    break;
  }
  return result;
}

} // namespace sol::fabric
