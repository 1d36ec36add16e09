//===- BlockBuilder.cpp - from a list of steps to blocks ------------------===//
//
// See BlockBuilder.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/graph/BlockBuilder.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace sol::place {
namespace {

/// The last step that takes each step's result; itself if none does.
std::vector<int> lastUses(const std::vector<Step> &steps) {
  std::vector<int> last(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    last[i] = static_cast<int>(i);
    for (int input : steps[i].inputs)
      last[input] = static_cast<int>(i);
  }
  return last;
}

/// Does nothing but the result of step `i` live on behind it?
bool isCut(const std::vector<int> &last, size_t i) {
  int here = static_cast<int>(i);
  if (last[i] <= here)
    return false;
  for (size_t earlier = 0; earlier < i; ++earlier)
    if (last[earlier] > here)
      return false;
  return true;
}

bool has(const Block &block, StepKind kind) {
  return std::any_of(block.steps.begin(), block.steps.end(),
                     [&](const Step &step) { return step.kind == kind; });
}

BlockKind kindOf(const Block &block) {
  if (has(block, StepKind::ArgMax))
    return BlockKind::Head;
  if (has(block, StepKind::Attention))
    return BlockKind::Attention;
  if (has(block, StepKind::Lookup))
    return BlockKind::Embedding;
  return block.experts() > 1 ? BlockKind::Experts : BlockKind::FeedForward;
}

/// Steps with inputs by number within the block; what comes from before is the
/// block's own input, which no number stands for.
void renumber(Block &block, int first) {
  for (Step &step : block.steps) {
    std::vector<int> inside;
    for (int input : step.inputs)
      if (input >= first)
        inside.push_back(input - first);
    step.inputs = inside;
  }
}

void nameBlocks(std::vector<Block> &blocks) {
  int64_t layer = -1;
  for (Block &block : blocks) {
    block.kind = kindOf(block);
    layer += block.kind == BlockKind::Attention;
    block.layer =
        block.kind == BlockKind::Head || block.kind == BlockKind::Embedding
            ? -1
            : layer;
    if (block.kind == BlockKind::Head)
      for (Step &step : block.steps)
        step.isVocabulary =
            step.kind == StepKind::Product && step.n == block.steps.back().n;
    block.name = block.layer < 0 ? std::string(blockKindName(block.kind))
                                 : absl::StrCat("layer ", block.layer, " ",
                                                blockKindName(block.kind));
  }
}

/// Keeps the steps that `keep` marks; `stands` gives for each step the one that
/// stands for it.
void removeSteps(Block &block, const std::vector<bool> &keep,
                 const std::vector<int> &stands) {
  std::vector<int> number(block.steps.size(), -1);
  std::vector<Step> kept;
  for (size_t i = 0; i < block.steps.size(); ++i)
    if (keep[i]) {
      number[i] = static_cast<int>(kept.size());
      kept.push_back(block.steps[i]);
    }
  for (Step &step : kept) {
    std::vector<int> inputs;
    for (int input : step.inputs) {
      int known = number[stands[input]];
      if (std::find(inputs.begin(), inputs.end(), known) == inputs.end())
        inputs.push_back(known);
    }
    step.inputs = inputs;
  }
  block.steps = std::move(kept);
}

bool sameOperand(const Step &a, const Step &b) {
  return a.kind == StepKind::Product && b.kind == StepKind::Product &&
         a.inputs == b.inputs && a.k == b.k && a.format == b.format &&
         a.experts == 1 && b.experts == 1;
}

/// Queries, keys and values become one product, and so do gate and up.
void joinProducts(Block &block) {
  std::vector<bool> keep(block.steps.size(), true);
  std::vector<int> stands(block.steps.size());
  for (size_t i = 0; i < block.steps.size(); ++i) {
    stands[i] = static_cast<int>(i);
    for (size_t j = 0; j < i && keep[i]; ++j) {
      Step &first = block.steps[j], &step = block.steps[i];
      if (!keep[j] || !sameOperand(first, step))
        continue;
      double bytes = first.scaleBytesPerElement * static_cast<double>(first.n) +
                     step.scaleBytesPerElement * static_cast<double>(step.n);
      first.parts.insert(first.parts.end(), step.parts.begin(),
                         step.parts.end());
      first.n += step.n;
      first.scaleBytesPerElement = bytes / static_cast<double>(first.n);
      first.vectorBytes += step.vectorBytes;
      first.table += first.table.empty() ? "" : "+" + step.table;
      keep[i] = false;
      stands[i] = static_cast<int>(j);
    }
  }
  removeSteps(block, keep, stands);
}

/// An operation on elements that alone takes another's result is done with it.
void joinLocals(Block &block) {
  std::vector<int> uses(block.steps.size());
  for (const Step &step : block.steps)
    for (int input : step.inputs)
      ++uses[input];
  std::vector<bool> keep(block.steps.size(), true);
  std::vector<int> stands(block.steps.size());
  for (size_t i = 0; i < block.steps.size(); ++i) {
    stands[i] = static_cast<int>(i);
    Step &step = block.steps[i];
    if (step.kind != StepKind::Local || step.inputs.size() != 1)
      continue;
    int before = stands[step.inputs[0]];
    Step &earlier = block.steps[before];
    if (earlier.kind != StepKind::Local || uses[step.inputs[0]] != 1)
      continue;
    earlier.passes += step.passes;
    earlier.n = std::max(earlier.n, step.n);
    earlier.vectorBytes += step.vectorBytes;
    keep[i] = false;
    stands[i] = before;
  }
  removeSteps(block, keep, stands);
}

Axis other(Axis axis) { return axis == Axis::Row ? Axis::Column : Axis::Row; }

/// Shards each step as its operands are; where they differ, or an attention's
/// are not by columns, the operands by rows are exchanged first.
void shardSteps(Block &block) {
  std::vector<Step> steps;
  std::vector<int> number;
  // What all PEs know: what was gathered, and what is made of that alone.
  std::vector<bool> everywhere;
  for (Step step : block.steps) {
    std::vector<int> inputs;
    for (int input : step.inputs)
      inputs.push_back(number[input]);
    auto exchange = [&](int index) {
      Step move;
      move.kind = StepKind::Gather;
      move.node = step.node;
      move.n = steps[index].n;
      move.inputs = {index};
      move.from = steps[index].to;
      move.to = move.from;
      steps.push_back(move);
      everywhere.push_back(true);
      return static_cast<int>(steps.size()) - 1;
    };
    Axis wanted = inputs.empty() ? Axis::Row : steps[inputs[0]].to;
    // The first operand that not all PEs know decides.
    for (size_t i = inputs.size(); i-- > 0;)
      if (!everywhere[inputs[i]])
        wanted = steps[inputs[i]].to;
    if (step.kind == StepKind::Attention)
      wanted = Axis::Column;
    for (int &input : inputs)
      if (steps[input].to != wanted && !everywhere[input])
        input = exchange(input);
    step.inputs = inputs;
    step.from = wanted;
    step.to = step.kind == StepKind::Product ? other(wanted) : wanted;
    number.push_back(static_cast<int>(steps.size()));
    bool isKnown = step.kind == StepKind::Local && !inputs.empty() &&
                   std::all_of(inputs.begin(), inputs.end(),
                               [&](int input) { return everywhere[input]; });
    everywhere.push_back(isKnown || step.kind == StepKind::Gather);
    steps.push_back(step);
  }
  if (block.kind != BlockKind::Head && steps.back().to != Axis::Row) {
    Step move;
    move.kind = StepKind::Gather;
    move.node = steps.back().node;
    move.n = steps.back().n;
    move.inputs = {static_cast<int>(steps.size()) - 1};
    move.from = move.to = Axis::Row;
    steps.push_back(move);
  }
  block.steps = std::move(steps);
}

} // namespace

