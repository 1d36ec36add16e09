//===- StepCosts.h - what a step takes on a rectangle ---------------------===//
//
// Cycles and bytes of one step on a rectangle of PEs, for a number of tokens
// at once. Puts together what machine/cost says of local work and of
// collectives; has no constants of its own.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_COST_STEPCOSTS_H
#define SOL_LIB_PLACE_COST_STEPCOSTS_H

#include "lib/place/graph/ModelGraph.h"
#include "machine/cost/collective_model.h"
#include "machine/cost/local_work.h"

#include <array>
#include <map>

namespace sol::place {

/// What time can be spent on.
enum class Resource {
  Arithmetic,
  Memory,
  Words,
  Hops,
  Ramps,
  Starts,
  Links,
  Host
};
constexpr int resourceCount = 8;

/// `arithmetic`, `SRAM`, `words`, `hops`, `ramps`, `starts`, `links`, `host`.
const char *resourceName(Resource resource);

/// A time in its parts, in cycles; they follow each other, so they add up.
struct TimeParts {
  std::array<double, resourceCount> cycles{};

  double &operator[](Resource resource) {
    return cycles[static_cast<int>(resource)];
  }
  double operator[](Resource resource) const {
    return cycles[static_cast<int>(resource)];
  }
  double total() const;
  /// The largest part.
  Resource largest() const;
  TimeParts &operator+=(const TimeParts &other);
  TimeParts &operator+=(const CycleParts &other);
  TimeParts scaled(double factor) const;
};

/// How steps are done, apart from where.
struct KernelChoices {
  NumberFormat activations = NumberFormat::Float16;
  NumberFormat cache = NumberFormat::Float16;
  /// Products of one operand share a reduction.
  bool fused = true;
  /// Bytes of a PE for an attention's scores: positions are taken in turns of
  /// as many as fit, one at least.
  int64_t scoreBytes = 4096;
};

/// The PEs that a step is spread over.
struct Shape {
  int64_t width = 1, height = 1;
  int64_t along(Axis axis) const {
    return axis == Axis::Column ? width : height;
  }
  bool operator==(const Shape &) const = default;
};

/// How many tokens at once, and behind how many positions.
struct Load {
  int64_t tokens = 1;
  int64_t context = 0;
};

/// Bytes of the busiest PE.
struct PeBytes {
  int64_t weights = 0, cache = 0, scratch = 0;
  PeBytes &operator+=(const PeBytes &other); ///< scratch: the larger one
  int64_t total() const { return weights + cache + scratch; }
};

/// The costs of steps on one machine. Not for two threads at once.
class StepCosts {
public:
  StepCosts(const Target &target, const KernelChoices &choices)
      : target(target), choices(choices), model(FabricTiming::of(target)) {}

  /// From here on words of collectives are rounded up, to one of eight numbers
  /// between powers of two: for comparing many shapes, as each new number of
  /// words costs a search for its best tree.
  void roundWords() { roundsWords = true; }

  /// The time of a step. `experts` limits the experts that are stored here; 0:
  /// all of them.
  TimeParts time(const Step &step, Shape shape, Load load, int64_t experts = 0);

  /// The bytes that a step takes of a PE: `context` positions for each of
  /// `sequences`, `tokens` at once.
  PeBytes bytes(const Step &step, Shape shape, Load load, int64_t sequences,
                int64_t experts = 0) const;

  /// A vector of `elements` by rows, over `hops` hops to other PEs.
  TimeParts move(int64_t elements, Shape shape, int64_t hops, int64_t tokens);
  /// The same between wafers: from the edge of one to the edge of the other.
  TimeParts link(int64_t elements, int64_t tokens) const;
  /// To the host and back.
  TimeParts hostTrip() const;

  const Target &machine() const { return target; }
  const KernelChoices &kernels() const { return choices; }

private:
  TimeParts product(const Step &step, Shape shape, Load load, int64_t experts);
  TimeParts attention(const Step &step, Shape shape, Load load);
  TimeParts norm(const Step &step, Shape shape, Load load);
  TimeParts lookup(const Step &step, Shape shape, Load load);
  TimeParts gather(const Step &step, Shape shape, Load load);
  TimeParts argMax(const Step &step, Shape shape, Load load);
  /// Work of a PE by itself, begun by software.
  void addLocal(TimeParts &parts, const LocalCost &cost) const;
  void addVector(TimeParts &parts, int64_t elements, int64_t passes) const;
  void addAllReduce(TimeParts &parts, int64_t pes, int64_t words);

  Target target;
  KernelChoices choices;
  CollectiveModel model;
  bool roundsWords = false;
  std::map<std::pair<int64_t, int64_t>, CycleParts> gathers;
};

/// How an attention's heads lie on columns: each key/value head has `block`
/// columns, or each column has `heads` heads.
struct HeadLayout {
  int64_t block = 1, heads = 1, keyElements = 1, valueElements = 1;
  static HeadLayout of(const Step &step, int64_t width);
};

} // namespace sol::place

#endif // SOL_LIB_PLACE_COST_STEPCOSTS_H
