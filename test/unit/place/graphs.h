//===- graphs.h - decoders made up for tests of placing -------------------===//
//
// Graphs as the reader makes them of real models, from a few sizes.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TEST_UNIT_PLACE_GRAPHS_H
#define SOL_TEST_UNIT_PLACE_GRAPHS_H

#include "lib/place/graph/BlockBuilder.h"

namespace sol::place {

/// The sizes of a decoder with gated networks, or mixtures of them.
struct DecoderSizes {
  int64_t layers = 2, width = 32, heads = 4, kvHeads = 2, headSize = 8,
          inner = 64, vocabulary = 96, experts = 1, active = 1;
  Format format = Format::Int8;
};

inline Step productStep(int64_t k, int64_t n, Format format,
                        std::vector<int> inputs) {
  Step step;
  step.kind = StepKind::Product;
  step.k = k;
  step.n = n;
  step.parts = {n};
  step.format = format;
  step.inputs = std::move(inputs);
  return step;
}

inline Step plainStep(StepKind kind, int64_t n, std::vector<int> inputs) {
  Step step;
  step.kind = kind;
  step.n = n;
  step.inputs = std::move(inputs);
  return step;
}

/// The steps of a layer behind step `in`, appended.
inline void addLayer(std::vector<Step> &steps, const DecoderSizes &sizes) {
  auto add = [&](Step step) {
    steps.push_back(std::move(step));
    return static_cast<int>(steps.size()) - 1;
  };
  int in = static_cast<int>(steps.size()) - 1;
  int64_t query = sizes.heads * sizes.headSize,
          keys = sizes.kvHeads * sizes.headSize;
  int norm = add(plainStep(StepKind::Norm, sizes.width, {in}));
  int q = add(productStep(sizes.width, query, sizes.format, {norm}));
  int k = add(productStep(sizes.width, keys, sizes.format, {norm}));
  int v = add(productStep(sizes.width, keys, sizes.format, {norm}));
  Step attention = plainStep(StepKind::Attention, query, {q, k, v});
  attention.heads = sizes.heads;
  attention.kvHeads = sizes.kvHeads;
  attention.keySize = attention.valueSize = sizes.headSize;
  int mixed = add(attention);
  int o = add(productStep(query, sizes.width, sizes.format, {mixed}));
  int sum = add(plainStep(StepKind::Local, sizes.width, {in, o}));
  int second = add(plainStep(StepKind::Norm, sizes.width, {sum}));
  std::vector<int> inputs = {second};
  if (sizes.experts > 1) {
    int router =
        add(productStep(sizes.width, sizes.experts, sizes.format, {second}));
    inputs.push_back(add(plainStep(StepKind::Gather, sizes.experts, {router})));
  }
  Step up = productStep(sizes.width, 2 * sizes.inner, sizes.format, inputs);
  up.parts = {sizes.inner, sizes.inner};
  up.experts = sizes.experts;
  up.active = sizes.active;
  int gated =
      add(plainStep(StepKind::Local, sizes.inner * sizes.active, {add(up)}));
  Step down = productStep(sizes.inner, sizes.width, sizes.format, {gated});
  down.experts = sizes.experts;
  down.active = sizes.active;
  down.sumsExperts = sizes.experts > 1;
  add(plainStep(StepKind::Local, sizes.width, {sum, add(down)}));
}

/// A decoder of those sizes.
inline ModelGraph decoderGraph(const DecoderSizes &sizes) {
  std::vector<Step> steps;
  Step lookup = plainStep(StepKind::Lookup, sizes.width, {});
  lookup.k = sizes.vocabulary;
  lookup.format = sizes.format;
  steps.push_back(lookup);
  for (int64_t layer = 0; layer < sizes.layers; ++layer)
    addLayer(steps, sizes);
  int last = static_cast<int>(steps.size()) - 1;
  steps.push_back(plainStep(StepKind::Norm, sizes.width, {last}));
  steps.push_back(
      productStep(sizes.width, sizes.vocabulary, sizes.format, {last + 1}));
  steps.push_back(plainStep(StepKind::ArgMax, sizes.vocabulary, {last + 2}));
  ModelGraph graph;
  graph.name = "made";
  graph.width = sizes.width;
  graph.vocabulary = sizes.vocabulary;
  graph.layers = sizes.layers;
  graph.blocks = makeBlocks(steps, sizes.width)->blocks;
  return graph;
}

} // namespace sol::place

#endif // SOL_TEST_UNIT_PLACE_GRAPHS_H
