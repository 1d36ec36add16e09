//===- lower_bound.cpp - what no plan of a decoder beats -----------------===//
//
// See lower_bound.h. The bound uses the lanes' full rate, whatever part of it
// kernels are said to reach.
//
//===----------------------------------------------------------------------===//
#include "machine/cost/lower_bound.h"

#include <algorithm>
#include <limits>

namespace sol {

double boundOfStep(const Target &target, const BoundStep &step) {
  double best = std::numeric_limits<double>::infinity();
  double macs = step.macs / step.rate / static_cast<double>(step.wafers);
  double reads = step.readBytes / target.readBytesPerCycle /
                 static_cast<double>(step.wafers);
  int64_t sums = std::max<int64_t>(1, step.sums);
  int64_t summed = std::max<int64_t>(1, step.summed);
  for (bool turned : {false, true}) {
    int64_t along = turned ? target.columns : target.rows;
    int64_t across = turned ? target.rows : target.columns;
    // Where there are fewer sums than PEs across, several share one.
    int64_t mostShared = std::min(summed, (across + sums - 1) / sums);
    for (int64_t shared = 1; shared <= mostShared; ++shared) {
      int64_t lines = std::min(across, sums * shared);
      for (int64_t s = 1; s <= std::min(along, summed / shared); ++s) {
        double pes = static_cast<double>(s * lines);
        int64_t distance = s / 2 + shared / 2;
        auto hops = static_cast<double>(distance * (step.wholeLine ? 2 : 1) *
                                        target.hopCycles);
        best = std::min(best, std::max({macs / pes, reads / pes, hops}));
      }
    }
  }
  return best;
}

namespace {

/// A product of `inputs` x `outputs` weights with one vector.
BoundStep productStep(const Target &target, const DecodeSetting &setting,
                      std::string name, int64_t inputs, int64_t outputs,
                      int64_t wafers) {
  BoundStep step;
  step.name = std::move(name);
  step.macs = static_cast<double>(inputs) * static_cast<double>(outputs);
  step.readBytes = step.macs * static_cast<double>(bytesOf(setting.weights));
  Target full = target;
  full.laneFraction = 1;
  step.rate = laneRate(full, setting.weights, setting.activations);
  step.summed = inputs;
  step.sums = outputs;
  step.wholeLine = true;
  step.wafers = wafers;
  return step;
}

} // namespace

std::vector<BoundStep> boundLayer(const Target &target,
                                  const DecoderShape &shape,
                                  const DecodeSetting &setting,
                                  int64_t wafers) {
  int64_t spread = shape.experts ? wafers : 1;
  std::vector<BoundStep> steps = {
      productStep(target, setting, "query, key, value", shape.width,
                  shape.queryWidth() + shape.cacheWidth(), 1)};
  // Scores sum over a head's dimensions, the mix over positions: each reads
  // half of the cache, which may lie on all wafers.
  for (const char *name : {"scores", "mix"}) {
    bool mix = name[0] == 'm';
    BoundStep step;
    step.name = name;
    step.macs = static_cast<double>(shape.queryWidth()) *
                static_cast<double>(setting.context);
    step.readBytes =
        static_cast<double>(shape.cacheWidth()) / 2 *
        static_cast<double>(setting.context * bytesOf(setting.activations));
    Target full = target;
    full.laneFraction = 1;
    step.rate = laneRate(full, setting.activations, setting.activations);
    step.summed = mix ? setting.context : shape.headDim;
    step.sums = mix ? shape.queryWidth() : shape.heads * setting.context;
    step.wafers = wafers;
    steps.push_back(step);
  }
  steps.push_back(productStep(target, setting, "output", shape.queryWidth(),
                              shape.width, 1));
  if (shape.experts)
    steps.push_back(
        productStep(target, setting, "router", shape.width, shape.experts, 1));
  steps.push_back(productStep(target, setting, "gate, up", shape.width,
                              2 * shape.activeWidth(), spread));
  steps.push_back(productStep(target, setting, "down", shape.activeWidth(),
                              shape.width, spread));
  return steps;
}

std::vector<BoundStep> boundHead(const Target &target,
                                 const DecoderShape &shape,
                                 const DecodeSetting &setting, int64_t wafers) {
  return {productStep(target, setting, "output matrix", shape.width,
                      shape.vocabulary, wafers)};
}

double boundDecodeSeconds(const Target &target, const DecoderShape &shape,
                          const DecodeSetting &setting, int64_t wafers) {
  double layer = 0, head = 0;
  for (const BoundStep &step : boundLayer(target, shape, setting, wafers))
    layer += boundOfStep(target, step);
  for (const BoundStep &step : boundHead(target, shape, setting, wafers))
    head += boundOfStep(target, step);
  return target.seconds(layer * static_cast<double>(shape.layers) + head) +
         static_cast<double>(wafers - 1) * target.linkLatencySeconds +
         target.hostTripSeconds;
}

} // namespace sol
