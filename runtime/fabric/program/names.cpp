//===- names.cpp - names of instructions ---------------------------------===//
//
// For messages and reports.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/program/instruction.h"

namespace sol::fabric {

const char *opcodeName(Opcode opcode) {
  static constexpr const char *names[] = {
      "stream",       "copy",          "fill",     "add",
      "subtract",     "multiply",      "divide",   "maximum",
      "select",       "scale",         "exp",      "reciprocalSquareRoot",
      "silu",         "gelu",          "geluTanh", "tanh",
      "sigmoid",      "relu",          "cosine",   "sine",
      "rotate",       "mask",          "sum",      "sumOfSquares",
      "rowMaximum",   "rowArgMax",     "product",  "setRegister",
      "loadRegister", "storeRegister", "loop",     "endLoop"};
  static_assert(sizeof(names) / sizeof(names[0]) == opcodeCount);
  auto index = static_cast<int>(opcode);
  return index < opcodeCount ? names[index] : "unknown";
}

} // namespace sol::fabric