void arrangeBlock(Block &block) {
  joinProducts(block);
  joinLocals(block);
  shardSteps(block);
}

absl::StatusOr<BlockList> makeBlocks(const std::vector<Step> &steps,
                                     int64_t width) {
  BlockList list;
  std::vector<int> last = lastUses(steps);
  Block block;
  int first = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    block.steps.push_back(steps[i]);
    list.blockOf.push_back(static_cast<int>(list.blocks.size()));
    bool isWork = has(block, StepKind::Product) ||
                  has(block, StepKind::Lookup) ||
                  has(block, StepKind::Attention);
    bool isLast = i + 1 == steps.size();
    if (!isLast && !(isWork && steps[i].n == width && isCut(last, i)))
      continue;
    renumber(block, first);
    list.blocks.push_back(std::move(block));
    block = Block();
    first = static_cast<int>(i) + 1;
  }
  nameBlocks(list.blocks);
  for (Block &made : list.blocks)
    arrangeBlock(made);
  bool hasAttention = std::any_of(
      list.blocks.begin(), list.blocks.end(),
      [](const Block &made) { return has(made, StepKind::Attention); });
  if (!hasAttention)
    return absl::InvalidArgumentError(
        absl::StrCat("has no attention with a cache among its ", steps.size(),
                     " steps: only decoders are placed"));
  return list;
}

} // namespace sol::place
