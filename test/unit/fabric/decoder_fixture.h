//===- decoder_fixture.h - a decoder with random weights -----------------===//
//
// The weights of a small decoder, for the fabric and for plain loops.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TEST_UNIT_FABRIC_DECODER_FIXTURE_H
#define SOL_TEST_UNIT_FABRIC_DECODER_FIXTURE_H

#include "lib/sched/kernels/decoder.h"

#include "test/unit/fabric/fabric_fixture.h"

namespace sol::fabric {

/// Two layers of sizes that divide by little, with a context of 12.
inline DecoderShape smallDecoder(int32_t heads, int32_t keyHeads,
                                 int32_t headSize, int32_t tokens) {
  DecoderShape shape;
  shape.attention = {
      heads, keyHeads, headSize, 12, 1 / std::sqrt(float(headSize)), 0, true};
  shape.layers = 2;
  shape.width = 22;
  shape.hidden = 29;
  shape.words = 47;
  shape.tokens = tokens;
  return shape;
}

struct Layer {
  Matrix attentionGain, query, key, value, queryBias, output;
  Matrix queryGain, keyGain;
  Matrix mlpGain, gate, up, down;
};

/// Random weights of a decoder.
struct Model {
  DecoderShape shape;
  Matrix table, frequencies, finalGain;
  std::vector<Layer> layers;
  bool headNorms = false; ///< queries and keys are normed
};

inline Model makeModel(FabricFixture &fixture, DecoderShape shape) {
  const AttentionShape &attention = shape.attention;
  int64_t inner = int64_t(attention.heads) * attention.headSize;
  int64_t keys = int64_t(attention.keyHeads) * attention.headSize;
  Model model{shape,
              fixture.random(shape.words, shape.width),
              fixture.random(1, attention.headSize / 2),
              fixture.random(1, shape.width),
              {}};
  for (int32_t i = 0; i < shape.layers; ++i)
    model.layers.push_back(
        {fixture.random(1, shape.width), fixture.random(shape.width, inner),
         fixture.random(shape.width, keys), fixture.random(shape.width, keys),
         fixture.random(1, inner), fixture.random(inner, shape.width, 0.3f),
         fixture.random(1, attention.headSize, 2),
         fixture.random(1, attention.headSize, 2),
         fixture.random(1, shape.width),
         fixture.random(shape.width, shape.hidden, 0.5f),
         fixture.random(shape.width, shape.hidden, 0.5f),
         fixture.random(shape.hidden, shape.width, 0.3f)});
  return model;
}

inline DecoderWeights addWeights(FabricFixture &fixture, const Model &model) {
  DecoderWeights weights;
  weights.table = {fixture.addWeights(model.table)};
  weights.frequencies = {fixture.addWeights(model.frequencies)};
  weights.finalGain = {fixture.addWeights(model.finalGain)};
  for (const Layer &layer : model.layers) {
    auto add = [&](Weights &list, const Matrix &matrix) {
      list.push_back(fixture.addWeights(matrix));
    };
    add(weights.attentionGain, layer.attentionGain);
    add(weights.attention.query, layer.query);
    add(weights.attention.key, layer.key);
    add(weights.attention.value, layer.value);
    add(weights.attention.queryBias, layer.queryBias);
    if (model.headNorms) {
      add(weights.attention.queryGain, layer.queryGain);
      add(weights.attention.keyGain, layer.keyGain);
    }
    add(weights.attention.output, layer.output);
    add(weights.mlpGain, layer.mlpGain);
    add(weights.gate, layer.gate);
    add(weights.up, layer.up);
    add(weights.down, layer.down);
  }
  return weights;
}

} // namespace sol::fabric

#endif // SOL_TEST_UNIT_FABRIC_DECODER_FIXTURE_H
