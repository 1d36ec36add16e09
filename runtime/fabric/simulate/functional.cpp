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
namespace {

constexpr int32_t doesNotWait = -1;
constexpr int32_t nobodySends = -2;

} // namespace

FunctionalFabric::FunctionalFabric(PeArray array, Channels ways,
                                   const FabricLimits &limits)
    : pes(std::move(array)), channels(std::move(ways)), colours(limits.colours),
      ends(pes.pes() * limits.colours), waitsForWords(pes.pes()),
      waitsForRoom(pes.pes()), ready(pes.pes()) {
  int64_t used = 0;
  const std::vector<Channel> &all = channels.all();
  for (size_t i = 0; i < all.size(); ++i) {
    bool isFirst = i == 0 || all[i].sender != all[i - 1].sender ||
                   all[i].colour != all[i - 1].colour;
    auto index = static_cast<int32_t>(i);
    if (isFirst) {
      flows.emplace_back();
      flows.back().firstTap = index;
      flows.back().sender = static_cast<int32_t>(all[i].sender);
      ends[all[i].sender * colours + all[i].colour].out =
          static_cast<int32_t>(flows.size() - 1);
    }
    ++flows.back().taps;
    // Each router on the way holds as many words, a link between wafers what
    // two routers do.
    int64_t routers = all[i].hops + 2 * all[i].crossings + 1;
    Tap tap;
    tap.capacity = static_cast<uint32_t>(
        std::min<int64_t>(routers * limits.queueWords, 1 << 20));
    tap.flow = static_cast<int32_t>(flows.size() - 1);
    tap.receiver = static_cast<int32_t>(all[i].receiver);
    taps.push_back(tap);
    ends[all[i].receiver * colours + all[i].colour].in = index;
  }
  for (Flow &flow : flows) {
    uint32_t most = 1;
    for (int32_t i = 0; i < flow.taps; ++i)
      most = std::max(most, taps[flow.firstTap + i].capacity);
    flow.mask = std::bit_ceil(most) - 1;
    flow.base = used;
    used += flow.mask + 1;
  }
  words.resize(used);
}

absl::StatusOr<std::unique_ptr<FunctionalFabric>>
FunctionalFabric::create(const FabricProgram &program,
                         const FabricLimits &limits,
                         absl::Span<const uint8_t> weights) {
  absl::StatusOr<LoadedFabric> loaded = loadFabric(program, limits, weights);
  if (!loaded.ok())
    return loaded.status();
  return std::unique_ptr<FunctionalFabric>(new FunctionalFabric(
      std::move(loaded->pes), std::move(loaded->channels), limits));
}

void FunctionalFabric::wake(int64_t pe) {
  waitsForWords[pe] = waitsForRoom[pe] = doesNotWait;
  size_t at = readyFirst + readyCount++;
  ready[at < ready.size() ? at : at - ready.size()] = static_cast<int32_t>(pe);
}

/// Asks for the memory that the PEs which come next will touch, in the order in
/// which one thing leads to another: they are thousands, and far apart.
void FunctionalFabric::prefetch() const {
  auto soon = [&](size_t ahead) -> int64_t {
    if (ahead >= readyCount)
      return -1;
    size_t at = readyFirst + ahead;
    return ready[at < ready.size() ? at : at - ready.size()];
  };
  auto waitingIn = [&](int64_t pe) -> const Instruction & {
    return *pes.core(pe).code->steps[pes.core(pe).next]->source;
  };
  if (int64_t pe = soon(18); pe >= 0) {
    auto *core = reinterpret_cast<const char *>(&pes.core(pe));
    __builtin_prefetch(core);
    __builtin_prefetch(core + 64);
  }
  if (int64_t pe = soon(15); pe >= 0)
    __builtin_prefetch(pes.core(pe).code);
  if (int64_t pe = soon(12); pe >= 0)
    __builtin_prefetch(pes.core(pe).code->steps.data() + pes.core(pe).next);
  if (int64_t pe = soon(9); pe >= 0) {
    const Core &core = pes.core(pe);
    const Step &step = *core.code->steps[core.next];
    if (step.source->in >= 0)
      __builtin_prefetch(&endsOf(pe, step.source->in));
    if (step.source->out >= 0)
      __builtin_prefetch(&endsOf(pe, step.source->out));
    __builtin_prefetch(core.memory + step.dst.offset + 4 * step.dst.first);
  }
  auto tapOf = [&](int64_t pe) {
    int32_t in = waitingIn(pe).in;
    return in < 0 ? -1 : endsOf(pe, in).in;
  };
  if (int64_t pe = soon(6); pe >= 0) {
    if (int32_t tap = tapOf(pe); tap >= 0)
      __builtin_prefetch(&taps[tap]);
    int32_t out = waitingIn(pe).out;
    if (int32_t flow = out < 0 ? -1 : endsOf(pe, out).out; flow >= 0)
      __builtin_prefetch(&flows[flow]);
  }
  if (int64_t pe = soon(4); pe >= 0)
    if (int32_t tap = tapOf(pe); tap >= 0)
      __builtin_prefetch(&flows[taps[tap].flow]);
  if (int64_t pe = soon(2); pe >= 0)
    if (int32_t tap = tapOf(pe); tap >= 0) {
      const Flow &flow = flows[taps[tap].flow];
      __builtin_prefetch(words.data() + flow.base +
                         (taps[tap].taken & flow.mask));
    }
}

uint32_t FunctionalFabric::room(Flow &flow) {
  if (flow.limit != flow.sent)
    return flow.limit - flow.sent;
  uint32_t least = UINT32_MAX;
  for (int32_t i = 0; i < flow.taps; ++i) {
    const Tap &tap = taps[flow.firstTap + i];
    uint32_t free = tap.capacity - (flow.sent - tap.taken);
    if (free < least) {
      least = free;
      flow.blocker = flow.firstTap + i;
    }
  }
  flow.limit = flow.sent + least;
  return least;
}

