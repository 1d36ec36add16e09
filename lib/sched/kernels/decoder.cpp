//===- decoder.cpp - a whole decoder as the program of one region --------===//
//
// See decoder.h.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/decoder.h"

#include "lib/sched/kernels/region/transfer.h"

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

/// `each` matrices for each layer of those that are given for all layers.
Weights part(const Weights &all, int32_t first, int32_t layers,
             int32_t each = 1) {
  if (all.empty())
    return {};
  return {all.begin() + int64_t(first) * each,
          all.begin() + int64_t(first + layers) * each};
}

/// The weights of some layers.
DecoderWeights layersOf(const DecoderWeights &all, int32_t first,
                        int32_t layers, int32_t experts) {
  DecoderWeights result = all;
  AttentionWeights &attention = result.attention;
  for (Weights *list :
       {&result.attentionGain, &result.mlpGain, &attention.query,
        &attention.key, &attention.value, &attention.output,
        &attention.queryBias, &attention.keyBias, &attention.valueBias,
        &attention.queryGain, &attention.keyGain, &result.gate, &result.up,
        &result.down, &result.experts.router})
    *list = part(*list, first, layers);
  for (Weights *list :
       {&result.experts.gate, &result.experts.up, &result.experts.down})
    *list = part(*list, first, layers, experts);
  return result;
}

void writeLayers(RegionWriter &writer, const Sharded &stream, int32_t layers,
                 const DecoderShape &shape, const DecoderWeights &weights,
                 const Positions &positions) {
  writer.beginLoop(layers);
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
      shape.experts
          ? experts(writer, normed, *shape.experts, weights.experts,
                    shape.storage)
          : gatedMlp(writer, normed, weights.gate, weights.up, weights.down,
                     shape.hidden, shape.activation, shape.storage);
  writer.release(normed.buffer);
  addResidual(writer, stream, mixed);
  writer.release(mixed.buffer);
  writer.endLoop();
}

void writeHead(RegionWriter &writer, FabricProgram &program,
               const Sharded &stream, const Table &words,
               const DecoderShape &shape, const DecoderWeights &weights) {
  Sharded normed = rmsNorm(writer, stream, weights.finalGain, shape.epsilon);
  Sharded scores = logits(writer, words, normed);
  int32_t pairs = greedyTokens(writer, scores);
  outputs(writer, program, scores, pairs);
}

} // namespace

void writeDecoder(FabricProgram &program,
                  const std::vector<DecoderStage> &stages,
                  const DecoderShape &shape, const DecoderWeights &weights) {
  Sharded stream;
  Table words;
  int32_t first = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    RegionWriter &writer = *stages[i].writer;
    // The first register that is handed out is 0.
    int32_t position = writer.newRegister();
    auto addTable = [&](const Weights &matrix) {
      words = table(writer, shape.words, shape.width, matrix, shape.storage);
    };
    if (i == 0) {
      int32_t tokens = tokenInput(writer, program, shape.tokens);
      addTable(weights.table);
      stream = lookUp(writer, words, tokens, shape.tokens);
    } else {
      // A region receives on one colour what it doesn't send on.
      stream = transferEast(program, *stages[i - 1].writer, stream, writer,
                            shape.transferColour + static_cast<int32_t>(i % 2));
    }
    Positions positions = rotaryAngles(writer, shape.attention, position,
                                       shape.tokens, weights.frequencies);
    writeLayers(writer, stream, stages[i].layers, shape,
                layersOf(weights, first, stages[i].layers,
                         shape.experts ? shape.experts->experts : 1),
                positions);
    first += stages[i].layers;
    if (i + 1 == stages.size()) {
      if (!weights.head.empty())
        addTable(weights.head);
      else if (i > 0)
        addTable(weights.table);
      writeHead(writer, program, stream, words, shape, weights);
    }
    writer.setRegister(
        position, {shape.tokens, 0, 0, position, 1, -1, 0, ScalarOp::None, 0});
  }
}

} // namespace sol::fabric
