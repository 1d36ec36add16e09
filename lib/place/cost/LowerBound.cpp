//===- LowerBound.cpp - what no plan beats --------------------------------===//
//
// See LowerBound.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/cost/LowerBound.h"

#include <algorithm>
#include <cmath>

namespace sol::place {
namespace {

NumberFormat stored(Format format) {
  return format == Format::Float32   ? NumberFormat::Float32
         : format == Format::Float16 ? NumberFormat::Float16
                                     : NumberFormat::Int8;
}

double number(int64_t value) { return static_cast<double>(value); }

/// Lanes at their full rate, whatever part of it kernels are said to reach.
double fullRate(const Target &target, NumberFormat weights,
                NumberFormat activations) {
  Target full = target;
  full.laneFraction = 1;
  return laneRate(full, weights, activations);
}

double productBound(const Target &target, const Step &step,
                    const BoundInput &input) {
  BoundStep bound;
  bound.macs = step.macs(input.context);
  bound.readBytes = bound.macs * formatBytes(step.format);
  bound.rate = fullRate(target, stored(step.format), input.activations);
  bound.summed = step.k * (step.sumsExperts ? step.active : 1);
  bound.sums = step.n * (step.sumsExperts ? 1 : step.active);
  bound.wholeLine = true;
  // Experts and vocabulary may lie on several wafers.
  bound.wafers = step.experts > 1 || step.isVocabulary ? input.wafers : 1;
  return boundOfStep(target, bound);
}

/// Scores sum over a head's elements, the weighted values over positions.
double attentionBound(const Target &target, const Step &step,
                      const BoundInput &input) {
  int64_t seen =
      step.window > 0 ? std::min(step.window, input.context) : input.context;
  double sum = 0;
  for (bool values : {false, true}) {
    int64_t size = values ? step.valueSize : step.keySize;
    BoundStep bound;
    bound.macs = number(seen) * number(step.heads * size);
    bound.readBytes =
        number(seen) * number(step.kvHeads * size * bytesOf(input.cache));
    bound.rate = fullRate(target, input.cache, input.activations);
    bound.summed = values ? seen : size;
    bound.sums = step.heads * (values ? size : seen);
    bound.wafers = input.wafers;
    sum += boundOfStep(target, bound);
  }
  return sum;
}

} // namespace

double stepBound(const Target &target, const Step &step,
                 const BoundInput &input) {
  if (step.kind == StepKind::Product)
    return productBound(target, step, input);
  if (step.kind == StepKind::Attention)
    return attentionBound(target, step, input);
  if (step.kind != StepKind::Norm && step.kind != StepKind::ArgMax)
    return 0;
  // One operation on each element, and a sum or a largest one of them all.
  BoundStep bound;
  bound.macs = number(step.n);
  bound.rate = fullRate(target, input.activations, input.activations);
  bound.summed = step.n / step.groups;
  bound.sums = step.groups;
  bound.wholeLine = step.kind == StepKind::Norm;
  return boundOfStep(target, bound);
}

namespace {

/// The longest way through a block's steps.
double blockBound(const Target &target, const Block &block,
                  const BoundInput &input) {
  std::vector<double> ends(block.steps.size());
  double longest = 0;
  for (size_t i = 0; i < block.steps.size(); ++i) {
    double begin = 0;
    for (int before : block.steps[i].inputs)
      begin = std::max(begin, ends[before]);
    ends[i] = begin + stepBound(target, block.steps[i], input);
    longest = std::max(longest, ends[i]);
  }
  return longest;
}

} // namespace

LowerBound lowerBound(const Target &target, const ModelGraph &graph,
                      const BoundInput &input) {
  LowerBound bound;
  for (const Block &block : graph.blocks)
    bound.steps += blockBound(target, block, input);
  double bytes =
      graph.weightBytes() + static_cast<double>(graph.cacheElements()) *
                                static_cast<double>(bytesOf(input.cache)) *
                                static_cast<double>(input.context) *
                                static_cast<double>(input.sequences);
  bound.leastWafers = std::max<int64_t>(
      1, static_cast<int64_t>(
             std::ceil(bytes / static_cast<double>(target.usableBytes()))));
  bound.crossings = static_cast<double>(bound.leastWafers - 1) *
                    target.linkLatencySeconds * target.clockHertz;
  bound.host = target.hostTripSeconds * target.clockHertz;
  return bound;
}

} // namespace sol::place
