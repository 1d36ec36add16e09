//===- experts.cpp - a mixture of experts on one rectangle ---------------===//
//
// The router is a product whose rows are shared out over all PEs, so that its
// matrix is stored once; then every PE knows all scores and chooses for itself.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/experts.h"

#include <algorithm>

namespace sol::fabric {
namespace {

Count fixed(int64_t value) { return {static_cast<int32_t>(value), -1}; }

class ExpertsWriter {
public:
  ExpertsWriter(RegionWriter &writer, const Sharded &x,
                const ExpertsShape &shape)
      : writer(writer), x(x), shape(shape), columns(writer.extent(Axis::X)),
        part((x.shard + columns - 1) / columns),
        shard(static_cast<int32_t>((shape.hidden + columns - 1) / columns)) {}

  void route(const Weights &router, ElementType storage);
  void load(const ExpertsWeights &weights, ElementType storage);
  /// Chooses expert after expert of a token, and adds them up.
  void run(int32_t token, const Sharded &y);
  void release();

private:
  /// The weight of the next best expert goes to `weight`, its place in the
  /// matrices to register `expert`.
  void choose(int32_t token, int32_t index);

  RegionWriter &writer;
  const Sharded &x;
  const ExpertsShape &shape;
  int32_t columns, part, shard;
  int32_t scores = -1, pairs = -1, weight = -1, hidden = -1, result = -1;
  int32_t up = -1, down = -1;
  int32_t expert = -1;
};

void ExpertsWriter::route(const Weights &router, ElementType storage) {
  int32_t count = shape.experts;
  int32_t buffer =
      writer.buffer("router", storage, int64_t(part) * count * writer.turns());
  // Column j of the rectangle takes elements j * part and on of each row's
  // shard, one column takes what is left, and others have none.
  auto load = [&](int32_t first, int32_t many, int32_t rows, int64_t end) {
    Slice slice;
    slice.pes = writer.all();
    slice.pes.x = first;
    slice.pes.columns = many;
    slice.buffer = buffer;
    slice.rows = rows;
    slice.columns = count;
    slice.rowStep = count;
    slice.row = {0, part, x.shard};
    slice.rowEnd = end;
    slice.columnEnd = count;
    if (many > 0)
      writer.load(router, slice, part * count);
  };
  int32_t full = x.shard / part, left = x.shard % part;
  load(0, full, part, x.size);
  load(full, left > 0, left, x.size);
  full += left > 0;
  load(full, columns - full, part, 0);
  scores = writer.temporary(int64_t(x.tokens) * count);
  int32_t own = writer.newRegister(), first = writer.newRegister();
  writer.setRegister(first, {0, part, 0, -1, 0, -1, 0, ScalarOp::None, 0});
  writer.setRegister(
      own, {x.shard, -part, 0, -1, 0, -1, 0, ScalarOp::Minimum, part});
  writer.setRegister(own, {0, 0, 0, own, 1, -1, 0, ScalarOp::Maximum, 0});
  Instruction item;
  item.opcode = Opcode::Product;
  item.rows = fixed(x.tokens);
  item.n = fixed(count);
  item.k = {1, own};
  item.dst = {scores, 0, count, 1, -1, 0};
  item.a = x.operand();
  item.a.reg = first;
  item.a.regStep = 1;
  item.b = writer.perTurn({buffer, 0, count, 1, -1, 0}, part * count);
  writer.emit(item);
  writer.releaseRegister(first);
  writer.releaseRegister(own);
  for (Axis axis : {Axis::X, Axis::Y})
    writer.allReduce(writer.lines(axis), item.dst, fixed(x.tokens),
                     fixed(count), Combine::Add);
}

void ExpertsWriter::load(const ExpertsWeights &weights, ElementType storage) {
  int64_t count = int64_t(shape.experts) * writer.turns();
  up = writer.buffer("experts' gate and up", storage,
                     count * x.shard * 2 * shard);
  down = writer.buffer("experts' down", storage, count * shard * x.shard);
  Slice slice;
  slice.pes = writer.all();
  slice.buffer = up;
  slice.rows = x.shard;
  slice.columns = shard;
  slice.rowStep = 2 * shard;
  slice.row = {0, 0, x.shard};
  slice.column = {0, shard, 0};
  slice.rowEnd = x.size;
  slice.columnEnd = shape.hidden;
  writer.load(weights.gate, slice, x.shard * 2 * shard);
  slice.first = shard;
  writer.load(weights.up, slice, x.shard * 2 * shard);
  slice.buffer = down;
  slice.first = 0;
  slice.rows = shard;
  slice.columns = x.shard;
  slice.rowStep = x.shard;
  std::swap(slice.row, slice.column);
  std::swap(slice.rowEnd, slice.columnEnd);
  writer.load(weights.down, slice, shard * x.shard);
  pairs = writer.temporary(2);
  weight = writer.temporary(shape.chosen);
  hidden = writer.temporary(2 * shard);
  result = writer.temporary(x.shard);
  expert = writer.newRegister();
}

void ExpertsWriter::choose(int32_t token, int32_t index) {
  Operand row = {scores, token * shape.experts, 0, 1, -1, 0};
  Operand best = {pairs, 0, 2, 1, -1, 0}, none;
  Instruction item;
  item.opcode = Opcode::RowArgMax;
  item.n = fixed(shape.experts);
  item.dst = best;
  item.a = row;
  writer.emit(item);
  item = Instruction();
  item.opcode = Opcode::LoadRegister;
  item.target = expert;
  item.a = {pairs, 1, 0, 1, -1, 0};
  writer.emit(item);
  writer.local(Opcode::Copy, fixed(1), fixed(1), {weight, index, 0, 1, -1, 0},
               best);
  // Not to be chosen again; a softmax has no negative weights.
  writer.local(Opcode::Fill, fixed(1), fixed(1),
               {scores, row.first, 0, 1, expert, 1}, none, none, none, -1);
  if (writer.turns() > 1)
    writer.setRegister(expert, {0, 0, 0, expert, 1, writer.loopRegister(),
                                shape.experts, ScalarOp::None, 0});
}

void ExpertsWriter::run(int32_t token, const Sharded &y) {
  Operand row = {scores, token * shape.experts, 0, 1, -1, 0};
  Operand best = {pairs, 0, 0, 0, -1, 0}, cell = {pairs, 0, 0, 1, -1, 0};
  Count all = fixed(shape.experts), one = fixed(1);
  writer.local(Opcode::RowMaximum, one, all, cell, row);
  writer.local(Opcode::Subtract, one, all, row, row, best);
  writer.local(Opcode::Exp, one, all, row, row);
  writer.local(Opcode::Sum, one, all, cell, row);
  writer.local(Opcode::Divide, one, all, row, row, best);
  Operand sums = {y.buffer, y.first + token * y.rowStep, 0, 1, -1, 0}, none;
  writer.local(Opcode::Fill, one, fixed(x.shard), sums, none, none, none, 0);
  Operand both = {hidden, 0, 0, 1, -1, 0},
          factor = {hidden, shard, 0, 1, -1, 0};
  Operand part = {result, 0, 0, 1, -1, 0};
  for (int32_t index = 0; index < shape.chosen; ++index) {
    choose(token, index);
    Instruction item;
    item.opcode = Opcode::Product;
    item.n = fixed(2 * shard);
    item.k = fixed(x.shard);
    item.dst = both;
    item.a = {x.buffer, x.first + token * x.rowStep, 0, 1, -1, 0};
    item.b = {up, 0, 2 * shard, 1, expert, x.shard * 2 * shard};
    writer.emit(item);
    writer.allReduce(writer.lines(Axis::Y), both, one, fixed(2 * shard),
                     Combine::Add);
    writer.local(shape.activation, one, fixed(shard), both, both);
    writer.local(Opcode::Multiply, one, fixed(shard), both, both, factor);
    item.n = fixed(x.shard);
    item.k = fixed(shard);
    item.dst = part;
    item.a = both;
    item.b = {down, 0, x.shard, 1, expert, shard * x.shard};
    writer.emit(item);
    writer.local(Opcode::Multiply, one, fixed(x.shard), part, part,
                 {weight, index, 0, 0, -1, 0});
    writer.local(Opcode::Add, one, fixed(x.shard), sums, sums, part);
  }
  if (shape.normalise) {
    writer.local(Opcode::Sum, one, fixed(shape.chosen), cell,
                 {weight, 0, 0, 1, -1, 0});
    writer.local(Opcode::Divide, one, fixed(x.shard), sums, sums, best);
  }
}

void ExpertsWriter::release() {
  for (int32_t buffer : {scores, pairs, weight, hidden, result})
    writer.release(buffer);
  writer.releaseRegister(expert);
}

} // namespace

Sharded experts(RegionWriter &writer, const Sharded &x,
                const ExpertsShape &shape, const ExpertsWeights &weights,
                ElementType storage) {
  ExpertsWriter item(writer, x, shape);
  item.route(weights.router, storage);
  item.load(weights, storage);
  Sharded y = writer.vector(Axis::Y, x.size, x.tokens);
  for (int32_t token = 0; token < x.tokens; ++token)
    item.run(token, y);
  // One reduction for all experts and tokens.
  writer.allReduce(writer.lines(Axis::X), y.operand(), fixed(x.tokens),
                   fixed(y.shard), Combine::Add);
  item.release();
  return y;
}

} // namespace sol::fabric
