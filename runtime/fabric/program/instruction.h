//===- instruction.h - what a processing element can be told to do -------===//
//
// One instruction of a PE program, as data. docs/fabric-program.md says what
// each does, word by word; the two simulators execute these and nothing else.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_PROGRAM_INSTRUCTION_H
#define SOL_RUNTIME_FABRIC_PROGRAM_INSTRUCTION_H

#include <cstdint>

namespace sol::fabric {

/// Registers of a PE: 32-bit integers, kept from step to step.
inline constexpr int registerCount = 16;

enum class Opcode : uint8_t {
  // Streams: dst is what memory holds, see `in`, `out`, `combine`, `store`.
  Stream,
  // Elementwise over rows x n: dst = f(a, b).
  Copy,     ///< a
  Fill,     ///< scale
  Add,      ///< a + b
  Subtract, ///< a - b
  Multiply, ///< a * b
  Divide,   ///< a / b
  Maximum,  ///< max(a, b)
  Select,   ///< a >= 0 ? b : c
  Scale,    ///< a * scale + shift
  Exp,
  ReciprocalSquareRoot, ///< 1 / sqrt(a * scale + shift)
  Silu,                 ///< a / (1 + exp(-a))
  Gelu,                 ///< a / 2 (1 + erf(a / sqrt 2))
  GeluTanh,             ///< its approximation by tanh
  Tanh,
  Sigmoid,
  Relu,
  Cosine,
  Sine,
  /// Pairs (a[i], a[i + n]), i < n, turned by the angles whose cosine is b[i]
  /// and whose sine is c[i].
  Rotate,
  /// dst(r, s) becomes -infinity where s * scale + integer register `shiftBy`
  /// exceeds register `limitBy` + r / group: keys after their query.
  Mask,
  // Row by row: dst(r, 0) from the n elements of a's row r.
  Sum,
  SumOfSquares,
  RowMaximum, ///< -infinity for n = 0
  /// dst(r, 0), dst(r, 1): the maximum and (as a number) its index, plus
  /// register `shiftBy` if that isn't -1; the lowest of equals. For n = 0:
  /// -infinity and 0.
  RowArgMax,
  /// dst(r, j) = (accumulate ? dst(r, j) : 0) + sum over i < k of
  /// a(r, i) * b(i, j), one fused multiply-add after the other, i ascending.
  Product,
  // Control.
  SetRegister,   ///< register `target` = expression
  LoadRegister,  ///< register `target` = a(0, 0), rounded to an integer
  StoreRegister, ///< dst(0, 0) = register `target`
  Loop,          ///< repeats up to EndLoop: register `target` = 0 … n - 1
  EndLoop
};
inline constexpr int opcodeCount = static_cast<int>(Opcode::EndLoop) + 1;

/// As in the C++ name, with a small first letter: `reciprocalSquareRoot`.
const char *opcodeName(Opcode opcode);

/// Elements of a buffer: element (r, i) is number
/// first + register[reg] * regStep + r * rowStep + i * step of it.
struct Operand {
  int32_t buffer = -1; ///< of the region; -1: the operand isn't used
  int32_t first = 0;
  int32_t rowStep = 0;
  int32_t step = 1;
  int32_t reg = -1; ///< -1: none
  int32_t regStep = 0;

  bool operator==(const Operand &) const = default;
};

/// value, times register[reg] if reg isn't -1.
struct Count {
  int32_t value = 1;
  int32_t reg = -1;

  bool operator==(const Count &) const = default;
};

/// What a stream makes of the word that comes and of the one in memory.
enum class Combine : uint8_t {
  None, ///< the word that comes, or with no `in` the memory's
  Add,  ///< their sum
  Maximum,
  ArgMax ///< pairs of words, value and index: the larger, or lower index
};

/// What SetRegister does with its sum and its operand.
enum class ScalarOp : uint8_t {
  None,
  Divide,    ///< rounds down; the operand is positive
  Remainder, ///< from 0 to operand - 1
  Equal,     ///< 1 or 0
  Less,      ///< 1 or 0
  Minimum,
  Maximum
};

/// (constant + x * PE's x + y * PE's y + a * register[regA] +
/// b * register[regB]) op operand. Coordinates count from the region's corner.
struct Expression {
  int32_t constant = 0, x = 0, y = 0;
  int32_t regA = -1, a = 0, regB = -1, b = 0;
  ScalarOp op = ScalarOp::None;
  int32_t operand = 0;

  bool operator==(const Expression &) const = default;
};

/// One instruction; which fields count depends on the opcode.
struct Instruction {
  Opcode opcode = Opcode::Copy;
  int32_t guard = -1; ///< skipped if that register is 0
  Operand dst, a, b, c;
  Count rows, n, k;
  // Stream: rows x n elements of dst in turn, each a float32 word, or two a
  // word if `packed` (then rounded to float16, the last one alone if odd).
  int32_t in = -1;  ///< colour that words come on; -1: none
  int32_t out = -1; ///< colour that words leave on; -1: none
  Combine combine = Combine::None;
  bool store = false;  ///< put the result into memory
  bool packed = false; ///< two float16 a word; not with ArgMax
  bool accumulate = false;
  int32_t priority = 0; ///< words of a link go by this, the least first
  float scale = 1, shift = 0;
  int32_t target = -1;  ///< register that is set
  int32_t shiftBy = -1; ///< register, see Mask and RowArgMax
  int32_t limitBy = -1; ///< register, see Mask
  int32_t group = 1;    ///< rows of a query, see Mask
  Expression expression;

  bool operator==(const Instruction &) const = default;
};

/// Bytes of a PE's memory that an instruction takes.
inline constexpr int64_t instructionBytes = 16;

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_PROGRAM_INSTRUCTION_H
