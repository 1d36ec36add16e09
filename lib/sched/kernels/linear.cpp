//===- linear.cpp - products, norms and what lies between them -----------===//
//
// See linear.h.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/linear.h"

#include <algorithm>

namespace sol::fabric {
namespace {

Count fixed(int64_t value) { return {static_cast<int32_t>(value), -1}; }

/// coefficient * position along the axis.
Affine along(Axis axis, int64_t coefficient) {
  return axis == Axis::X ? Affine{0, coefficient, 0}
                         : Affine{0, 0, coefficient};
}

/// A block of a sharded product: rows by the shards of x, columns by those of
/// y, from column `first` of the buffer's rows of `rowStep` elements.
void loadBlock(RegionWriter &writer, int32_t buffer, const Weights &weights,
               const Sharded &x, Axis outAxis, int64_t n, int32_t shard,
               int32_t first, int32_t rowStep) {
  Slice slice;
  slice.pes = writer.all();
  slice.buffer = buffer;
  slice.first = first;
  slice.rows = x.shard;
  slice.columns = shard;
  slice.rowStep = rowStep;
  slice.row = along(x.axis, x.shard);
  slice.column = along(outAxis, shard);
  slice.rowEnd = x.size;
  slice.columnEnd = n;
  writer.load(weights, slice, x.shard * rowStep);
}

/// y = x B over `columns` elements of y; B lies in `buffer`, row after row.
void multiply(RegionWriter &writer, const Sharded &x, int32_t buffer,
              const Operand &y, int32_t columns) {
  Instruction item;
  item.opcode = Opcode::Product;
  item.rows = fixed(x.tokens);
  item.n = fixed(columns);
  item.k = fixed(x.shard);
  item.dst = y;
  item.a = x.operand();
  item.b = writer.perTurn({buffer, 0, columns, 1, -1, 0}, x.shard * columns);
  writer.emit(item);
}

/// One number for each token as an operand for rows x n elements.
Operand perToken(int32_t buffer) { return {buffer, 0, 1, 0, -1, 0}; }
/// Where each token's number is put.
Operand cell(int32_t buffer) { return {buffer, 0, 1, 1, -1, 0}; }

/// The sums over whole vectors of `opcode` (Sum or SumOfSquares), on all PEs.
int32_t totals(RegionWriter &writer, Opcode opcode, const Sharded &x) {
  int32_t sums = writer.temporary(x.tokens);
  writer.local(opcode, fixed(x.tokens), fixed(x.shard), cell(sums),
               x.operand());
  writer.allReduce(writer.lines(x.axis), {sums, 0, 1, 1, -1, 0},
                   fixed(x.tokens), fixed(1), Combine::Add);
  return sums;
}

/// The gain or bias of a norm as an operand for all tokens.
Operand everyToken(const RegionWriter &writer, const Sharded &vector) {
  return writer.perTurn({vector.buffer, 0, 0, 1, -1, 0}, vector.shard);
}

} // namespace

Sharded weightVector(RegionWriter &writer, const std::string &name, Axis axis,
                     int64_t size, const Weights &weights) {
  Sharded result;
  result.axis = axis;
  result.size = size;
  result.shard = static_cast<int32_t>((size + writer.extent(axis) - 1) /
                                      writer.extent(axis));
  result.buffer = writer.buffer(name, ElementType::Float32,
                                int64_t(result.shard) *
                                    static_cast<int64_t>(weights.size()));
  Slice slice;
  slice.pes = writer.all();
  slice.buffer = result.buffer;
  slice.columns = result.shard;
  slice.column = along(axis, result.shard);
  slice.columnEnd = size;
  writer.load(weights, slice, result.shard);
  return result;
}

Sharded product(RegionWriter &writer, const Sharded &x, const Weights &weights,
                int64_t n, ElementType storage, const Weights &bias) {
  Sharded y = writer.vector(other(x.axis), n, x.tokens);
  int32_t matrix = writer.buffer("weights", storage,
                                 int64_t(x.shard) * y.shard * writer.turns());
  loadBlock(writer, matrix, weights, x, y.axis, n, y.shard, 0, y.shard);
  multiply(writer, x, matrix, y.operand(), y.shard);
  writer.allReduce(writer.lines(x.axis), y.operand(), fixed(x.tokens),
                   fixed(y.shard), Combine::Add);
  if (!bias.empty()) {
    Sharded added = weightVector(writer, "bias", y.axis, n, bias);
    writer.local(Opcode::Add, fixed(y.tokens), fixed(y.shard), y.operand(),
                 y.operand(), everyToken(writer, added));
  }
  return y;
}

Sharded rmsNorm(RegionWriter &writer, const Sharded &x, const Weights &gain,
                float epsilon, float gainShift) {
  Sharded y = writer.vector(x.axis, x.size, x.tokens);
  Sharded gains = weightVector(writer, "gain", x.axis, x.size, gain);
  int32_t scale = totals(writer, Opcode::SumOfSquares, x);
  Count rows = fixed(x.tokens), n = fixed(x.shard);
  writer.local(Opcode::ReciprocalSquareRoot, rows, fixed(1), cell(scale),
               cell(scale), {}, {}, 1.0f / static_cast<float>(x.size), epsilon);
  writer.local(Opcode::Multiply, rows, n, y.operand(), x.operand(),
               perToken(scale));
  Operand by = everyToken(writer, gains);
  int32_t shifted = -1;
  if (gainShift != 0) {
    shifted = writer.temporary(x.shard);
    writer.local(Opcode::Scale, fixed(1), n, {shifted, 0, 0, 1, -1, 0}, by, {},
                 {}, 1, gainShift);
    by = {shifted, 0, 0, 1, -1, 0};
  }
  writer.local(Opcode::Multiply, rows, n, y.operand(), y.operand(), by);
  if (shifted >= 0)
    writer.release(shifted);
  writer.release(scale);
  return y;
}

Sharded layerNorm(RegionWriter &writer, const Sharded &x, const Weights &gain,
                  const Weights &bias, float epsilon) {
  Sharded y = writer.vector(x.axis, x.size, x.tokens);
  Sharded gains = weightVector(writer, "gain", x.axis, x.size, gain);
  Count rows = fixed(x.tokens), n = fixed(x.shard);
  float one = 1.0f / static_cast<float>(x.size);
  int32_t mean = totals(writer, Opcode::Sum, x);
  writer.local(Opcode::Scale, rows, fixed(1), cell(mean), cell(mean), {}, {},
               one);
  writer.local(Opcode::Subtract, rows, n, y.operand(), x.operand(),
               perToken(mean));
  writer.release(mean);
  // The padding of the last shards is -mean now, and must not count.
  int32_t valid = writer.newRegister();
  Expression count;
  count.constant = static_cast<int32_t>(x.size);
  (x.axis == Axis::X ? count.x : count.y) = -x.shard;
  count.op = ScalarOp::Minimum;
  count.operand = x.shard;
  writer.setRegister(valid, count);
  int32_t scale = writer.temporary(x.tokens);
  writer.local(Opcode::SumOfSquares, rows, {1, valid}, cell(scale),
               y.operand());
  writer.releaseRegister(valid);
  writer.allReduce(writer.lines(x.axis), cell(scale), rows, fixed(1),
                   Combine::Add);
  writer.local(Opcode::ReciprocalSquareRoot, rows, fixed(1), cell(scale),
               cell(scale), {}, {}, one, epsilon);
  writer.local(Opcode::Multiply, rows, n, y.operand(), y.operand(),
               perToken(scale));
  writer.release(scale);
  writer.local(Opcode::Multiply, rows, n, y.operand(), y.operand(),
               everyToken(writer, gains));
  if (!bias.empty()) {
    Sharded added = weightVector(writer, "bias", x.axis, x.size, bias);
    writer.local(Opcode::Add, rows, n, y.operand(), y.operand(),
                 everyToken(writer, added));
  }
  return y;
}

void addResidual(RegionWriter &writer, const Sharded &x, const Sharded &y) {
  writer.local(Opcode::Add, fixed(x.tokens), fixed(x.shard), x.operand(),
               x.operand(), y.operand());
}

Sharded gatedMlp(RegionWriter &writer, const Sharded &x, const Weights &gate,
                 const Weights &up, const Weights &down, int64_t hidden,
                 Opcode activation, ElementType storage) {
  Axis axis = other(x.axis);
  int32_t extent = writer.extent(axis);
  auto shard = static_cast<int32_t>((hidden + extent - 1) / extent);
  int32_t matrix = writer.buffer("gate and up", storage,
                                 int64_t(x.shard) * 2 * shard * writer.turns());
  loadBlock(writer, matrix, gate, x, axis, hidden, shard, 0, 2 * shard);
  loadBlock(writer, matrix, up, x, axis, hidden, shard, shard, 2 * shard);
  Sharded both;
  both.axis = axis;
  both.size = hidden;
  both.shard = shard;
  both.tokens = x.tokens;
  both.rowStep = 2 * shard;
  both.buffer = writer.temporary(int64_t(x.tokens) * 2 * shard);
  multiply(writer, x, matrix, both.operand(), 2 * shard);
  writer.allReduce(writer.lines(x.axis), both.operand(), fixed(x.tokens),
                   fixed(2 * shard), Combine::Add);
  writer.local(activation, fixed(x.tokens), fixed(shard), both.operand(),
               both.operand());
  writer.local(Opcode::Multiply, fixed(x.tokens), fixed(shard), both.operand(),
               both.operand(), both.from(shard));
  Sharded result = product(writer, both, down, x.size, storage);
  writer.release(both.buffer);
  return result;
}

} // namespace sol::fabric
