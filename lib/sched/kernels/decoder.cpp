//===- decoder.cpp - a whole decoder as the program of one region --------===//
//
// See decoder.h.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/decoder.h"

namespace sol::fabric {
namespace {

/// Tokens come to PE [0, 0] and go from there to all.
int32_t tokenInput(RegionWriter &writer, FabricProgram &program,
                   int32_t count) {
  int32_t buffer = writer.buffer("tokens", ElementType::Float32, count);
  Tensor tensor;
  tensor.name = "tokens";
  tensor.columns = count;
  tensor.rowStride = count;
  program.inputs.push_back(tensor);
  Slice slice;
  slice.tensor = static_cast<int32_t>(program.inputs.size() - 1);
  slice.buffer = buffer;
  slice.columns = count;
  slice.columnEnd = count;
  writer.region().inputs.push_back(slice);
  writer.broadcast({buffer, 0, 0, 1, -1, 0}, {1, -1}, {count, -1});
  return buffer;
}

/// Row 0 gives the logits, PE [0, 0] the tokens.
void outputs(RegionWriter &writer, FabricProgram &program,
             const Sharded &logits, int32_t pairs) {
  Tensor tensor;
  tensor.name = "logits";
  tensor.rows = logits.tokens;
  tensor.columns = logits.size;
  tensor.rowStride = logits.size;
  program.outputs.push_back(tensor);
  Slice slice;
  slice.pes = {0, 0, writer.extent(Axis::X), 1, 1, 1};
  slice.tensor = static_cast<int32_t>(program.outputs.size() - 1);
  slice.buffer = logits.buffer;
  slice.first = logits.first;
  slice.rows = logits.tokens;
  slice.columns = logits.shard;
  slice.rowStep = logits.rowStep;
  slice.column = {0, logits.shard, 0};
  slice.rowEnd = logits.tokens;
  slice.columnEnd = logits.size;
  writer.region().outputs.push_back(slice);
  tensor.name = "next";
  tensor.columns = tensor.rowStride = 1;
  program.outputs.push_back(tensor);
  slice.pes = {0, 0, 1, 1, 1, 1};
  ++slice.tensor;
  slice.buffer = pairs;
  slice.first = 1;
  slice.columns = 1;
  slice.rowStep = 2;
  slice.column = {};
  slice.columnEnd = 1;
  writer.region().outputs.push_back(slice);
}

} // namespace

void writeDecoder(RegionWriter &writer, FabricProgram &program,
                  const DecoderShape &shape, const DecoderWeights &weights) {
  // The first register that is handed out is 0.
  int32_t position = writer.newRegister();
  int32_t tokens = tokenInput(writer, program, shape.tokens);
  Table words =
      table(writer, shape.words, shape.width, weights.table, shape.storage);
  Positions positions = rotaryAngles(writer, shape.attention, position,
                                     shape.tokens, weights.frequencies);
  Sharded stream = lookUp(writer, words, tokens, shape.tokens);
  writer.beginLoop(shape.layers);
  Sharded normed =
      rmsNorm(writer, stream, weights.attentionGain, shape.epsilon);
  Sharded attended =
      attention(writer, normed, shape.attention, weights.attention, positions,
                shape.storage, shape.cacheStorage);
  writer.release(normed.buffer);
  addResidual(writer, stream, attended);
  writer.release(attended.buffer);
  normed = rmsNorm(writer, stream, weights.mlpGain, shape.epsilon);
  Sharded mixed =
      gatedMlp(writer, normed, weights.gate, weights.up, weights.down,
               shape.hidden, shape.activation, shape.storage);
  writer.release(normed.buffer);
  addResidual(writer, stream, mixed);
  writer.release(mixed.buffer);
  writer.endLoop();
  normed = rmsNorm(writer, stream, weights.finalGain, shape.epsilon);
  if (!weights.head.empty())
    words =
        table(writer, shape.words, shape.width, weights.head, shape.storage);
  Sharded scores = logits(writer, words, normed);
  int32_t pairs = greedyTokens(writer, scores);
  outputs(writer, program, scores, pairs);
  writer.setRegister(
      position, {shape.tokens, 0, 0, position, 1, -1, 0, ScalarOp::None, 0});
}

} // namespace sol::fabric
