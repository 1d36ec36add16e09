//===- decode_estimate.cpp - a token of a decoder, estimated by shape ----===//
//
// See decode_estimate.h. Partial sums travel as float32, other vectors in the
// activations' format.
//
//===----------------------------------------------------------------------===//
#include "machine/cost/decode_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sol {
namespace {

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Adds up the steps of one layer.
class LayerEstimate {
public:
  LayerEstimate(const Target &target, CollectiveModel &collectives,
                const DecoderShape &shape, const DecodeSetting &setting,
                int64_t width, int64_t height)
      : target(target), collectives(collectives), shape(shape),
        setting(setting), width(width), height(height) {}

  std::vector<StepEstimate> steps();
  /// Output matrix and the choice of a token.
  std::vector<StepEstimate> head();

private:
  WorkParts &step(const char *name) {
    list.push_back({name, {}});
    return list.back().parts;
  }
  void local(WorkParts &parts, const LocalCost &cost);
  void allReduce(WorkParts &parts, int64_t pes, int64_t words) {
    parts.fabric += collectives.allReduce(pes, words).parts;
  }
  int64_t sumWords(int64_t elements) const {
    return wordsOf(target, NumberFormat::Float32, elements);
  }
  void norm(const char *name);
  /// inputs over `along` PEs, outputs over `across`, the sum wherever the
  /// inputs lie.
  void product(const char *name, int64_t inputs, int64_t along, int64_t outputs,
               int64_t across);
  void vectors(const char *name, int64_t elements, int64_t operations);
  void attention();
  WorkParts attentionOver(int64_t headPes, int64_t dimPes) const;

  const Target &target;
  CollectiveModel &collectives;
  const DecoderShape &shape;
  const DecodeSetting &setting;
  int64_t width, height;
  std::vector<StepEstimate> list;
};

void LayerEstimate::local(WorkParts &parts, const LocalCost &cost) {
  (cost.limit == LocalLimit::Arithmetic ? parts.arithmetic : parts.memory) +=
      cost.cycles;
  parts.fabric.starts += collectives.fabric().start;
}

void LayerEstimate::norm(const char *name) {
  WorkParts &parts = step(name);
  int64_t elements = ceilDivide(shape.width, height);
  local(parts, vectorCycles(target, NumberFormat::Float32, elements, 1, 1, 0));
  allReduce(parts, height, 1);
  local(parts, vectorCycles(target, setting.activations, elements, 2, 2, 1));
}

void LayerEstimate::product(const char *name, int64_t inputs, int64_t along,
                            int64_t outputs, int64_t across) {
  WorkParts &parts = step(name);
  LocalProduct work;
  work.inputs = ceilDivide(inputs, along);
  work.outputs = ceilDivide(outputs, across);
  work.weights = setting.weights;
  work.activations = setting.activations;
  local(parts, productCycles(target, work));
  allReduce(parts, along, sumWords(work.outputs));
}

void LayerEstimate::vectors(const char *name, int64_t elements,
                            int64_t operations) {
  local(step(name),
        vectorCycles(target, setting.activations, elements, operations, 2, 1));
}

/// Attention of one head for keys and values on headPes columns, of which
/// groups of dimPes share a position's dimensions; positions are spread over
/// the groups and over the rows.
WorkParts LayerEstimate::attentionOver(int64_t headPes, int64_t dimPes) const {
  WorkParts parts;
  auto add = [&](const LocalCost &cost) {
    (cost.limit == LocalLimit::Arithmetic ? parts.arithmetic : parts.memory) +=
        cost.cycles;
    parts.fabric.starts += collectives.fabric().start;
  };
  int64_t groups = std::max<int64_t>(1, headPes / dimPes);
  // Columns may hold several heads when there are few of them.
  int64_t headsHere = ceilDivide(shape.kvHeads, width);
  int64_t queries = shape.heads / shape.kvHeads * headsHere;
  int64_t positions = ceilDivide(setting.context, height * groups);
  int64_t dims = ceilDivide(shape.headDim, dimPes);
  LocalProduct scores;
  scores.inputs = dims;
  scores.outputs = positions * headsHere;
  scores.vectors = shape.heads / shape.kvHeads;
  scores.weights = scores.activations = setting.activations;
  add(productCycles(target, scores));
  parts.fabric +=
      collectives.allReduce(dimPes, sumWords(queries * positions)).parts;
  // The largest score, then the sum of exponentials, each over all positions.
  for (int reduction = 0; reduction < 2; ++reduction) {
    add(vectorCycles(target, setting.activations, queries * positions,
                     reduction ? 8 : 1, 1, reduction));
    parts.fabric += collectives.allReduce(height, sumWords(queries)).parts;
    parts.fabric += collectives.allReduce(groups, sumWords(queries)).parts;
  }
  LocalProduct mix = scores;
  mix.inputs = positions;
  mix.outputs = dims * headsHere;
  add(productCycles(target, mix));
  int64_t words = sumWords(queries * dims);
  parts.fabric += collectives.allReduce(groups, words).parts;
  parts.fabric += collectives.allReduce(height, words).parts;
  return parts;
}

void LayerEstimate::attention() {
  int64_t headPes = std::max<int64_t>(1, width / shape.kvHeads);
  WorkParts best = attentionOver(headPes, 1);
  for (int64_t dimPes = 2; dimPes <= std::min(headPes, shape.headDim);
       dimPes *= 2) {
    WorkParts parts = attentionOver(headPes, dimPes);
    if (parts.cycles() < best.cycles())
      best = parts;
  }
  step("attention") = best;
}

std::vector<StepEstimate> LayerEstimate::steps() {
  int64_t projected = shape.queryWidth() + shape.cacheWidth();
  int64_t inner = shape.activeWidth();
  norm("norm");
  product("query, key, value", shape.width, height, projected, width);
  vectors("rotation", ceilDivide(projected, width), 4);
  attention();
  product("output", shape.queryWidth(), width, shape.width, height);
  vectors("residual", ceilDivide(shape.width, height), 1);
  norm("norm");
  if (shape.experts) {
    product("router", shape.width, height, shape.experts, width);
    // Each chosen expert is a largest of what is left.
    WorkParts &choice = step("choice of experts");
    allReduce(choice, width, 2 * shape.expertsPerToken);
  }
  product("gate, up", shape.width, height, 2 * inner, width);
  vectors("activation", ceilDivide(inner, width), 8);
  product("down", inner, width, shape.width, height);
  vectors("residual", ceilDivide(shape.width, height), 1);
  return std::move(list);
}

std::vector<StepEstimate> LayerEstimate::head() {
  norm("norm");
  product("output matrix", shape.width, height, shape.vocabulary, width);
  WorkParts &choice = step("choice of a token");
  local(choice, vectorCycles(target, setting.activations,
                             ceilDivide(shape.vocabulary, width), 1, 1, 0));
  allReduce(choice, width, 2);
  return std::move(list);
}

WorkParts sumOf(const std::vector<StepEstimate> &steps) {
  WorkParts parts;
  for (const StepEstimate &step : steps)
    parts += step.parts;
  return parts;
}

/// Sides of rectangles that are tried: steps of a quarter.
std::vector<int64_t> sidesUpTo(int64_t most) {
  std::vector<int64_t> sides;
  for (int64_t side = 1; side < most; side = std::max(side + 1, side * 5 / 4))
    sides.push_back(side);
  sides.push_back(most);
  return sides;
}

} // namespace

