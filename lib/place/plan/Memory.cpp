//===- Memory.cpp - bytes of a PE that a placement takes ------------------===//
//
// See Memory.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/plan/Memory.h"

#include "absl/strings/str_cat.h"

#include <set>

namespace sol::place {
namespace {

/// All of a step that costs depend on.
std::string signatureOf(const Step &step) {
  std::string text = absl::StrCat(
      static_cast<int>(step.kind), ",", static_cast<int>(step.from), ",",
      static_cast<int>(step.to), ",", step.k, ",", step.n, ",", step.groups,
      ",", step.words, ",", step.passes, ",", static_cast<int>(step.format),
      ",", step.scaleBytesPerElement, ",", step.experts, ",", step.active);
  absl::StrAppend(&text, ",", step.sumsExperts, ",", step.heads, ",",
                  step.kvHeads, ",", step.keySize, ",", step.valueSize, ",",
                  step.window, ",", step.vectorBytes);
  for (int64_t part : step.parts)
    absl::StrAppend(&text, "+", part);
  for (int input : step.inputs)
    absl::StrAppend(&text, "<", input);
  return text;
}

} // namespace

std::vector<int> numberBlockKinds(const ModelGraph &graph) {
  std::vector<int> kinds;
  std::map<std::string, int> known;
  for (const Block &block : graph.blocks) {
    std::string text(blockKindName(block.kind));
    for (const Step &step : block.steps)
      absl::StrAppend(&text, ";", signatureOf(step));
    kinds.push_back(
        known.try_emplace(text, static_cast<int>(known.size())).first->second);
  }
  return kinds;
}

BlockMemory::BlockMemory(const Problem &problem)
    : problem(problem), costs(problem.target, problem.kernels),
      kinds(numberBlockKinds(*problem.graph)) {}

PeBytes BlockMemory::bytes(int block, Shape shape, int64_t experts,
                           int64_t tokens) {
  Key key{kinds[block], shape.width, shape.height, experts, tokens};
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  PeBytes sum;
  int64_t scratch = 0;
  for (const Step &step : problem.graph->blocks[block].steps) {
    PeBytes bytes = costs.bytes(step, shape, {tokens, problem.context},
                                problem.sequences, experts);
    scratch += bytes.scratch;
    sum += bytes;
  }
  sum.scratch = scratch;
  return known[key] = sum;
}

std::vector<PeBytes> BlockMemory::regionBytes(const Placement &placement) {
  std::vector<PeBytes> all(placement.regions.size());
  std::set<std::pair<int, std::string>> tables;
  for (size_t block = 0; block < placement.blocks.size(); ++block)
    for (const Shard &shard : placement.blocks[block]) {
      Shape shape = placement.regions[shard.region].shape();
      const Block &graphBlock = problem.graph->blocks[block];
      int64_t experts = graphBlock.experts() > 1 ? shard.experts() : 0;
      all[shard.region] +=
          bytes(static_cast<int>(block), shape, experts, placement.chunkTokens);
      // A table that serves look-up and scores lies there once: as a look-up
      // its columns are the rows that the product has in its columns.
      for (const Step &step : graphBlock.steps)
        if (!step.table.empty() && step.experts == 1 &&
            !tables.insert({shard.region, step.table}).second) {
          Step shared = step;
          shared.vectorBytes = 0;
          all[shard.region].weights -=
              costs.bytes(shared, shape, {1, 1}, 1).weights;
        }
    }
  return all;
}

} // namespace sol::place
