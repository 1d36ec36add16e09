//===- ModelGraph.cpp - a decoder as what a fabric has to do for a token --===//
//
// See ModelGraph.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/graph/ModelGraph.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>

namespace sol::place {

const char *formatName(Format format) {
  constexpr const char *names[] = {"float32", "float16", "int8", "int4"};
  return names[static_cast<int>(format)];
}

double formatBytes(Format format) {
  constexpr double bytes[] = {4, 2, 1, 0.5};
  return bytes[static_cast<int>(format)];
}

const char *stepKindName(StepKind kind) {
  constexpr const char *names[] = {"lookup", "norm",   "product", "attention",
                                   "local",  "gather", "argmax"};
  return names[static_cast<int>(kind)];
}

const char *blockKindName(BlockKind kind) {
  constexpr const char *names[] = {"embedding", "attention", "feed-forward",
                                   "experts", "head"};
  return names[static_cast<int>(kind)];
}

double Step::matrixBytes() const {
  if (kind != StepKind::Product && kind != StepKind::Lookup)
    return 0;
  return static_cast<double>(k) * static_cast<double>(n) *
         static_cast<double>(experts) *
         (formatBytes(format) + scaleBytesPerElement);
}

double Step::macs(int64_t context) const {
  if (kind == StepKind::Product)
    return static_cast<double>(k) * static_cast<double>(n) *
           static_cast<double>(active);
  if (kind != StepKind::Attention)
    return 0;
  int64_t seen = window > 0 ? std::min(window, context) : context;
  return static_cast<double>(seen) * static_cast<double>(heads) *
         static_cast<double>(keySize + valueSize);
}

double Block::matrixBytes() const {
  double bytes = 0;
  for (const Step &step : steps)
    bytes += step.matrixBytes();
  return bytes;
}

double Block::vectorBytes() const {
  double bytes = 0;
  for (const Step &step : steps)
    bytes += step.vectorBytes;
  return bytes;
}

int64_t Block::cacheElements() const {
  int64_t elements = 0;
  for (const Step &step : steps)
    elements += step.cacheElements();
  return elements;
}

int64_t Block::experts() const {
  int64_t experts = 1;
  for (const Step &step : steps)
    experts = std::max(experts, step.experts);
  return experts;
}

double ModelGraph::weightBytes() const {
  double bytes = 0;
  std::set<std::string> seen;
  for (const Block &block : blocks)
    for (const Step &step : block.steps) {
      bytes += step.vectorBytes;
      if (step.table.empty() || seen.insert(step.table).second)
        bytes += step.matrixBytes();
    }
  return bytes;
}

double ModelGraph::parameters() const {
  double elements = 0;
  std::set<std::string> seen;
  for (const Block &block : blocks)
    for (const Step &step : block.steps)
      if ((step.kind == StepKind::Product || step.kind == StepKind::Lookup) &&
          (step.table.empty() || seen.insert(step.table).second))
        elements += static_cast<double>(step.k) * static_cast<double>(step.n) *
                    static_cast<double>(step.experts);
  return elements;
}

int64_t ModelGraph::cacheElements() const {
  int64_t elements = 0;
  for (const Block &block : blocks)
    elements += block.cacheElements();
  return elements;
}

std::vector<Format> ModelGraph::formats() const {
  std::map<Format, double> bytes;
  for (const Block &block : blocks)
    for (const Step &step : block.steps)
      if (step.matrixBytes() > 0)
        bytes[step.format] += step.matrixBytes();
  std::vector<Format> formats;
  for (const auto &entry : bytes)
    formats.push_back(entry.first);
  std::sort(formats.begin(), formats.end(),
            [&](Format a, Format b) { return bytes[a] > bytes[b]; });
  return formats;
}

namespace {

/// What is wrong with a step by itself, or an empty text.
std::string stepProblem(const Step &step, int index) {
  auto positive = [](int64_t value) { return value >= 1; };
  if (!positive(step.n))
    return absl::StrCat("has ", step.n, " elements");
  if ((step.kind == StepKind::Product || step.kind == StepKind::Lookup) &&
      !positive(step.k))
    return absl::StrCat("sums over ", step.k, " elements");
  if (!positive(step.active) || step.active > step.experts)
    return absl::StrCat("uses ", step.active, " of ", step.experts, " experts");
  if (!positive(step.groups) || step.n % step.groups != 0)
    return absl::StrCat("has ", step.groups, " groups of ", step.n,
                        " elements");
  if (step.kind == StepKind::Attention &&
      (!positive(step.kvHeads) || step.heads % step.kvHeads != 0 ||
       !positive(step.heads) || !positive(step.keySize) ||
       !positive(step.valueSize) || step.window < 0))
    return absl::StrCat("has ", step.heads, " heads on ", step.kvHeads,
                        " of keys, of ", step.keySize, " and ", step.valueSize,
                        " elements, window ", step.window);
  if ((step.kind == StepKind::Product) != (step.from != step.to) &&
      step.kind != StepKind::Lookup)
    return "is sharded in a way that this kind of step can't be";
  for (int input : step.inputs)
    if (input < 0 || input >= index)
      return absl::StrCat("takes step ", input);
  return "";
}

} // namespace

absl::Status ModelGraph::check() const {
  if (width < 1 || blocks.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("model `", name, "` has ", blocks.size(),
                     " blocks and a width of ", width));
  for (const Block &block : blocks) {
    int index = 0;
    for (const Step &step : block.steps) {
      std::string problem = stepProblem(step, index);
      if (!problem.empty())
        return absl::InvalidArgumentError(absl::StrCat(
            "block `", block.name, "`, step ", index, " (",
            stepKindName(step.kind), " of node `", step.node, "`): ", problem));
      ++index;
    }
    if (block.steps.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("block `", block.name, "` has no steps"));
    if (block.kind != BlockKind::Head && block.steps.back().to != Axis::Row)
      return absl::InvalidArgumentError(
          absl::StrCat("block `", block.name, "` does not end by rows"));
  }
  return absl::OkStatus();
}

} // namespace sol::place
