//===- StepCosts.cpp - what a step takes on a rectangle -------------------===//
//
// See StepCosts.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/cost/StepCosts.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sol::place {
namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

NumberFormat numberFormat(Format format) {
  switch (format) {
  case Format::Float32:
    return NumberFormat::Float32;
  case Format::Float16:
    return NumberFormat::Float16;
  case Format::Int8:
  case Format::Int4:
    break;
  }
  // Codes of 4 bits are widened as they are read: lanes and ports as for 8.
  return NumberFormat::Int8;
}

/// Elements of a product's result that a PE has: each part is spread by itself.
int64_t resultShard(const Step &step, int64_t pes) {
  int64_t shard = 0;
  for (int64_t part : step.parts)
    shard += ceilDiv(part, pes);
  return step.parts.empty() ? ceilDiv(step.n, pes) : shard;
}

/// Experts stored and used where at most `experts` are (0: all).
int64_t storedExperts(const Step &step, int64_t experts) {
  return experts > 0 ? std::min(experts, step.experts) : step.experts;
}

} // namespace

const char *resourceName(Resource resource) {
  constexpr const char *names[] = {"arithmetic", "SRAM",   "words", "hops",
                                   "ramps",      "starts", "links", "host"};
  return names[static_cast<int>(resource)];
}

double TimeParts::total() const {
  double sum = 0;
  for (double part : cycles)
    sum += part;
  return sum;
}

Resource TimeParts::largest() const {
  return static_cast<Resource>(std::max_element(cycles.begin(), cycles.end()) -
                               cycles.begin());
}

TimeParts &TimeParts::operator+=(const TimeParts &other) {
  for (int i = 0; i < resourceCount; ++i)
    cycles[i] += other.cycles[i];
  return *this;
}

TimeParts &TimeParts::operator+=(const CycleParts &other) {
  (*this)[Resource::Words] += static_cast<double>(other.words);
  (*this)[Resource::Hops] += static_cast<double>(other.hops);
  (*this)[Resource::Ramps] += static_cast<double>(other.ramps);
  (*this)[Resource::Starts] += static_cast<double>(other.starts);
  return *this;
}

TimeParts TimeParts::scaled(double factor) const {
  TimeParts result = *this;
  for (double &part : result.cycles)
    part *= factor;
  return result;
}

PeBytes &PeBytes::operator+=(const PeBytes &other) {
  weights += other.weights;
  cache += other.cache;
  scratch = std::max(scratch, other.scratch);
  return *this;
}

HeadLayout HeadLayout::of(const Step &step, int64_t width) {
  HeadLayout layout;
  if (width < step.kvHeads) {
    layout.heads = ceilDiv(step.kvHeads, width);
    layout.keyElements = step.keySize * layout.heads;
    layout.valueElements = step.valueSize * layout.heads;
    return layout;
  }
  // Both elements of a rotated pair lie on one PE; more columns than pairs
  // would have nothing to hold.
  int64_t pairs = ceilDiv(std::max(step.keySize, step.valueSize), 2);
  int64_t perColumn = ceilDiv(pairs, std::min(width / step.kvHeads, pairs));
  layout.block = ceilDiv(pairs, perColumn);
  layout.keyElements = 2 * ceilDiv(ceilDiv(step.keySize, 2), layout.block);
  layout.valueElements = 2 * ceilDiv(ceilDiv(step.valueSize, 2), layout.block);
  return layout;
}

void StepCosts::addLocal(TimeParts &parts, const LocalCost &cost) const {
  parts[cost.limit == LocalLimit::Memory ? Resource::Memory
                                         : Resource::Arithmetic] +=
      static_cast<double>(cost.cycles);
  parts[Resource::Starts] += static_cast<double>(model.fabric().start);
}

void StepCosts::addVector(TimeParts &parts, int64_t elements,
                          int64_t passes) const {
  addLocal(parts,
           vectorCycles(target, choices.activations, elements, passes, 2, 1));
}

void StepCosts::addAllReduce(TimeParts &parts, int64_t pes, int64_t words) {
  if (pes < 2)
    return;
  if (roundsWords && words > 8) {
    int64_t unit = std::bit_floor(static_cast<uint64_t>(words)) / 8;
    words = ceilDiv(words, unit) * unit;
  }
  parts += model.allReduce(pes, words).parts;
}