void FunctionalFabric::handle(Core &core, const StreamView &stream, Tap *in,
                              Flow *out, uint32_t count) {
  uint32_t *from = in ? words.data() + flows[in->flow].base : nullptr;
  uint32_t fromMask = in ? flows[in->flow].mask : 0;
  uint32_t *to = out ? words.data() + out->base : nullptr;
  bool isPlain =
      !stream.packed && stream.type == ElementType::Float32 &&
      stream.rowLength == stream.elements && stream.step == 1 &&
      (stream.combine == Combine::None || stream.combine == Combine::Add);
  if (!isPlain) {
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t incoming = in ? from[in->taken++ & fromMask] : 0;
      uint32_t word = stream.handle(core.words++, incoming, core.choice);
      if (out)
        to[out->sent++ & out->mask] = word;
    }
    return;
  }
  float *memory =
      reinterpret_cast<float *>(stream.base) + stream.first + core.words;
  bool adds = stream.combine == Combine::Add && in;
  for (uint32_t i = 0; i < count; ++i) {
    float value =
        in ? std::bit_cast<float>(from[in->taken++ & fromMask]) : memory[i];
    if (adds)
      value = memory[i] + value;
    if (stream.store)
      memory[i] = value;
    if (out)
      to[out->sent++ & out->mask] = std::bit_cast<uint32_t>(value);
  }
  core.words += static_cast<int32_t>(count);
}

bool FunctionalFabric::move(int64_t pe, const StreamView &stream) {
  Core &core = pes.core(pe);
  Tap *in = nullptr;
  Flow *out = nullptr;
  int32_t tap = -1;
  if (stream.in >= 0) {
    tap = endsOf(pe, stream.in).in;
    if (tap >= 0)
      in = &taps[tap];
  }
  if (stream.out >= 0)
    if (int32_t flow = endsOf(pe, stream.out).out; flow >= 0)
      out = &flows[flow];
  while (core.words < stream.words) {
    auto chunk = static_cast<uint32_t>(stream.words - core.words);
    if (stream.in >= 0) {
      chunk = in ? std::min(chunk, flows[in->flow].sent - in->taken) : 0;
      if (chunk == 0) {
        waitsForWords[pe] = in ? tap : nobodySends;
        return false;
      }
    }
    if (out) {
      chunk = std::min(chunk, room(*out));
      if (chunk == 0) {
        waitsForRoom[pe] = static_cast<int32_t>(out - flows.data());
        return false;
      }
    }
    handle(core, stream, in, out, chunk);
    count.words += chunk;
    if (in) {
      const Flow &flow = flows[in->flow];
      if (flow.blocker == tap && waitsForRoom[flow.sender] == in->flow)
        wake(flow.sender);
    }
    if (out)
      for (int32_t i = out->firstTap; i < out->firstTap + out->taps; ++i)
        if (waitsForWords[taps[i].receiver] == i)
          wake(taps[i].receiver);
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

void FunctionalFabric::restart() {
  readyFirst = readyCount = 0;
  for (Flow &flow : flows) {
    flow.sent = flow.limit = 0;
    flow.blocker = -1;
  }
  for (Tap &tap : taps)
    tap.taken = 0;
  for (int64_t pe = 0; pe < pes.pes(); ++pe) {
    waitsForWords[pe] = waitsForRoom[pe] = doesNotWait;
    if (!pes.core(pe).code->steps.empty())
      ready[readyCount++] = static_cast<int32_t>(pe);
  }
}

absl::StatusOr<HostTensors> FunctionalFabric::step(const HostTensors &inputs) {
  if (absl::Status status = pes.begin(inputs); !status.ok())
    return status;
  restart();
  while (readyCount > 0) {
    int64_t pe = ready[readyFirst];
    if (++readyFirst == ready.size())
      readyFirst = 0;
    --readyCount;
    prefetch();
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
  if (waitsForWords[pe] != doesNotWait) {
    absl::StrAppend(&text, "for word ", core.words, " on colour ", item.in);
    if (waitsForWords[pe] == nobodySends)
      return absl::StrCat(text, ", which nobody sends");
    waitsFor = flows[taps[waitsForWords[pe]].flow].sender;
    return absl::StrCat(text, " from ", pes.mesh().text(waitsFor));
  }
  const Flow &flow = flows[waitsForRoom[pe]];
  const Tap &tap = taps[flow.blocker];
  waitsFor = tap.receiver;
  return absl::StrCat(text, "for room to send word ", core.words, " on colour ",
                      item.out, ": ", pes.mesh().text(waitsFor),
                      " doesn't take what it has, ", flow.sent - tap.taken,
                      " words");
}

absl::Status FunctionalFabric::atRest() const {
  auto waits = [&](int64_t pe) {
    return waitsForWords[pe] != doesNotWait || waitsForRoom[pe] != doesNotWait;
  };
  int64_t waitingPes = 0, firstPe = -1;
  for (int64_t pe = 0; pe < pes.pes(); ++pe)
    if (waits(pe) && waitingPes++ == 0)
      firstPe = pe;
  if (waitingPes == 0) {
    for (size_t i = 0; i < taps.size(); ++i)
      if (uint32_t left = flows[taps[i].flow].sent - taps[i].taken; left > 0) {
        const Channel &channel = channels.all()[i];
        return absl::FailedPreconditionError(absl::StrCat(
            left, " words of ", pes.mesh().text(channel.sender), " on colour ",
            channel.colour, " are left at ", pes.mesh().text(channel.receiver),
            ", which ended without them"));
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
    if (!waits(pe)) {
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
