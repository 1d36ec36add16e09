//===- instruction_cycles.cpp - what an instruction takes ----------------===//
//
// See instruction_cycles.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/simulate/instruction_cycles.h"

#include "runtime/fabric/program/addresses.h"

#include <algorithm>

namespace sol::fabric {
namespace {

NumberFormat formatOf(const Place &place) {
  return place.elements >= 0 && place.type == ElementType::Float16
             ? NumberFormat::Float16
             : NumberFormat::Float32;
}

/// The format that decides the lanes: float16 if all operands are.
NumberFormat widest(const Step &step) {
  for (const Place *place : {&step.dst, &step.a, &step.b, &step.c})
    if (place->elements >= 0 && place->type == ElementType::Float32)
      return NumberFormat::Float32;
  return NumberFormat::Float16;
}

/// Multiply-adds, or what takes as long, for each element.
int64_t operationsOf(Opcode opcode) {
  switch (opcode) {
  case Opcode::Copy:
  case Opcode::Fill:
    return 0;
  case Opcode::Divide:
  case Opcode::Exp:
  case Opcode::ReciprocalSquareRoot:
  case Opcode::Tanh:
  case Opcode::Sigmoid:
  case Opcode::Cosine:
  case Opcode::Sine:
    // A range reduction and a polynomial.
    return 8;
  case Opcode::Silu:
  case Opcode::Gelu:
  case Opcode::GeluTanh:
    return 10;
  case Opcode::Rotate:
    return 4;
  default:
    return 1;
  }
}

} // namespace

int64_t localCycles(const Target &target, const Step &step,
                    const int32_t *registers) {
  if (step.opcode >= Opcode::SetRegister)
    return 1;
  const Instruction &item = *step.source;
  int64_t rows = valueOf(item.rows, registers);
  int64_t n = valueOf(item.n, registers);
  if (step.opcode == Opcode::Product) {
    LocalProduct product;
    product.inputs = valueOf(item.k, registers);
    product.outputs = n;
    product.vectors = rows;
    product.weights = formatOf(step.b);
    product.activations = formatOf(step.a);
    if (rows == 0 || n == 0 || product.inputs == 0)
      return 1;
    return std::max<int64_t>(productCycles(target, product).cycles, 1);
  }
  int64_t reads =
      (step.a.elements >= 0) + (step.b.elements >= 0) + (step.c.elements >= 0);
  bool reduces = step.opcode >= Opcode::Sum && step.opcode <= Opcode::RowArgMax;
  LocalCost cost = vectorCycles(target, widest(step), rows * n,
                                operationsOf(step.opcode), reads, !reduces);
  return std::max<int64_t>(cost.cycles, 1);
}

} // namespace sol::fabric