TimeParts StepCosts::product(const Step &step, Shape shape, Load load,
                             int64_t experts) {
  TimeParts parts;
  int64_t sums = shape.along(step.from), results = shape.along(step.to);
  int64_t active = std::min(step.active, storedExperts(step, experts));
  // One token's experts are not the next one's: nothing is used twice.
  int64_t times = step.experts > 1 ? load.tokens : 1;
  auto local = [&](int64_t outputs) {
    LocalProduct work;
    work.inputs = ceilDiv(step.k, sums);
    work.outputs = outputs * active * times;
    work.vectors = load.tokens / times;
    work.weights = numberFormat(step.format);
    work.activations = choices.activations;
    addLocal(parts, productCycles(target, work));
  };
  int64_t kept = step.sumsExperts ? 1 : active;
  auto reduce = [&](int64_t outputs) {
    if (step.scaleBytesPerElement > 0)
      addVector(parts, outputs * kept * load.tokens, 1);
    addAllReduce(parts, sums, outputs * kept * load.tokens);
  };
  if (choices.fused || step.parts.size() < 2) {
    local(resultShard(step, results));
    reduce(resultShard(step, results));
    return parts;
  }
  for (int64_t part : step.parts) {
    local(ceilDiv(part, results));
    reduce(ceilDiv(part, results));
  }
  return parts;
}

TimeParts StepCosts::attention(const Step &step, Shape shape, Load load) {
  TimeParts parts;
  HeadLayout layout = HeadLayout::of(step, shape.width);
  int64_t seen = load.context + load.tokens;
  if (step.window > 0)
    seen = std::min(seen, step.window + load.tokens - 1);
  int64_t positions = ceilDiv(seen, shape.height);
  // Rows of scores in a column: the query heads of its key/value heads.
  int64_t rows = step.heads / step.kvHeads * layout.heads * load.tokens;
  int64_t turn =
      std::clamp<int64_t>(choices.scoreBytes / (4 * rows), 1, positions);
  auto work = [&](int64_t count, int64_t elements) {
    LocalProduct product;
    product.inputs = elements / layout.heads;
    product.outputs = count;
    product.vectors = rows;
    product.weights = choices.cache;
    product.activations = choices.activations;
    return productCycles(target, product);
  };
  auto addTurn = [&](int64_t count, double times) {
    TimeParts once;
    addLocal(once, work(count, layout.keyElements));
    addAllReduce(once, layout.block, count * rows);
    // The largest score, the exponentials, their sum.
    addVector(once, count * rows, 6);
    addLocal(once, work(count, layout.valueElements));
    parts += once.scaled(times);
  };
  addTurn(turn, static_cast<double>(positions / turn));
  if (positions % turn != 0)
    addTurn(positions % turn, 1);
  // The rows' largest scores, then their sums with the weighted values.
  addAllReduce(parts, shape.height, rows);
  addVector(parts, rows * (layout.valueElements / layout.heads + 1), 1);
  addAllReduce(parts, shape.height,
               rows * (layout.valueElements / layout.heads + 1));
  addVector(parts, rows * (layout.valueElements / layout.heads), 1);
  return parts;
}

TimeParts StepCosts::norm(const Step &step, Shape shape, Load load) {
  TimeParts parts;
  int64_t pes = shape.along(step.from);
  int64_t line =
      step.groups == 1 ? pes : std::max<int64_t>(1, pes / step.groups);
  int64_t vectors = step.groups == 1 ? 1 : ceilDiv(step.groups, pes);
  int64_t shard = ceilDiv(step.n, pes) * load.tokens;
  addVector(parts, shard, step.words);
  addAllReduce(parts, line, vectors * step.words * load.tokens);
  addVector(parts, shard, 2);
  return parts;
}

TimeParts StepCosts::lookup(const Step &step, Shape shape, Load load) {
  TimeParts parts;
  // The token's number reaches all PEs; the column that has its row sends it.
  parts += model.broadcastRectangle(shape.width, shape.height, load.tokens,
                                    RootPlace::End);
  int64_t elements = ceilDiv(step.n, shape.height) * load.tokens;
  addVector(parts, elements, 1);
  if (shape.width > 1)
    parts += model.broadcast(shape.width,
                             wordsOf(target, choices.activations, elements),
                             RootPlace::End);
  return parts;
}

TimeParts StepCosts::gather(const Step &step, Shape shape, Load load) {
  TimeParts parts;
  int64_t pes = shape.along(step.from);
  int64_t words = step.n * load.tokens;
  if (pes > 1) {
    auto [known, isNew] = gathers.try_emplace({pes, words});
    if (isNew) {
      CycleParts passed =
          partsOf(model.fabric(), [&](const FabricTiming &timing) {
            return allGatherCycles(timing, pes, words);
          });
      // Or as a sum to which each PE adds what it has among zeros.
      CycleParts summed = model.allReduce(pes, words).parts;
      known->second = summed.cycles() < passed.cycles() ? summed : passed;
    }
    parts += known->second;
  }
  addVector(parts, words, step.passes);
  return parts;
}

