//===- timed.cpp - runs a fabric program event by event ------------------===//
//
// Rules: an instruction that handles words begins `start` after the one before;
// local instructions in a row are one task and begin `start` after the stream
// before them; a PE handles a word a cycle, a link carries one a cycle, the
// least priority first.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/simulate/timed.h"

#include "runtime/fabric/simulate/instruction_cycles.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace sol::fabric {

TimedFabric::TimedFabric(PeArray array, Routes ways, Channels channels,
                         const Target &target, const FabricTiming &timing)
    : pes(std::move(array)), routes(std::move(ways)),
      channels(std::move(channels)), target(target), timing(timing) {
  linkLatency = std::llround(target.linkLatencySeconds * target.clockHertz);
  if (target.linkBytesPerSecond > 0)
    linkInterval = static_cast<double>(target.wordBytes) * target.clockHertz /
                   target.linkBytesPerSecond;
}

absl::StatusOr<std::unique_ptr<TimedFabric>>
TimedFabric::create(const FabricProgram &program, const Target &target,
                    const FabricTiming &timing,
                    absl::Span<const uint8_t> weights) {
  absl::StatusOr<LoadedFabric> loaded =
      loadFabric(program, FabricLimits::of(target), weights);
  if (!loaded.ok())
    return loaded.status();
  return std::unique_ptr<TimedFabric>(
      new TimedFabric(std::move(loaded->pes), std::move(loaded->routes),
                      std::move(loaded->channels), target, timing));
}

void TimedFabric::askCore(int64_t pe) {
  Clock &clock = clocks[pe];
  if (clock.asked)
    return;
  clock.asked = true;
  Event event;
  event.pe = static_cast<int32_t>(pe);
  queue.post(clock.readyAt, EventKind::Core, event);
}

void TimedFabric::deliver(int64_t time, const Event &event) {
  Inbox &inbox = inboxes[channels.into(event.pe, event.colour)];
  inbox.words.push_back(event.value);
  result.longestQueue =
      std::max(result.longestQueue, static_cast<int64_t>(inbox.size()));
  Clock &clock = clocks[event.pe];
  // Others' words don't wake a stream.
  if (!clock.isOpen || clock.stream.in != event.colour)
    return;
  clock.readyAt = std::max(clock.readyAt, time);
  askCore(event.pe);
}

void TimedFabric::arrive(int64_t time, const Event &event) {
  unsigned ports = routes.ports(event.pe, event.colour);
  if (ports >> static_cast<int>(Port::Core) & 1)
    queue.post(time + timing.ramp, EventKind::Deliver, event);
  for (int port = 0; port < 4; ++port) {
    if (!(ports >> port & 1))
      continue;
    Link &link = links[int64_t(event.pe) * 4 + port];
    Word word{event.priority, event.colour, event.value};
    auto after = std::upper_bound(
        link.waiting.begin(), link.waiting.end(), word,
        [](const Word &a, const Word &b) { return a.priority < b.priority; });
    link.waiting.insert(after, word);
    result.longestQueue = std::max(result.longestQueue,
                                   static_cast<int64_t>(link.waiting.size()));
    if (!link.asked) {
      link.asked = true;
      Event served = event;
      served.port = static_cast<uint8_t>(port);
      queue.post(std::max(time, link.freeAt), EventKind::Link, served);
    }
  }
}

void TimedFabric::serveLink(int64_t time, const Event &event) {
  Port port = static_cast<Port>(event.port);
  Link &link = links[int64_t(event.pe) * 4 + event.port];
  Word word = link.waiting.front();
  link.waiting.erase(link.waiting.begin());
  link.freeAt = time + 1;
  Event next;
  next.pe = static_cast<int32_t>(pes.mesh().neighbour(event.pe, port));
  next.colour = static_cast<int16_t>(word.colour);
  next.priority = word.priority;
  next.value = word.value;
  int64_t there = time + timing.hop;
  if (pes.mesh().isWaferLink(event.pe, port)) {
    // The rows of an edge share what the link carries.
    double &freeAt = linkFreeAt[pes.mesh().waferOf(event.pe)];
    freeAt = std::max(freeAt, static_cast<double>(time)) + linkInterval;
    there = static_cast<int64_t>(std::ceil(freeAt)) + linkLatency;
  }
  queue.post(there, EventKind::Arrive, next);
  link.asked = !link.waiting.empty();
  if (link.asked)
    queue.post(link.freeAt, EventKind::Link, event);
}

absl::StatusOr<bool> TimedFabric::reachStream(int64_t time, int64_t pe) {
  Clock &clock = clocks[pe];
  while (const Step *step = pes.next(pe)) {
    bool isStream = step->opcode == Opcode::Stream;
    if (isStream) {
      if (absl::Status status = pes.openStream(pe, *step, clock.stream);
          !status.ok())
        return status;
      if (clock.stream.words == 0) {
        pes.endStream(pe);
        continue;
      }
    }
    bool begins = isStream || !clock.lastWasLocal;
    int64_t start = clock.endedAt + (begins ? timing.start : 0);
    if (!isStream) {
      // Nobody else sees this memory, so it may be worked on in advance.
      int64_t cycles =
          localCycles(target, *step, pes.view(pe, *step).registers);
      if (absl::Status status = pes.runLocal(pe, *step); !status.ok())
        return status;
      clock.endedAt = start + cycles;
      clock.lastWasLocal = true;
      continue;
    }
    if (start > time) {
      clock.readyAt = start;
      askCore(pe);
      return false;
    }
    clock.isOpen = true;
    clock.lastWasLocal = false;
    return true;
  }
  return false;
}

