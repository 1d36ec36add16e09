//===- event_mesh.cpp - a mesh, word by word -----------------------------===//
//
// Events in order of time; at one time words arrive before anybody chooses
// among them, so the order in which events were made never matters but for
// equal ones, where it is their number. Deterministic.
//
//===----------------------------------------------------------------------===//
#include "machine/events/event_mesh.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <tuple>

namespace sol {
namespace {

struct Word {
  int colour;
  int priority;
  int64_t value;
};

enum class EventKind {
  Deliver, ///< a word reaches a core
  Arrive,  ///< a word reaches a router
  Core,    ///< a core may handle a word
  Link     ///< a link may take a word
};

struct Event {
  int64_t time;
  EventKind kind;
  int64_t number;
  int64_t pe;
  Port port;
  Word word;

  bool operator>(const Event &other) const {
    return std::tie(time, kind, number) >
           std::tie(other.time, other.kind, other.number);
  }
};

/// A link out of a router, with the words that wait for it.
struct Link {
  std::map<int, std::deque<Word>> waiting; ///< by priority
  int64_t freeAt = 0;
  bool asked = false; ///< an event is on its way
};

struct Core {
  size_t next = 0;     ///< instruction
  int64_t word = 0;    ///< of that instruction
  int64_t readyAt = 0; ///< when it may handle its next word
  int64_t endedAt = 0; ///< the end of its last instruction
  bool asked = false;
  std::map<int, std::deque<int64_t>> inbox; ///< by colour
};

class MeshRun {
public:
  MeshRun(const FabricTiming &timing, const MeshProgram &program)
      : timing(timing), program(program), cores(program.instructions.size()),
        links(program.instructions.size() * 4),
        routes(program.instructions.size() * program.colours, 0) {}

  absl::StatusOr<MeshResult> run(int64_t mostEvents);

private:
  absl::Status check();
  void post(int64_t time, EventKind kind, int64_t pe, Port port, Word word) {
    queue.push({time, kind, result.events++, pe, port, word});
  }
  void askCore(int64_t pe);
  void arrive(int64_t time, int64_t pe, const Word &word);
  void serveLink(int64_t time, int64_t pe, Port port);
  void stepCore(int64_t time, int64_t pe);
  void noteQueue(size_t words) {
    result.longestQueue =
        std::max(result.longestQueue, static_cast<int64_t>(words));
  }
  absl::Status whoWaits() const;
  int64_t neighbour(int64_t pe, Port port) const;
  std::string peText(int64_t pe) const {
    return absl::StrCat("PE [", pe % program.width, ", ", pe / program.width,
                        "]");
  }