TimeParts StepCosts::argMax(const Step &step, Shape shape, Load load) {
  TimeParts parts;
  addVector(parts, ceilDiv(step.n, shape.along(step.from)) * load.tokens, 1);
  // A score and its index.
  if (shape.along(step.from) > 1)
    parts +=
        model.reduce(shape.along(step.from), 2 * load.tokens, RootPlace::Middle)
            .parts;
  return parts;
}

TimeParts StepCosts::time(const Step &step, Shape shape, Load load,
                          int64_t experts) {
  switch (step.kind) {
  case StepKind::Lookup:
    return lookup(step, shape, load);
  case StepKind::Norm:
    return norm(step, shape, load);
  case StepKind::Product:
    return product(step, shape, load, experts);
  case StepKind::Attention:
    return attention(step, shape, load);
  case StepKind::Gather:
    return gather(step, shape, load);
  case StepKind::ArgMax:
    return argMax(step, shape, load);
  case StepKind::Local:
    break;
  }
  TimeParts parts;
  addVector(parts, ceilDiv(step.n, shape.along(step.from)) * load.tokens,
            step.passes);
  return parts;
}

PeBytes StepCosts::bytes(const Step &step, Shape shape, Load load,
                         int64_t sequences, int64_t experts) const {
  PeBytes bytes;
  int64_t sums = shape.along(step.from), results = shape.along(step.to);
  double perElement = formatBytes(step.format) + step.scaleBytesPerElement;
  auto roundUp = [](double value) {
    return static_cast<int64_t>(std::ceil(value - 1e-9));
  };
  // Sums are kept in float32.
  constexpr int64_t sumBytes = 4;
  if (step.kind == StepKind::Product) {
    int64_t stored = storedExperts(step, experts);
    int64_t outputs = resultShard(step, results);
    bytes.weights = roundUp(static_cast<double>(ceilDiv(step.k, sums)) *
                            static_cast<double>(outputs) *
                            static_cast<double>(stored) * perElement);
    int64_t active = std::min(step.active, stored);
    bytes.scratch =
        outputs * (step.sumsExperts ? 1 : active) * load.tokens * sumBytes;
  } else if (step.kind == StepKind::Lookup) {
    bytes.weights = roundUp(static_cast<double>(ceilDiv(step.k, shape.width)) *
                            static_cast<double>(ceilDiv(step.n, shape.height)) *
                            perElement);
  } else if (step.kind == StepKind::Attention) {
    HeadLayout layout = HeadLayout::of(step, shape.width);
    int64_t rows = step.heads / step.kvHeads * layout.heads * load.tokens;
    int64_t positions = ceilDiv(load.context, shape.height);
    bytes.cache = positions * (layout.keyElements + layout.valueElements) *
                  bytesOf(choices.cache) * sequences;
    bytes.scratch = std::max<int64_t>(choices.scoreBytes, rows * sumBytes) +
                    rows * (layout.valueElements / layout.heads + 2) * sumBytes;
  } else if (step.kind == StepKind::Gather) {
    bytes.scratch = step.n * load.tokens * sumBytes;
  }
  bytes.weights += roundUp(step.vectorBytes / static_cast<double>(results));
  // Operand and result.
  if (step.kind != StepKind::Product)
    bytes.scratch += 2 * ceilDiv(step.n, results) * load.tokens * sumBytes;
  return bytes;
}

TimeParts StepCosts::move(int64_t elements, Shape shape, int64_t hops,
                          int64_t tokens) {
  TimeParts parts;
  int64_t words = wordsOf(target, choices.activations,
                          ceilDiv(elements, shape.height) * tokens);
  parts += partsOf(model.fabric(), [&](const FabricTiming &timing) {
    return timing.start + timing.message(words, hops);
  });
  return parts;
}

TimeParts StepCosts::link(int64_t elements, int64_t tokens) const {
  TimeParts parts;
  double bytes =
      static_cast<double>(elements * tokens * bytesOf(choices.activations));
  parts[Resource::Links] = linkSeconds(target, bytes) * target.clockHertz;
  return parts;
}

TimeParts StepCosts::hostTrip() const {
  TimeParts parts;
  parts[Resource::Host] = target.hostTripSeconds * target.clockHertz;
  return parts;
}

} // namespace sol::place
