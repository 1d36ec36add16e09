//===- attention.cpp - attention with a cache on the fabric --------------===//
//
// One token's row of the fused product, on each PE: for each head of keys that
// the column has, its queries, its key and its value, each as the first halves
// of its pairs and then the second ones.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/attention.h"

#include <algorithm>

namespace sol::fabric {
namespace {

Count fixed(int64_t value) { return {static_cast<int32_t>(value), -1}; }

/// Writes one attention.
class AttentionWriter {
public:
  AttentionWriter(RegionWriter &writer, const Sharded &x,
                  const AttentionShape &shape, const Positions &positions)
      : writer(writer), x(x), shape(shape), positions(positions),
        layout(HeadLayout::of(shape, writer.extent(Axis::X))),
        group(shape.heads / shape.keyHeads), e(layout.elements()),
        headStep((group + 2) * e), width(layout.perColumn * headStep),
        height(writer.extent(Axis::Y)),
        slots((shape.context + height - 1) / height) {}

  void fusedProduct(const AttentionWeights &weights, ElementType storage);
  void normHeads(const AttentionWeights &weights);
  void rotate();
  void scaleQueries();
  void append(ElementType cacheStorage);
  void scores();
  void softmaxAndValues();
  Sharded output(const AttentionWeights &weights, ElementType storage);

private:
  template <typename Function> void forRuns(int32_t heads, Function f);
  void loadColumns(int32_t buffer, const Weights &weights, int32_t heads,
                   int32_t first, bool isBias);
  void addBias(const AttentionWeights &weights);
  int32_t headVector(const std::string &name, const Weights &weights);
  int32_t rows() const { return layout.perColumn * x.tokens * group; }
  /// First element of a head's part of a token's row.
  int32_t at(int32_t token, int32_t local) const {
    return token * width + local * headStep;
  }
  Operand cache(int32_t buffer, int32_t local) const {
    return {buffer,     local * e,           1, layout.perColumn * e,
            layerSlots, layout.perColumn * e};
  }