  const FabricTiming &timing;
  const MeshProgram &program;
  std::vector<Core> cores;
  std::vector<Link> links;
  std::vector<unsigned> routes; ///< ports by PE and colour
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue;
  MeshResult result;
};

/// -1 outside the mesh.
int64_t MeshRun::neighbour(int64_t pe, Port port) const {
  int64_t x = pe % program.width + (port == Port::East) - (port == Port::West);
  int64_t y =
      pe / program.width + (port == Port::South) - (port == Port::North);
  return x < 0 || x >= program.width || y < 0 || y >= program.height
             ? -1
             : program.pe(x, y);
}

absl::Status MeshRun::check() {
  int64_t pes = static_cast<int64_t>(cores.size());
  for (const MeshRoute &route : program.routes) {
    if (route.pe < 0 || route.pe >= pes || route.colour < 0 ||
        route.colour >= program.colours)
      return absl::InvalidArgumentError(absl::StrCat(
          "a route of PE ", route.pe, " on colour ", route.colour,
          ": the mesh has ", pes, " PEs and ", program.colours, " colours"));
    for (int port = 0; port < 4; ++port)
      if (route.ports >> port & 1 &&
          neighbour(route.pe, static_cast<Port>(port)) < 0)
        return absl::InvalidArgumentError(
            absl::StrCat("a route of ", peText(route.pe), " on colour ",
                         route.colour, " leaves the mesh"));
    routes[route.pe * program.colours + route.colour] |= route.ports;
  }
  for (int64_t pe = 0; pe < pes; ++pe)
    for (const MeshInstruction &item : program.instructions[pe]) {
      int64_t size = static_cast<int64_t>(program.memory[pe].size());
      int64_t last = item.first + (item.words - 1) * item.step;
      if (item.words < 1 || std::min(item.first, last) < 0 ||
          std::max(item.first, last) >= size || item.in >= program.colours ||
          item.out >= program.colours)
        return absl::InvalidArgumentError(
            absl::StrCat("an instruction of ", peText(pe), " handles elements ",
                         item.first, " to ", last, " on colours ", item.in,
                         " and ", item.out, ": it has ", size,
                         " elements, the mesh ", program.colours, " colours"));
    }
  return absl::OkStatus();
}

void MeshRun::askCore(int64_t pe) {
  Core &core = cores[pe];
  if (core.asked || core.next == program.instructions[pe].size())
    return;
  core.asked = true;
  post(core.readyAt, EventKind::Core, pe, Port::Core, {});
}

void MeshRun::arrive(int64_t time, int64_t pe, const Word &word) {
  unsigned ports = routes[pe * program.colours + word.colour];
  if (ports >> static_cast<int>(Port::Core) & 1)
    post(time + timing.ramp, EventKind::Deliver, pe, Port::Core, word);
  for (int port = 0; port < 4; ++port) {
    if (!(ports >> port & 1))
      continue;
    Link &link = links[pe * 4 + port];
    std::deque<Word> &waiting = link.waiting[word.priority];
    waiting.push_back(word);
    noteQueue(waiting.size());
    if (!link.asked) {
      link.asked = true;
      post(std::max(time, link.freeAt), EventKind::Link, pe,
           static_cast<Port>(port), {});
    }
  }
}

void MeshRun::serveLink(int64_t time, int64_t pe, Port port) {
  Link &link = links[pe * 4 + static_cast<int>(port)];
  auto best = link.waiting.begin();
  Word word = best->second.front();
  best->second.pop_front();
  if (best->second.empty())
    link.waiting.erase(best);
  link.freeAt = time + 1;
  post(time + timing.hop, EventKind::Arrive, neighbour(pe, port), port, word);
  link.asked = !link.waiting.empty();
  if (link.asked)
    post(link.freeAt, EventKind::Link, pe, port, {});
}

void MeshRun::stepCore(int64_t time, int64_t pe) {
  Core &core = cores[pe];
  core.asked = false;
  // E1: an instruction begins `start` after the one before.
  if (core.word == 0 && time < core.endedAt + timing.start) {
    core.readyAt = core.endedAt + timing.start;
    askCore(pe);
    return;
  }
  const MeshInstruction &item = program.instructions[pe][core.next];
  int64_t &element = result.memory[pe][item.first + core.word * item.step];
  int64_t value = element;
  if (item.in >= 0) {
    std::deque<int64_t> &inbox = core.inbox[item.in];
    if (inbox.empty()) {
      // A delivery will ask again.
      core.readyAt = time;
      return;
    }
    value = inbox.front() + (item.add ? element : 0);
    inbox.pop_front();
  }
  if (item.store)
    element = value;
  core.readyAt = time + 1;
  if (item.out >= 0)
    post(time + 1 + timing.ramp, EventKind::Arrive, pe, Port::Core,
         {item.out, item.priority, value});
  if (++core.word == item.words) {
    core.word = 0;
    ++core.next;
    core.endedAt = time + 1;
  }
  askCore(pe);
}

absl::Status MeshRun::whoWaits() const {
  std::string first;
  int64_t waiting = 0;
  for (size_t pe = 0; pe < cores.size(); ++pe) {
    const auto &instructions = program.instructions[pe];
    if (cores[pe].next == instructions.size())
      continue;
    if (waiting++ == 0)
      first = absl::StrCat(
          peText(static_cast<int64_t>(pe)), " waits for word ", cores[pe].word,
          " of ", instructions[cores[pe].next].words, " on colour ",
          instructions[cores[pe].next].in, " in instruction ", cores[pe].next);
  }
  if (waiting == 0)
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(waiting, " PEs wait for words that never come; ", first));
}

absl::StatusOr<MeshResult> MeshRun::run(int64_t mostEvents) {
  if (absl::Status status = check(); !status.ok())
    return status;
  result.memory = program.memory;
  for (size_t pe = 0; pe < cores.size(); ++pe)
    askCore(static_cast<int64_t>(pe));
  while (!queue.empty()) {
    if (result.events > mostEvents)
      return absl::ResourceExhaustedError(absl::StrCat(
          "more than ", mostEvents, " events: give a smaller mesh or vector"));
    Event event = queue.top();
    queue.pop();
    switch (event.kind) {
    case EventKind::Deliver: {
      std::deque<int64_t> &inbox = cores[event.pe].inbox[event.word.colour];
      inbox.push_back(event.word.value);
      noteQueue(inbox.size());
      cores[event.pe].readyAt = std::max(cores[event.pe].readyAt, event.time);
      askCore(event.pe);
      break;
    }
    case EventKind::Arrive:
      arrive(event.time, event.pe, event.word);
      break;
    case EventKind::Core:
      stepCore(event.time, event.pe);
      break;
    case EventKind::Link:
      serveLink(event.time, event.pe, event.port);
      break;
    }
  }
  if (absl::Status status = whoWaits(); !status.ok())
    return status;
  for (const Core &core : cores) {
    result.ends.push_back(core.endedAt);
    result.cycles = std::max(result.cycles, core.endedAt);
  }
  return std::move(result);
}

} // namespace

absl::StatusOr<MeshResult> runMesh(const FabricTiming &timing,
                                   const MeshProgram &program,
                                   int64_t mostEvents) {
  return MeshRun(timing, program).run(mostEvents);
}

} // namespace sol
