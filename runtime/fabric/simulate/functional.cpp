//===- functional.cpp - runs a fabric program for its numbers ------------===//
//
// See functional.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/simulate/functional.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>

namespace sol::fabric {

FunctionalFabric::FunctionalFabric(PeArray array, Channels ways,
                                   const FabricLimits &limits)
    : pes(std::move(array)), channels(std::move(ways)),
      waiting(pes.pes(), Waits::No), ready(pes.pes()) {
  int64_t used = 0;
  for (const Channel &channel : channels.all()) {
    // Each router on the way holds as many words, a link between wafers what
    // two routers do.
    int64_t routers = channel.hops + 2 * channel.crossings + 1;
    Queue queue;
    queue.capacity = static_cast<uint32_t>(
        std::min<int64_t>(routers * limits.queueWords, 1 << 20));
    queue.mask = std::bit_ceil(queue.capacity) - 1;
    queue.base = used;
    used += queue.mask + 1;
    queues.push_back(queue);
  }
  words.resize(used);
}

absl::StatusOr<std::unique_ptr<FunctionalFabric>>
FunctionalFabric::create(const FabricProgram &program,
                         const FabricLimits &limits,
                         absl::Span<const uint8_t> weights) {
  absl::StatusOr<PeArray> array = PeArray::create(program, limits, weights);
  if (!array.ok())
    return array.status();
  absl::StatusOr<Routes> routes = Routes::of(program, array->mesh(), limits);
  if (!routes.ok())
    return routes.status();
  absl::StatusOr<Channels> channels =
      Channels::of(program, array->mesh(), array->codes(), *routes);
  if (!channels.ok())
    return channels.status();
  return std::unique_ptr<FunctionalFabric>(
      new FunctionalFabric(*std::move(array), *std::move(channels), limits));
}

void FunctionalFabric::wake(int64_t pe, Waits reason) {
  if (waiting[pe] != reason)
    return;
  waiting[pe] = Waits::No;
  size_t at = readyFirst + readyCount++;
  ready[at < ready.size() ? at : at - ready.size()] = pe;
}

int64_t FunctionalFabric::room(absl::Span<const int32_t> targets) const {
  int64_t least = INT32_MAX;
  for (int32_t target : targets)
    least =
        std::min<int64_t>(least, queues[target].capacity - queues[target].size);
  return least;
}

bool FunctionalFabric::move(int64_t pe, const StreamView &stream) {
  Core &core = pes.core(pe);
  int32_t in = stream.in < 0 ? -1 : channels.into(pe, stream.in);
  absl::Span<const int32_t> targets;
  if (stream.out >= 0)
    targets = channels.from(pe, stream.out);
  while (core.words < stream.words) {
    int64_t chunk = stream.words - core.words;
    if (stream.in >= 0) {
      chunk = in < 0 ? 0 : std::min<int64_t>(chunk, queues[in].size);
      if (chunk == 0) {
        waiting[pe] = Waits::ForWords;
        return false;
      }
    }
    if (stream.out >= 0) {
      chunk = std::min(chunk, room(targets));
      if (chunk == 0) {
        waiting[pe] = Waits::ForRoom;
        return false;
      }
    }
    for (int64_t i = 0; i < chunk; ++i) {
      uint32_t incoming = 0;
      if (in >= 0) {
        Queue &queue = queues[in];
        incoming = words[queue.base + (queue.first++ & queue.mask)];
        --queue.size;
      }
      uint32_t word = stream.handle(core.words++, incoming, core.choice);
      for (int32_t target : targets) {
        Queue &queue = queues[target];
        words[queue.base + ((queue.first + queue.size++) & queue.mask)] = word;
      }
    }
    count.words += chunk;
    if (in >= 0)
      wake(channels.all()[in].sender, Waits::ForRoom);
    for (int32_t target : targets)
      wake(channels.all()[target].receiver, Waits::ForWords);
  }
  return true;
}

absl::Status FunctionalFabric::turn(int64_t pe) {
  ++count.turns;
  while (const Step *step = pes.next(pe)) {
    if (step->opcode == Opcode::Stream) {
      StreamView stream;
      absl::Status status = pes.openStream(pe, *step, stream);
      if (!status.ok())
        return status;
      if (!move(pe, stream))
        return absl::OkStatus();
      pes.endStream(pe);
    } else if (absl::Status status = pes.runLocal(pe, *step); !status.ok()) {
      return status;
    }
    if (++count.instructions > mostInstructions)
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", mostInstructions, " instructions"));
  }
  return absl::OkStatus();
}

absl::StatusOr<HostTensors> FunctionalFabric::step(const HostTensors &inputs) {
  if (absl::Status status = pes.begin(inputs); !status.ok())
    return status;
  readyFirst = readyCount = 0;
  for (Queue &queue : queues)
    queue.first = queue.size = 0;
  for (int64_t pe = 0; pe < pes.pes(); ++pe) {
    waiting[pe] = Waits::No;
    if (!pes.core(pe).code->steps.empty())
      ready[readyCount++] = pe;
  }
  while (readyCount > 0) {
    int64_t pe = ready[readyFirst];
    if (++readyFirst == ready.size())
      readyFirst = 0;
    --readyCount;
    if (absl::Status status = turn(pe); !status.ok())
      return status;
  }
  if (absl::Status status = atRest(); !status.ok())
    return status;
  return pes.outputs();
}

std::string FunctionalFabric::waitText(int64_t pe, int64_t &waitsFor) const {
  const Core &core = pes.core(pe);
  const Instruction &item = *core.code->steps[core.next]->source;
  std::string text = absl::StrCat(pes.instructionText(pe), " waits ");
  waitsFor = -1;
  if (waiting[pe] == Waits::ForWords) {
    int32_t in = channels.into(pe, item.in);
    absl::StrAppend(&text, "for word ", core.words, " on colour ", item.in);
    if (in < 0)
      return absl::StrCat(text, ", which nobody sends");
    waitsFor = channels.all()[in].sender;
    return absl::StrCat(text, " from ", pes.mesh().text(waitsFor));
  }
  absl::StrAppend(&text, "for room to send word ", core.words, " on colour ",
                  item.out);
  for (int32_t target : channels.from(pe, item.out))
    if (queues[target].size == queues[target].capacity) {
      waitsFor = channels.all()[target].receiver;
      return absl::StrCat(text, ": ", pes.mesh().text(waitsFor),
                          " doesn't take what it has, ", queues[target].size,
                          " words");
    }
  return text;
}

absl::Status FunctionalFabric::atRest() const {
  int64_t waitingPes = 0, firstPe = -1;
  for (int64_t pe = 0; pe < pes.pes(); ++pe)
    if (waiting[pe] != Waits::No && waitingPes++ == 0)
      firstPe = pe;
  if (waitingPes == 0) {
    for (size_t i = 0; i < queues.size(); ++i)
      if (queues[i].size > 0) {
        const Channel &channel = channels.all()[i];
        return absl::FailedPreconditionError(absl::StrCat(
            queues[i].size, " words of ", pes.mesh().text(channel.sender),
            " on colour ", channel.colour, " are left at ",
            pes.mesh().text(channel.receiver), ", which ended without them"));
      }
    return absl::OkStatus();
  }
  // Along who waits for whom, to a PE that ended or into a circle.
  std::string text =
      absl::StrCat(waitingPes, " PEs wait for what never comes:");
  std::vector<int64_t> chain;
  for (int64_t pe = firstPe; pe >= 0;) {
    auto before = std::find(chain.begin(), chain.end(), pe);
    if (before != chain.end()) {
      absl::StrAppend(&text, "\n  a circle of ", chain.end() - before, " PEs");
      break;
    }
    if (waiting[pe] == Waits::No) {
      absl::StrAppend(&text, "\n  ", pes.mesh().text(pe), " has ended");
      break;
    }
    chain.push_back(pe);
    int64_t waitsFor = -1;
    std::string line = waitText(pe, waitsFor);
    if (chain.size() <= 12)
      absl::StrAppend(&text, "\n  ", line);
    pe = waitsFor;
  }
  return absl::FailedPreconditionError(text);
}

} // namespace sol::fabric
