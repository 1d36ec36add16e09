//===- head_layout.cpp - how heads lie on columns ------------------------===//
//
// And the angles of rotary embeddings, which go by the same layout. See
// attention.h.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/attention.h"

#include <algorithm>

namespace sol::fabric {
namespace {

Count fixed(int64_t value) { return {static_cast<int32_t>(value), -1}; }

} // namespace

HeadLayout HeadLayout::of(const AttentionShape &shape, int32_t columns) {
  HeadLayout layout;
  int32_t half = shape.headSize / 2;
  if (columns >= shape.keyHeads) {
    layout.columns = std::min(columns / shape.keyHeads, half);
    layout.blocks = shape.keyHeads;
    layout.pairs = (half + layout.columns - 1) / layout.columns;
    // Columns that would have no pair are left out.
    layout.columns = (half + layout.pairs - 1) / layout.pairs;
    return layout;
  }
  layout.perColumn = (shape.keyHeads + columns - 1) / columns;
  layout.blocks = (shape.keyHeads + layout.perColumn - 1) / layout.perColumn;
  layout.pairs = half;
  return layout;
}

Positions rotaryAngles(RegionWriter &writer, const AttentionShape &shape,
                       int32_t positionRegister, int32_t tokens,
                       const Weights &frequencies) {
  Positions result;
  result.first = positionRegister;
  result.tokens = tokens;
  HeadLayout layout = HeadLayout::of(shape, writer.extent(Axis::X));
  int64_t angles = int64_t(tokens) * layout.pairs;
  int32_t frequency =
      writer.buffer("frequencies", ElementType::Float32, layout.pairs);
  for (int32_t block = 0; block < layout.blocks; ++block) {
    Slice slice;
    slice.pes = writer.all();
    slice.pes.x = block * layout.columns;
    slice.pes.columns = layout.columns;
    slice.buffer = frequency;
    slice.columns = layout.pairs;
    slice.column = {-int64_t(slice.pes.x) * layout.pairs, layout.pairs, 0};
    slice.columnEnd = shape.headSize / 2;
    writer.load(frequencies, slice, 0);
  }
  Slice rest;
  rest.pes = writer.all();
  rest.pes.x = layout.blocks * layout.columns;
  rest.pes.columns -= rest.pes.x;
  rest.buffer = frequency;
  rest.columns = layout.pairs;
  rest.columnEnd = 0;
  if (rest.pes.columns > 0)
    writer.load(frequencies, rest, 0);
  int32_t position = writer.temporary(tokens), at = writer.newRegister();
  for (int32_t token = 0; token < tokens; ++token) {
    writer.setRegister(
        at, {token, 0, 0, positionRegister, 1, -1, 0, ScalarOp::None, 0});
    Instruction item;
    item.opcode = Opcode::StoreRegister;
    item.target = at;
    item.dst = {position, token, 0, 1, -1, 0};
    writer.emit(item);
  }
  result.cosine = writer.buffer("cosines", ElementType::Float32, angles);
  result.sine = writer.buffer("sines", ElementType::Float32, angles);
  Count rows = fixed(tokens), n = fixed(layout.pairs);
  Operand cosine = {result.cosine, 0, layout.pairs, 1, -1, 0};
  Operand sine = {result.sine, 0, layout.pairs, 1, -1, 0};
  writer.local(Opcode::Multiply, rows, n, sine, {position, 0, 1, 0, -1, 0},
               {frequency, 0, 0, 1, -1, 0});
  writer.local(Opcode::Cosine, rows, n, cosine, sine);
  writer.local(Opcode::Sine, rows, n, sine, sine);
  writer.release(position);
  writer.releaseRegister(at);
  return result;
}

} // namespace sol::fabric
