//===- local_instructions.cpp - what a PE computes by itself -------------===//
//
// Rows are worked on as consecutive float32: in place where memory holds them
// so, else in scratch memory.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/simulate/local_instructions.h"

#include "runtime/cpu/elementary.h"
#include "runtime/fabric/simulate/elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace sol::fabric {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// acc[j] = fma(x, b[j], acc[j]).
void addScaledPortable(float *acc, float x, const float *b, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    acc[j] = std::fma(x, b[j], acc[j]);
}
/// fma(x[k - 1], b[k - 1], … fma(x[0], b[0], acc)).
float chainPortable(float acc, const float *x, const float *b, int64_t k) {
  for (int64_t i = 0; i < k; ++i)
    acc = std::fma(x[i], b[i], acc);
  return acc;
}
#if defined(__x86_64__)
// The same operations, so the same bits, without a call for each.
__attribute__((target("avx2,fma"))) void
addScaledFused(float *acc, float x, const float *b, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    acc[j] = __builtin_fmaf(x, b[j], acc[j]);
}
__attribute__((target("avx2,fma"))) float
chainFused(float acc, const float *x, const float *b, int64_t k) {
  for (int64_t i = 0; i < k; ++i)
    acc = __builtin_fmaf(x[i], b[i], acc);
  return acc;
}
const bool hasFused =
    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
const auto addScaled = hasFused ? addScaledFused : addScaledPortable;
const auto chain = hasFused ? chainFused : chainPortable;
#else
const auto addScaled = addScaledPortable;
const auto chain = chainPortable;
#endif

float oneOperand(const Instruction &item, float a) {
  switch (item.opcode) {
  case Opcode::Copy:
    return a;
  case Opcode::Scale:
    return a * item.scale + item.shift;
  case Opcode::Exp:
    return elementary::exp(a);
  case Opcode::ReciprocalSquareRoot:
    return 1.0f / std::sqrt(a * item.scale + item.shift);
  case Opcode::Silu:
    return a * elementary::sigmoid(a);
  case Opcode::Gelu:
    return 0.5f * a * (1.0f + elementary::erf(a * 0.70710678f));
  case Opcode::GeluTanh:
    return 0.5f * a *
           (1.0f +
            elementary::tanh(0.79788456f * (a + 0.044715f * (a * a * a))));
  case Opcode::Tanh:
    return elementary::tanh(a);
  case Opcode::Sigmoid:
    return elementary::sigmoid(a);
  case Opcode::Relu:
    return a > 0 ? a : 0;
  case Opcode::Cosine:
    return elementary::cos(a);
  case Opcode::Sine:
    return elementary::sin(a);
  default:
    return item.scale; // Fill
  }
}

float twoOperands(Opcode opcode, float a, float b) {
  switch (opcode) {
  case Opcode::Add:
    return a + b;
  case Opcode::Subtract:
    return a - b;
  case Opcode::Multiply:
    return a * b;
  case Opcode::Divide:
    return a / b;
  default:
    return a > b ? a : b; // Maximum
  }
}

} // namespace

float LocalExecutor::Matrix::get(int64_t row, int64_t i) const {
  return readElement(base, type, first + row * rowStep + i * step);
}

void LocalExecutor::Matrix::set(int64_t row, int64_t i, float value) const {
  writeElement(base, type, first + row * rowStep + i * step, value);
}

absl::Status LocalExecutor::resolve(const char *name, const Place &place,
                                    const PeView &pe, int64_t rows, int64_t n,
                                    Matrix &matrix) {
  int64_t first = elementsAt(place, pe.registers, rows, n);
  if (first < 0)
    return absl::OutOfRangeError(
        outsideText(name, place, pe.registers, rows, n));
  matrix = {pe.memory + place.offset, place.type, first, place.rowStep,
            place.step};
  return absl::OkStatus();
}

