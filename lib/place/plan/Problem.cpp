//===- Problem.cpp - what a placement has to obey -------------------------===//
//
// See Problem.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/plan/Problem.h"

#include "lib/place/plan/Memory.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>

namespace sol::place {

const char *objectiveName(Objective objective) {
  constexpr const char *names[] = {"latency", "throughput", "context"};
  return names[static_cast<int>(objective)];
}

int64_t Placement::wafers() const {
  std::set<int64_t> used;
  for (const auto &shards : blocks)
    for (const Shard &shard : shards)
      if (shard.region >= 0 &&
          shard.region < static_cast<int64_t>(regions.size()))
        used.insert(regions[shard.region].wafer);
  return static_cast<int64_t>(used.size());
}

absl::Status Problem::check() const {
  if (!graph)
    return absl::InvalidArgumentError("a problem needs a model");
  struct Count {
    const char *name;
    int64_t value;
  };
  for (Count count :
       {Count{"wafers", wafers}, Count{"context", context},
        Count{"sequences", sequences}, Count{"prompt tokens", promptTokens}})
    if (count.value < 1)
      return absl::InvalidArgumentError(absl::StrCat(
          count.name, ": is ", count.value, ", must be 1 or more"));
  if (promptTokens > context)
    return absl::InvalidArgumentError(
        absl::StrCat("a prompt of ", promptTokens,
                     " tokens does not fit a context of ", context));
  return graph->check();
}

namespace {

std::string textOf(const Region &region) {
  const PeRectangle &at = region.rectangle;
  return absl::StrCat(at.width, " x ", at.height, " at (", at.x, ", ", at.y,
                      ") of wafer ", region.wafer);
}

bool overlap(const Region &a, const Region &b) {
  const PeRectangle &p = a.rectangle, &q = b.rectangle;
  return a.wafer == b.wafer && p.x < q.x + q.width && q.x < p.x + p.width &&
         p.y < q.y + q.height && q.y < p.y + p.height;
}

/// Collects violations of one placement.
class Checker {
public:
  Checker(const Problem &problem, const Placement &placement)
      : problem(problem), placement(placement) {}

  std::vector<std::string> run() {
    checkRegions();
    checkShards();
    // Bytes of regions that are no rectangles mean nothing.
    if (found.empty())
      checkBytes();
    return found;
  }

private:
  void report(std::string text) { found.push_back(std::move(text)); }

  void checkRegions() {
    const Target &target = problem.target;
    for (size_t i = 0; i < placement.regions.size(); ++i) {
      const Region &region = placement.regions[i];
      const PeRectangle &at = region.rectangle;
      if (region.wafer < 0 || region.wafer >= problem.wafers)
        report(absl::StrCat("P1: region ", i, " lies on wafer ", region.wafer,
                            ", but there are ", problem.wafers));
      bool isInside =
          at.width >= 1 && at.height >= 1 && at.x >= 0 && at.y >= 0 &&
          at.width <= target.columns && at.height <= target.rows &&
          at.x <= target.columns - at.width && at.y <= target.rows - at.height;
      if (!isInside)
        report(absl::StrCat("P1: region ", i, ", ", textOf(region),
                            ", is no rectangle of a mesh of ", target.columns,
                            " x ", target.rows));
      else if (int64_t broken = problem.defects.brokenPes(region.wafer, at))
        report(absl::StrCat("P3: region ", i, ", ", textOf(region), ", has ",
                            broken, " broken PEs"));
      for (size_t j = 0; j < i; ++j)
        if (overlap(region, placement.regions[j]))
          report(absl::StrCat("P2: regions ", j, ", ",
                              textOf(placement.regions[j]), ", and ", i, ", ",
                              textOf(region), ", overlap"));
    }
    if (placement.chunkTokens < 1)
      report(absl::StrCat("P1: chunks have ", placement.chunkTokens,
                          " tokens, must be 1 or more"));
  }

  void checkShards() {
    const auto &blocks = problem.graph->blocks;
    if (placement.blocks.size() != blocks.size())
      return report(absl::StrCat("P4: ", placement.blocks.size(),
                                 " blocks are placed, but the model has ",
                                 blocks.size()));
    for (size_t i = 0; i < blocks.size(); ++i) {
      std::vector<Shard> shards = placement.blocks[i];
      for (const Shard &shard : shards)
        if (shard.region < 0 ||
            shard.region >= static_cast<int64_t>(placement.regions.size()))
          report(absl::StrCat("P4: block `", blocks[i].name,
                              "` lies on region ", shard.region,
                              ", but there are ", placement.regions.size()));
      if (shards.size() > 1 && blocks[i].experts() == 1)
        report(absl::StrCat("P5: block `", blocks[i].name,
                            "` has no experts, "
                            "but lies on ",
                            shards.size(), " regions"));
      std::sort(
          shards.begin(), shards.end(),
          [](const Shard &a, const Shard &b) { return a.begin < b.begin; });
      int64_t next = 0;
      for (const Shard &shard : shards) {
        if (shard.begin != next || shard.end <= shard.begin)
          report(absl::StrCat("P4: block `", blocks[i].name, "` has experts ",
                              shard.begin, " to ", shard.end,
                              " in a shard, expected them to begin at ", next));
        next = shard.end;
      }
      if (next != blocks[i].experts())
        report(absl::StrCat("P4: block `", blocks[i].name, "` places ", next,
                            " of ", blocks[i].experts(), " experts"));
    }
  }

  void checkBytes() {
    BlockMemory memory(problem);
    std::vector<PeBytes> bytes = memory.regionBytes(placement);
    int64_t room = problem.target.usableBytesPerPe();
    for (size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i].total() > room)
        report(absl::StrCat(
            "P6: a PE of region ", i, ", ", textOf(placement.regions[i]),
            ", needs ", bytes[i].total(), " bytes (weights ", bytes[i].weights,
            ", cache ", bytes[i].cache, ", scratch ", bytes[i].scratch,
            "), but has ", room, ": ", bytes[i].total() - room, " too many"));
  }

  const Problem &problem;
  const Placement &placement;
  std::vector<std::string> found;
};

} // namespace

std::vector<std::string> Problem::violations(const Placement &placement) const {
  return Checker(*this, placement).run();
}

absl::Status Problem::verify(const Placement &placement) const {
  std::vector<std::string> found = violations(placement);
  if (found.empty())
    return absl::OkStatus();
  constexpr size_t mostTold = 5;
  std::string text;
  for (size_t i = 0; i < std::min(found.size(), mostTold); ++i)
    absl::StrAppend(&text, i ? "; " : "", found[i]);
  if (found.size() > mostTold)
    absl::StrAppend(&text, "; and ", found.size() - mostTold, " more");
  return absl::InvalidArgumentError(text);
}

} // namespace sol::place