std::string_view WorkParts::binding() const {
  std::pair<int64_t, std::string_view> parts[] = {
      {arithmetic, "arithmetic"}, {memory, "SRAM"},
      {fabric.words, "words"},    {fabric.hops, "hops"},
      {fabric.ramps, "ramps"},    {fabric.starts, "starts"}};
  return std::max_element(
             std::begin(parts), std::end(parts),
             [](const auto &a, const auto &b) { return a.first < b.first; })
      ->second;
}

WorkParts &WorkParts::operator+=(const WorkParts &other) {
  arithmetic += other.arithmetic;
  memory += other.memory;
  fabric += other.fabric;
  return *this;
}

std::vector<StepEstimate> estimateLayer(const Target &target,
                                        CollectiveModel &collectives,
                                        const DecoderShape &shape,
                                        const DecodeSetting &setting,
                                        int64_t width, int64_t height) {
  return LayerEstimate(target, collectives, shape, setting, width, height)
      .steps();
}

DecodeEstimate estimateDecode(const Target &target,
                              CollectiveModel &collectives,
                              const DecoderShape &shape,
                              const DecodeSetting &setting, int64_t wafers) {
  DecodeEstimate result;
  result.wafers = wafers;
  result.layersPerWafer = ceilDivide(shape.layers, wafers);
  int64_t best = std::numeric_limits<int64_t>::max();
  // Layers lie in a grid of rectangles, so many beside and below each other.
  for (int64_t width : sidesUpTo(target.columns)) {
    int64_t beside = target.columns / width;
    int64_t below = ceilDivide(result.layersPerWafer, beside);
    for (int64_t height :
         sidesUpTo(target.rows / std::max<int64_t>(1, below))) {
      // Small rectangles waste the wafer, and never win.
      if (height < 1 || below > target.rows ||
          4 * width * height * result.layersPerWafer < target.pes())
        continue;
      WorkParts parts = sumOf(
          estimateLayer(target, collectives, shape, setting, width, height));
      if (parts.cycles() >= best)
        continue;
      best = parts.cycles();
      result.layer = parts;
      result.width = width;
      result.height = height;
    }
  }
  result.head = sumOf(LayerEstimate(target, collectives, shape, setting,
                                    target.columns, target.rows)
                          .head());
  double bytes =
      static_cast<double>(shape.layerWeights()) *
          static_cast<double>(bytesOf(setting.weights)) +
      static_cast<double>(shape.layers * setting.context * shape.cacheWidth() *
                          bytesOf(setting.activations)) +
      static_cast<double>(2 * shape.vocabulary * shape.width *
                          bytesOf(setting.weights));
  result.usedBytesPerPe = bytes / static_cast<double>(wafers * target.pes());
  result.fits =
      result.usedBytesPerPe <= static_cast<double>(target.usableBytesPerPe());
  double streamed =
      static_cast<double>(shape.width * bytesOf(setting.activations));
  result.linkSeconds =
      static_cast<double>(wafers - 1) * linkSeconds(target, streamed);
  result.hostSeconds = target.hostTripSeconds;
  result.tokenSeconds =
      target.seconds(static_cast<double>(shape.layers * result.layer.cycles() +
                                         result.head.cycles())) +
      result.linkSeconds + result.hostSeconds;
  return result;
}

} // namespace sol