const float *LocalExecutor::load(const Matrix &matrix, int64_t row, int64_t n,
                                 std::vector<float> &scratch) {
  if (matrix.type == ElementType::Float32 && matrix.step == 1)
    return reinterpret_cast<const float *>(matrix.base) + matrix.first +
           row * matrix.rowStep;
  if (scratch.size() < static_cast<size_t>(n))
    scratch.resize(n);
  for (int64_t i = 0; i < n; ++i)
    scratch[i] = matrix.get(row, i);
  return scratch.data();
}

absl::Status LocalExecutor::elementwise(const Step &step, const PeView &pe,
                                        int64_t rows, int64_t n) {
  const Instruction &item = *step.source;
  Matrix dst, a, b, c;
  absl::Status status = resolve("dst", step.dst, pe, rows, n, dst);
  if (status.ok() && item.opcode != Opcode::Fill)
    status = resolve("a", step.a, pe, rows, n, a);
  bool hasB = item.opcode >= Opcode::Add && item.opcode <= Opcode::Select;
  if (status.ok() && hasB)
    status = resolve("b", step.b, pe, rows, n, b);
  if (status.ok() && item.opcode == Opcode::Select)
    status = resolve("c", step.c, pe, rows, n, c);
  if (!status.ok())
    return status;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i) {
      float value;
      if (item.opcode == Opcode::Select)
        value = a.get(r, i) >= 0 ? b.get(r, i) : c.get(r, i);
      else if (hasB)
        value = twoOperands(item.opcode, a.get(r, i), b.get(r, i));
      else
        value = oneOperand(item, item.opcode == Opcode::Fill ? 0 : a.get(r, i));
      dst.set(r, i, value);
    }
  return absl::OkStatus();
}

absl::Status LocalExecutor::rotate(const Step &step, const PeView &pe,
                                   int64_t rows, int64_t n) {
  Matrix dst, a, cosine, sine;
  absl::Status status = resolve("dst", step.dst, pe, rows, 2 * n, dst);
  status.Update(resolve("a", step.a, pe, rows, 2 * n, a));
  status.Update(resolve("b", step.b, pe, rows, n, cosine));
  status.Update(resolve("c", step.c, pe, rows, n, sine));
  if (!status.ok())
    return status;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i) {
      float first = a.get(r, i), second = a.get(r, i + n);
      float cos = cosine.get(r, i), sin = sine.get(r, i);
      dst.set(r, i, first * cos - second * sin);
      dst.set(r, i + n, second * cos + first * sin);
    }
  return absl::OkStatus();
}

absl::Status LocalExecutor::mask(const Step &step, const PeView &pe,
                                 int64_t rows, int64_t n) {
  const Instruction &item = *step.source;
  Matrix dst;
  if (absl::Status status = resolve("dst", step.dst, pe, rows, n, dst);
      !status.ok())
    return status;
  auto stride = static_cast<int64_t>(item.scale);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t s = 0; s < n; ++s)
      if (s * stride + pe.registers[item.shiftBy] >
          pe.registers[item.limitBy] + r / item.group)
        dst.set(r, s, -infinity);
  return absl::OkStatus();
}

absl::Status LocalExecutor::reduceRows(const Step &step, const PeView &pe,
                                       int64_t rows, int64_t n) {
  const Instruction &item = *step.source;
  bool isPair = item.opcode == Opcode::RowArgMax;
  Matrix dst, a;
  absl::Status status = resolve("dst", step.dst, pe, rows, isPair ? 2 : 1, dst);
  status.Update(resolve("a", step.a, pe, rows, n, a));
  if (!status.ok())
    return status;
  for (int64_t r = 0; r < rows; ++r) {
    const float *row = load(a, r, n, scratchA);
    float value = item.opcode >= Opcode::RowMaximum ? -infinity : 0;
    int64_t index = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (item.opcode == Opcode::Sum) {
        value += row[i];
      } else if (item.opcode == Opcode::SumOfSquares) {
        value = std::fma(row[i], row[i], value);
      } else if (row[i] > value) {
        value = row[i];
        index = i;
      }
    }
    dst.set(r, 0, value);
    if (isPair)
      dst.set(r, 1,
              static_cast<float>(n == 0 ? 0
                                 : item.shiftBy < 0
                                     ? index
                                     : index + pe.registers[item.shiftBy]));
  }
  return absl::OkStatus();
}

