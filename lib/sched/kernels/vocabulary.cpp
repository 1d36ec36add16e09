//===- vocabulary.cpp - from tokens to vectors, and back -----------------===//
//
// See vocabulary.h.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/vocabulary.h"

namespace sol::fabric {
namespace {

Count fixed(int64_t value) { return {static_cast<int32_t>(value), -1}; }

} // namespace

Table table(RegionWriter &writer, int64_t words, int64_t width,
            const Weights &weights, ElementType storage) {
  Table table;
  table.words = words;
  table.width = width;
  int32_t columns = writer.extent(Axis::X), rows = writer.extent(Axis::Y);
  table.rowShard = static_cast<int32_t>((words + columns - 1) / columns);
  table.shard = static_cast<int32_t>((width + rows - 1) / rows);
  table.buffer = writer.buffer("vocabulary", storage,
                               int64_t(table.rowShard) * table.shard);
  Slice slice;
  slice.pes = writer.all();
  slice.buffer = table.buffer;
  slice.rows = table.rowShard;
  slice.columns = table.shard;
  slice.rowStep = table.shard;
  slice.row = {0, table.rowShard, 0};
  slice.column = {0, 0, table.shard};
  slice.rowEnd = words;
  slice.columnEnd = width;
  writer.load(weights, slice, 0);
  return table;
}

Sharded lookUp(RegionWriter &writer, const Table &table, int32_t tokens,
               int32_t count) {
  Sharded y = writer.vector(Axis::Y, table.width, count);
  int32_t row = writer.newRegister(), own = writer.newRegister();
  Operand none;
  writer.local(Opcode::Fill, fixed(count), fixed(y.shard), y.operand(), none,
               none, none, 0);
  for (int32_t token = 0; token < count; ++token) {
    Instruction item;
    item.opcode = Opcode::LoadRegister;
    item.target = row;
    item.a = {tokens, token, 0, 1, -1, 0};
    writer.emit(item);
    // The row within this column's part of the table, if it is 0 to
    // rowShard - 1.
    writer.setRegister(own, {0, -table.rowShard, 0, row, 1, -1, 0,
                             ScalarOp::Divide, table.rowShard});
    writer.setRegister(own, {0, 0, 0, own, 1, -1, 0, ScalarOp::Equal, 0});
    writer.setRegister(
        row, {0, -table.rowShard, 0, row, 1, -1, 0, ScalarOp::None, 0});
    Instruction copy;
    copy.opcode = Opcode::Copy;
    copy.guard = own;
    copy.n = fixed(table.shard);
    copy.dst = {y.buffer, y.first + token * y.rowStep, 0, 1, -1, 0};
    copy.a = {table.buffer, 0, 0, 1, row, table.shard};
    writer.emit(copy);
  }
  writer.releaseRegister(row);
  writer.releaseRegister(own);
  // All others bring zeros.
  writer.allReduce(writer.lines(Axis::X), y.operand(), fixed(count),
                   fixed(y.shard), Combine::Add);
  return y;
}

Sharded logits(RegionWriter &writer, const Table &table, const Sharded &x) {
  Sharded y = writer.vector(Axis::X, table.words, x.tokens);
  Instruction item;
  item.opcode = Opcode::Product;
  item.rows = fixed(x.tokens);
  item.n = fixed(y.shard);
  item.k = fixed(x.shard);
  item.dst = y.operand();
  item.a = x.operand();
  item.b = {table.buffer, 0, 1, table.shard, -1, 0};
  writer.emit(item);
  writer.allReduce(writer.lines(Axis::Y), y.operand(), fixed(x.tokens),
                   fixed(y.shard), Combine::Add);
  return y;
}

int32_t greedyTokens(RegionWriter &writer, const Sharded &logits) {
  int32_t pairs = writer.temporary(2 * int64_t(logits.tokens));
  int32_t first = writer.newRegister(), valid = writer.newRegister();
  writer.setRegister(first,
                     {0, logits.shard, 0, -1, 0, -1, 0, ScalarOp::None, 0});
  // The last columns have fewer words than the others, or none.
  writer.setRegister(valid, {static_cast<int32_t>(logits.size), -logits.shard,
                             0, -1, 0, -1, 0, ScalarOp::Minimum, logits.shard});
  Instruction item;
  item.opcode = Opcode::RowArgMax;
  item.rows = fixed(logits.tokens);
  item.n = {1, valid};
  item.dst = {pairs, 0, 2, 1, -1, 0};
  item.a = logits.operand();
  item.shiftBy = first;
  writer.emit(item);
  writer.releaseRegister(first);
  writer.releaseRegister(valid);
  writer.allReduce(writer.lines(Axis::X), item.dst, fixed(logits.tokens),
                   fixed(2), Combine::ArgMax);
  return pairs;
}

} // namespace sol::fabric