void TimedFabric::handleWord(int64_t time, int64_t pe) {
  Clock &clock = clocks[pe];
  Core &core = pes.core(pe);
  uint32_t incoming = 0;
  if (clock.stream.in >= 0) {
    int32_t channel = channels.into(pe, clock.stream.in);
    if (channel < 0 || inboxes[channel].size() == 0) {
      // A delivery will ask again.
      clock.readyAt = time;
      return;
    }
    Inbox &inbox = inboxes[channel];
    incoming = inbox.words[inbox.taken++];
    if (inbox.taken == inbox.words.size()) {
      inbox.words.clear();
      inbox.taken = 0;
    }
  }
  Event out;
  out.pe = static_cast<int32_t>(pe);
  out.value = clock.stream.handle(core.words++, incoming, core.choice);
  clock.readyAt = time + 1;
  if (clock.stream.out >= 0) {
    out.colour = static_cast<int16_t>(clock.stream.out);
    out.port = static_cast<uint8_t>(Port::Core);
    out.priority = core.code->steps[core.next]->source->priority;
    queue.post(time + 1 + timing.ramp, EventKind::Arrive, out);
  }
  if (core.words == clock.stream.words) {
    pes.endStream(pe);
    clock.endedAt = time + 1;
    clock.isOpen = false;
  }
  askCore(pe);
}

absl::Status TimedFabric::stepCore(int64_t time, int64_t pe) {
  Clock &clock = clocks[pe];
  clock.asked = false;
  if (!clock.isOpen) {
    absl::StatusOr<bool> reached = reachStream(time, pe);
    if (!reached.ok())
      return reached.status();
    if (!*reached)
      return absl::OkStatus();
  }
  handleWord(time, pe);
  return absl::OkStatus();
}

void TimedFabric::restart() {
  queue = EventQueue();
  clocks.assign(pes.pes(), Clock());
  links.assign(pes.pes() * 4, Link());
  inboxes.assign(channels.all().size(), Inbox());
  linkFreeAt.assign(pes.program().wafers.size(), 0);
  result = TimedResult();
  for (int64_t pe = 0; pe < pes.pes(); ++pe)
    if (!pes.core(pe).code->steps.empty())
      askCore(pe);
}

absl::Status TimedFabric::atRest() const {
  int64_t waiting = 0;
  std::string text;
  for (int64_t pe = 0; pe < pes.pes(); ++pe) {
    const Core &core = pes.core(pe);
    if (!clocks[pe].isOpen)
      continue;
    if (++waiting > 12)
      continue;
    int32_t in = channels.into(pe, clocks[pe].stream.in);
    absl::StrAppend(
        &text, "\n  ", pes.instructionText(pe), " waits for word ", core.words,
        " on colour ", clocks[pe].stream.in,
        in < 0 ? ", which nobody sends"
               : absl::StrCat(" from ",
                              pes.mesh().text(channels.all()[in].sender)));
  }
  if (waiting > 0)
    return absl::FailedPreconditionError(
        absl::StrCat(waiting, " PEs wait for words that never come:", text));
  for (size_t i = 0; i < inboxes.size(); ++i)
    if (inboxes[i].size() > 0) {
      const Channel &channel = channels.all()[i];
      return absl::FailedPreconditionError(absl::StrCat(
          inboxes[i].size(), " words of ", pes.mesh().text(channel.sender),
          " on colour ", channel.colour, " are left at ",
          pes.mesh().text(channel.receiver), ", which ended without them"));
    }
  return absl::OkStatus();
}

absl::StatusOr<TimedResult> TimedFabric::step(const HostTensors &inputs) {
  if (absl::Status status = pes.begin(inputs); !status.ok())
    return status;
  restart();
  int64_t time = 0;
  EventKind kind;
  Event event;
  while (queue.take(time, kind, event)) {
    if (queue.made() > mostEvents)
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", mostEvents, " events"));
    switch (kind) {
    case EventKind::Deliver:
      deliver(time, event);
      break;
    case EventKind::Arrive:
      arrive(time, event);
      break;
    case EventKind::Core:
      if (absl::Status status = stepCore(time, event.pe); !status.ok())
        return status;
      break;
    case EventKind::Link:
      serveLink(time, event);
      break;
    }
  }
  if (absl::Status status = atRest(); !status.ok())
    return status;
  for (const Clock &clock : clocks) {
    result.ends.push_back(clock.endedAt);
    result.cycles = std::max(result.cycles, clock.endedAt);
  }
  result.events = queue.made();
  result.outputs = pes.outputs();
  return std::move(result);
}

} // namespace sol::fabric