absl::Status LocalExecutor::product(const Step &step, const PeView &pe,
                                    int64_t rows, int64_t n) {
  const Instruction &item = *step.source;
  int64_t k = valueOf(item.k, pe.registers);
  Matrix dst, a, b;
  absl::Status status = resolve("dst", step.dst, pe, rows, n, dst);
  status.Update(resolve("a", step.a, pe, rows, k, a));
  status.Update(resolve("b", step.b, pe, k, n, b));
  if (!status.ok())
    return status;
  if (result.size() < static_cast<size_t>(n))
    result.resize(n);
  Matrix columns = b; // element (j, i) is b(i, j)
  std::swap(columns.rowStep, columns.step);
  bool byColumns = columns.step == 1 && b.step != 1;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < n; ++j)
      result[j] = item.accumulate ? dst.get(r, j) : 0;
    const float *x = load(a, r, k, scratchA);
    if (byColumns)
      for (int64_t j = 0; j < n; ++j)
        result[j] = chain(result[j], x, load(columns, j, k, scratchB), k);
    else
      for (int64_t i = 0; i < k; ++i)
        addScaled(result.data(), x[i], load(b, i, n, scratchB), n);
    for (int64_t j = 0; j < n; ++j)
      dst.set(r, j, result[j]);
  }
  return absl::OkStatus();
}

absl::Status LocalExecutor::registers(const Step &step, const PeView &pe) {
  const Instruction &item = *step.source;
  if (item.opcode == Opcode::SetRegister) {
    pe.registers[item.target] =
        valueOf(item.expression, pe.registers, pe.x, pe.y);
    return absl::OkStatus();
  }
  Matrix cell;
  bool loads = item.opcode == Opcode::LoadRegister;
  absl::Status status = loads ? resolve("a", step.a, pe, 1, 1, cell)
                              : resolve("dst", step.dst, pe, 1, 1, cell);
  if (!status.ok())
    return status;
  if (!loads) {
    cell.set(0, 0, static_cast<float>(pe.registers[item.target]));
    return absl::OkStatus();
  }
  float value = cell.get(0, 0);
  if (!(std::fabs(value) < 0x1p31f))
    return absl::OutOfRangeError(
        absl::StrCat("loads ", value, " into a register of 32 bits"));
  pe.registers[item.target] = static_cast<int32_t>(std::nearbyint(value));
  return absl::OkStatus();
}

absl::Status LocalExecutor::run(const Step &step, const PeView &pe) {
  const Instruction &item = *step.source;
  if (item.opcode >= Opcode::SetRegister)
    return registers(step, pe);
  int64_t rows = valueOf(item.rows, pe.registers);
  int64_t n = valueOf(item.n, pe.registers);
  // More than any memory holds: steps of 0 would allow it.
  constexpr int64_t most = 1 << 22;
  if (rows > most || n > most || rows * n > most ||
      valueOf(item.k, pe.registers) > most)
    return absl::OutOfRangeError(absl::StrCat(
        "works on ", rows, " x ", n, " elements, up to ", most, " can be"));
  switch (item.opcode) {
  case Opcode::Rotate:
    return rotate(step, pe, rows, n);
  case Opcode::Mask:
    return mask(step, pe, rows, n);
  case Opcode::Sum:
  case Opcode::SumOfSquares:
  case Opcode::RowMaximum:
  case Opcode::RowArgMax:
    return reduceRows(step, pe, rows, n);
  case Opcode::Product:
    return product(step, pe, rows, n);
  default:
    return elementwise(step, pe, rows, n);
  }
}

} // namespace sol::fabric