  RegionWriter &writer;
  const Sharded &x;
  const AttentionShape &shape;
  const Positions &positions;
  HeadLayout layout;
  int32_t group, e, headStep, width, height, slots;
  int32_t fused = -1, keys = -1, values = -1, score = -1, result = -1;
  int32_t count = -1;      ///< register: cached positions of this row
  int32_t layerSlots = -1; ///< register: the layer's first slot
};

/// Calls f(PEs, local head, which of `heads`, first element of that half of the
/// head on PE x, its end, its place on the PE) for both halves of all heads;
/// `heads` is the number for each head of keys. Where columns are left, or a
/// column has fewer heads than others, the end is 0: zeros.
template <typename Function>
void AttentionWriter::forRuns(int32_t heads, Function f) {
  auto halves = [&](PeSet pes, int32_t keyHead, bool isReal) {
    for (int32_t q = 0; q < heads; ++q)
      for (int32_t half = 0; half < 2; ++half) {
        int64_t start = int64_t(keyHead * heads + q) * shape.headSize +
                        half * shape.headSize / 2;
        Affine first = {start - int64_t(pes.x) * layout.pairs, layout.pairs, 0};
        f(pes, keyHead % layout.perColumn, q, isReal ? first : Affine{},
          isReal ? start + shape.headSize / 2 : 0, half * layout.pairs);
      }
  };
  for (int32_t keyHead = 0; keyHead < layout.blocks * layout.perColumn;
       ++keyHead) {
    PeSet pes = writer.all();
    pes.x = keyHead / layout.perColumn * layout.columns;
    pes.columns = layout.columns;
    halves(pes, keyHead, keyHead < shape.keyHeads);
  }
  PeSet rest = writer.all();
  rest.x = layout.blocks * layout.columns;
  rest.columns -= rest.x;
  if (rest.columns > 0)
    for (int32_t local = 0; local < layout.perColumn; ++local)
      halves(rest, local, false);
}

void AttentionWriter::loadColumns(int32_t buffer, const Weights &weights,
                                  int32_t heads, int32_t first, bool isBias) {
  forRuns(heads, [&](const PeSet &pes, int32_t local, int32_t q, Affine column,
                     int64_t end, int32_t offset) {
    Slice slice;
    slice.pes = pes;
    slice.buffer = buffer;
    slice.first = local * headStep + first + q * e + offset;
    slice.rows = isBias ? 1 : x.shard;
    slice.columns = layout.pairs;
    slice.rowStep = width;
    slice.row = isBias ? Affine{} : Affine{0, 0, x.shard};
    slice.column = column;
    slice.rowEnd = isBias ? 1 : x.size;
    slice.columnEnd = end;
    writer.load(weights, slice, isBias ? width : x.shard * width);
  });
}

void AttentionWriter::addBias(const AttentionWeights &weights) {
  if (weights.queryBias.empty() && weights.keyBias.empty() &&
      weights.valueBias.empty())
    return;
  int32_t bias = writer.buffer("attention bias", ElementType::Float32,
                               int64_t(width) * writer.turns());
  struct Part {
    const Weights &weights;
    int32_t heads, first;
  };
  for (const Part &part :
       {Part{weights.queryBias, group, 0}, Part{weights.keyBias, 1, group * e},
        Part{weights.valueBias, 1, (group + 1) * e}}) {
    if (part.weights.empty())
      continue;
    loadColumns(bias, part.weights, part.heads, part.first, true);
    for (int32_t token = 0; token < x.tokens; ++token) {
      Operand sum = {fused, at(token, 0) + part.first, headStep, 1, -1, 0};
      writer.local(
          Opcode::Add, fixed(layout.perColumn), fixed(part.heads * e), sum, sum,
          writer.perTurn({bias, part.first, headStep, 1, -1, 0}, width));
    }
  }
}

void AttentionWriter::fusedProduct(const AttentionWeights &weights,
                                   ElementType storage) {
  int32_t matrix = writer.buffer("query, key and value", storage,
                                 int64_t(x.shard) * width * writer.turns());
  loadColumns(matrix, weights.query, group, 0, false);
  loadColumns(matrix, weights.key, 1, group * e, false);
  loadColumns(matrix, weights.value, 1, (group + 1) * e, false);
  fused = writer.temporary(int64_t(x.tokens) * width);
  Instruction item;
  item.opcode = Opcode::Product;
  item.rows = fixed(x.tokens);
  item.n = fixed(width);
  item.k = fixed(x.shard);
  item.dst = {fused, 0, width, 1, -1, 0};
  item.a = x.operand();
  item.b = writer.perTurn({matrix, 0, width, 1, -1, 0}, x.shard * width);
  writer.emit(item);
  writer.allReduce(writer.lines(Axis::Y), item.dst, fixed(x.tokens),
                   fixed(width), Combine::Add);
  addBias(weights);
}

/// A vector of headSize elements, the same for all heads.
int32_t AttentionWriter::headVector(const std::string &name,
                                    const Weights &weights) {
  int32_t buffer =
      writer.buffer(name, ElementType::Float32, int64_t(e) * writer.turns());
  Slice slice;
  slice.pes = writer.all();
  slice.buffer = buffer;
  slice.columns = layout.pairs;
  for (int32_t half = 0; half < 2; ++half) {
    slice.first = half * layout.pairs;
    slice.pes.columns = layout.columns;
    for (int32_t block = 0; block < layout.blocks; ++block) {
      slice.pes.x = block * layout.columns;
      int64_t start = half * shape.headSize / 2;
      slice.column = {start - int64_t(slice.pes.x) * layout.pairs, layout.pairs,
                      0};
      slice.columnEnd = start + shape.headSize / 2;
      writer.load(weights, slice, e);
    }
    slice.pes.x = layout.blocks * layout.columns;
    slice.pes.columns = writer.extent(Axis::X) - slice.pes.x;
    slice.columnEnd = 0;
    if (slice.pes.columns > 0)
      writer.load(weights, slice, e);
  }
  return buffer;
}

void AttentionWriter::normHeads(const AttentionWeights &weights) {
  if (weights.queryGain.empty())
    return;
  int32_t queryGain = headVector("query gain", weights.queryGain);
  int32_t keyGain = headVector("key gain", weights.keyGain);
  int32_t heads = group + 1;
  Count all = fixed(layout.perColumn * x.tokens * heads);
  int32_t sums = writer.temporary(all.value);
  auto forHeads = [&](auto f) {
    for (int32_t token = 0; token < x.tokens; ++token)
      for (int32_t local = 0; local < layout.perColumn; ++local)
        f(Operand{fused, at(token, local), e, 1, -1, 0},
          (token * layout.perColumn + local) * heads);
  };
  forHeads([&](Operand head, int32_t index) {
    writer.local(Opcode::SumOfSquares, fixed(heads), fixed(e),
                 {sums, index, 1, 1, -1, 0}, head);
  });
  Operand each = {sums, 0, 1, 1, -1, 0};
  if (layout.columns > 1)
    writer.allReduce({Axis::X, layout.columns, layout.blocks}, each, all,
                     fixed(1), Combine::Add);
  writer.local(Opcode::ReciprocalSquareRoot, all, fixed(1), each, each, {}, {},
               1.0f / static_cast<float>(shape.headSize), shape.epsilon);
  forHeads([&](Operand head, int32_t index) {
    writer.local(Opcode::Multiply, fixed(heads), fixed(e), head, head,
                 {sums, index, 1, 0, -1, 0});
    writer.local(Opcode::Multiply, fixed(group), fixed(e), head, head,
                 writer.perTurn({queryGain, 0, 0, 1, -1, 0}, e));
    head.first += group * e;
    writer.local(Opcode::Multiply, fixed(1), fixed(e), head, head,
                 writer.perTurn({keyGain, 0, 0, 1, -1, 0}, e));
  });
  writer.release(sums);
}

void AttentionWriter::rotate() {
  if (!shape.rotary)
    return;
  // A head's queries and its key follow each other.
  for (int32_t token = 0; token < x.tokens; ++token)
    for (int32_t local = 0; local < layout.perColumn; ++local) {
      Operand heads = {fused, at(token, local), e, 1, -1, 0};
      int32_t angle = token * layout.pairs;
      writer.local(Opcode::Rotate, fixed(group + 1), fixed(layout.pairs), heads,
                   heads, {positions.cosine, angle, 0, 1, -1, 0},
                   {positions.sine, angle, 0, 1, -1, 0});
    }
}

void AttentionWriter::scaleQueries() {
  for (int32_t token = 0; token < x.tokens; ++token) {
    Operand queries = {fused, token * width, headStep, 1, -1, 0};
    writer.local(Opcode::Scale, fixed(layout.perColumn), fixed(group * e),
                 queries, queries, {}, {}, shape.scale);
  }
}

void AttentionWriter::append(ElementType cacheStorage) {
  int32_t slotSize = layout.perColumn * e;
  int64_t all = int64_t(slots) * slotSize * writer.turns();
  keys = writer.buffer("keys", cacheStorage, all);
  values = writer.buffer("values", cacheStorage, all);
  int32_t slot = writer.newRegister(), own = writer.newRegister();
  count = writer.newRegister();
  layerSlots = writer.newRegister();
  Expression item;
  if (writer.turns() > 1) {
    item.regA = writer.loopRegister();
    item.a = slots;
  }
  writer.setRegister(layerSlots, item);
  for (int32_t token = 0; token < x.tokens; ++token) {
    // Position p is slot p / height of row p mod height.
    Expression row = {
        token, 0, -1, positions.first, 1, -1, 0, ScalarOp::Remainder, height};
    writer.setRegister(own, row);
    writer.setRegister(own, {0, 0, 0, own, 1, -1, 0, ScalarOp::Equal, 0});
    writer.setRegister(slot, {token, 0, 0, positions.first, 1, -1, 0,
                              ScalarOp::Divide, height});
    writer.setRegister(slot,
                       {0, 0, 0, slot, 1, layerSlots, 1, ScalarOp::None, 0});
    for (bool isValue : {false, true}) {
      Instruction copy;
      copy.opcode = Opcode::Copy;
      copy.guard = own;
      copy.rows = fixed(layout.perColumn);
      copy.n = fixed(e);
      copy.dst = {isValue ? values : keys, 0, e, 1, slot, slotSize};
      copy.a = {fused, at(token, 0) + (group + isValue) * e, headStep, 1, -1,
                0};
      writer.emit(copy);
    }
  }
  writer.setRegister(count, {x.tokens - 1 + height, 0, -1, positions.first, 1,
                             -1, 0, ScalarOp::Divide, height});
  writer.releaseRegister(slot);
  writer.releaseRegister(own);
}

void AttentionWriter::scores() {
  score = writer.temporary(int64_t(rows()) * slots);
  Operand all = {score, 0, slots, 1, -1, 0};
  for (int32_t local = 0; local < layout.perColumn; ++local)
    for (int32_t token = 0; token < x.tokens; ++token) {
      Instruction item;
      item.opcode = Opcode::Product;
      item.rows = fixed(group);
      item.n = {1, count};
      item.k = fixed(e);
      item.dst = all;
      item.dst.first = (local * x.tokens + token) * group * slots;
      item.a = {fused, at(token, local), e, 1, -1, 0};
      item.b = cache(keys, local);
      writer.emit(item);
    }
  if (layout.columns > 1)
    writer.allReduce({Axis::X, layout.columns, layout.blocks}, all,
                     fixed(rows()), {1, count}, Combine::Add);
  if (shape.softcap != 0) {
    writer.local(Opcode::Scale, fixed(rows()), {1, count}, all, all, {}, {},
                 1 / shape.softcap);
    writer.local(Opcode::Tanh, fixed(rows()), {1, count}, all, all);
    writer.local(Opcode::Scale, fixed(rows()), {1, count}, all, all, {}, {},
                 shape.softcap);
  }
  if (x.tokens == 1)
    return;
  int32_t row = writer.newRegister();
  writer.setRegister(row, {0, 0, 1, -1, 0, -1, 0, ScalarOp::None, 0});
  for (int32_t local = 0; local < layout.perColumn; ++local) {
    Instruction mask;
    mask.opcode = Opcode::Mask;
    mask.rows = fixed(x.tokens * group);
    mask.n = {1, count};
    mask.dst = all;
    mask.dst.first = local * x.tokens * group * slots;
    mask.scale = static_cast<float>(height);
    mask.shiftBy = row;
    mask.limitBy = positions.first;
    mask.group = group;
    writer.emit(mask);
  }
  writer.releaseRegister(row);
}

void AttentionWriter::softmaxAndValues() {
  Count all = fixed(rows()), cached = {1, count};
  Operand score = {this->score, 0, slots, 1, -1, 0};
  int32_t most = writer.temporary(rows());
  writer.local(Opcode::RowMaximum, all, cached, {most, 0, 1, 1, -1, 0}, score);
  writer.allReduce(writer.lines(Axis::Y), {most, 0, 1, 1, -1, 0}, all, fixed(1),
                   Combine::Maximum);
  writer.local(Opcode::Subtract, all, cached, score, score,
               {most, 0, 1, 0, -1, 0});
  writer.release(most);
  writer.local(Opcode::Exp, all, cached, score, score);
  // Weighted values and, behind them, the sum of the weights: one reduction.
  int32_t sums = writer.temporary(int64_t(rows()) * (e + 1));
  for (int32_t local = 0; local < layout.perColumn; ++local) {
    int32_t first = local * x.tokens * group;
    Instruction item;
    item.opcode = Opcode::Product;
    item.rows = fixed(x.tokens * group);
    item.n = fixed(e);
    item.k = cached;
    item.dst = {sums, first * (e + 1), e + 1, 1, -1, 0};
    item.a = score;
    item.a.first = first * slots;
    item.b = cache(values, local);
    std::swap(item.b.rowStep, item.b.step);
    writer.emit(item);
  }
  writer.local(Opcode::Sum, all, cached, {sums, e, e + 1, 1, -1, 0}, score);
  writer.allReduce(writer.lines(Axis::Y), {sums, 0, e + 1, 1, -1, 0}, all,
                   fixed(e + 1), Combine::Add);
  writer.release(this->score);
  int32_t local = layout.perColumn * group * e;
  result = writer.temporary(int64_t(x.tokens) * local);
  for (int32_t head = 0; head < layout.perColumn; ++head)
    for (int32_t token = 0; token < x.tokens; ++token) {
      int32_t row = (head * x.tokens + token) * group;
      writer.local(Opcode::Divide, fixed(group), fixed(e),
                   {result, token * local + head * group * e, e, 1, -1, 0},
                   {sums, row * (e + 1), e + 1, 1, -1, 0},
                   {sums, row * (e + 1) + e, e + 1, 0, -1, 0});
    }
  writer.release(sums);
}

Sharded AttentionWriter::output(const AttentionWeights &weights,
                                ElementType storage) {
  Sharded y = writer.vector(Axis::Y, x.size, x.tokens);
  int32_t inputs = layout.perColumn * group * e;
  int32_t matrix = writer.buffer("attention output", storage,
                                 int64_t(inputs) * y.shard * writer.turns());
  forRuns(group, [&](const PeSet &pes, int32_t local, int32_t q, Affine row,
                     int64_t end, int32_t offset) {
    Slice slice;
    slice.pes = pes;
    slice.buffer = matrix;
    slice.first = ((local * group + q) * e + offset) * y.shard;
    slice.rows = layout.pairs;
    slice.columns = y.shard;
    slice.rowStep = y.shard;
    slice.row = row;
    slice.column = {0, 0, y.shard};
    slice.rowEnd = end;
    slice.columnEnd = x.size;
    writer.load(weights.output, slice, inputs * y.shard);
  });
  Instruction item;
  item.opcode = Opcode::Product;
  item.rows = fixed(x.tokens);
  item.n = fixed(y.shard);
  item.k = fixed(inputs);
  item.dst = y.operand();
  item.a = {result, 0, inputs, 1, -1, 0};
  item.b = writer.perTurn({matrix, 0, y.shard, 1, -1, 0}, inputs * y.shard);
  writer.emit(item);
  writer.allReduce(writer.lines(Axis::X), y.operand(), fixed(x.tokens),
                   fixed(y.shard), Combine::Add);
  writer.release(result);
  writer.release(fused);
  writer.releaseRegister(count);
  writer.releaseRegister(layerSlots);
  return y;
}

} // namespace

Sharded attention(RegionWriter &writer, const Sharded &x,
                  const AttentionShape &shape, const AttentionWeights &weights,
                  const Positions &positions, ElementType storage,
                  ElementType cacheStorage) {
  AttentionWriter item(writer, x, shape, positions);
  item.fusedProduct(weights, storage);
  item.normHeads(weights);
  item.rotate();
  item.scaleQueries();
  item.append(cacheStorage);
  item.scores();
  item.softmaxAndValues();
  return item.output(weights, storage);
}

} // namespace sol::fabric
