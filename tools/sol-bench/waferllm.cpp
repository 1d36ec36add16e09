//===- waferllm.cpp - the published runs that the model is fitted to -----===//
//
// See waferllm.h. The order and the vectors of the all-reduces are those of the
// repository's decoder: norm, fused query/key/value, scores, maximum, sum,
// mix, output, norm, fused gate/up, down. Two float16 numbers share a word.
//
//===----------------------------------------------------------------------===//
#include "tools/sol-bench/waferllm.h"

#include "machine/cost/local_work.h"
#include "machine/cost/reduction_tree.h"

#include <cmath>

namespace sol {

std::vector<WaferLlmCase> waferLlmLlamaCases() {
  // Side, groups, width, feed-forward.
  const int64_t rows[][4] = {{240, 15, 4080, 14400},
                             {360, 18, 4320, 14400},
                             {480, 20, 4320, 14400},
                             {660, 22, 4620, 14520},
                             {720, 24, 4320, 14400}};
  std::vector<WaferLlmCase> cases;
  for (const auto &[side, groups, width, feedForward] : rows)
    cases.push_back(
        {"Llama-3-8B", side, groups, width, feedForward, width, 32});
  return cases;
}

WaferLlmCase waferLlmQwenCase() {
  return {"Qwen2-72B", 720, 24, 8640, 30240, 4320, 80};
}

WaferLlmCase waferLlmProfileCase(int64_t side) {
  return {"profile", side, side / 24, 9 * side, 30 * side, 9 * side, 1};
}

int64_t waferLlmFabricCycles(const FabricTiming &timing,
                             const WaferLlmCase &item) {
  int64_t width = item.width / item.side, inner = item.feedForward / item.side;
  int64_t positions = item.positions / item.side;
  ReductionTree tree = middleTwoLevelTree(item.side, item.side / item.groups);
  int64_t cycles = 0;
  for (int64_t numbers :
       {int64_t(1), 3 * width, positions, int64_t(1), int64_t(1), width, width,
        int64_t(1), 2 * inner, width}) {
    int64_t words = (numbers + 1) / 2;
    cycles += scheduleReduction(timing, tree, words).cycles;
    // The root sends to one side, then to the other.
    cycles += 2 * timing.start + words + timing.message(words, item.side / 2);
  }
  return cycles;
}

int64_t waferLlmLocalCycles(const Target &target, const WaferLlmCase &item) {
  int64_t width = item.width / item.side, inner = item.feedForward / item.side;
  int64_t positions = item.positions / item.side;
  auto product = [&](int64_t inputs, int64_t outputs) {
    LocalProduct work;
    work.inputs = inputs;
    work.outputs = outputs;
    work.accumulators = Accumulators::MemoryFloat16;
    return productCycles(target, work).cycles;
  };
  // Query, key and value; scores and mix; output; gate and up; down.
  int64_t cycles = product(width, 3 * width) + product(width, positions) +
                   product(positions, width) + product(width, width) +
                   product(width, 2 * inner) + product(inner, width);
  constexpr int64_t localPhases = 13;
  return cycles + localPhases * FabricTiming::of(target).start;
}

double waferLlmTokensPerSecond(const Target &target, const WaferLlmCase &item) {
  int64_t layer = waferLlmLocalCycles(target, item) +
                  waferLlmFabricCycles(FabricTiming::of(target), item);
  return target.clockHertz / static_cast<double>(layer * item.layers);
}

int64_t fitStart(double wanted, const std::function<double(int64_t)> &cycles) {
  int64_t low = 0, high = 1 << 16;
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    (cycles(middle) <= wanted ? low : high) = middle;
  }
  return std::abs(cycles(high) - wanted) < std::abs(cycles(low) - wanted) ? high
                                                                          : low;
}

} // namespace sol
