//===- timed.h - runs a fabric program event by event --------------------===//
//
// The same instructions with the same numbers as the functional simulator, and
// their cycles: one event for each word and hop, by the rules of the event
// mesh (machine/events, docs/decisions/0013). Takes constants of single
// instructions, words and hops from the cost library, and no closed form.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_SIMULATE_TIMED_H
#define SOL_RUNTIME_FABRIC_SIMULATE_TIMED_H

#include "machine/cost/fabric_timing.h"
#include "runtime/fabric/program/channels.h"
#include "runtime/fabric/simulate/event_queue.h"
#include "runtime/fabric/simulate/pe_array.h"

#include <memory>

namespace sol::fabric {

struct TimedResult {
  HostTensors outputs;
  int64_t cycles = 0; ///< the end of the last instruction
  int64_t events = 0;
  int64_t longestQueue = 0;  ///< words of one colour that waited in one place
  std::vector<int64_t> ends; ///< of each PE's last instruction
};

class TimedFabric {
public:
  /// `program` and `weights` must outlive it. `timing` is usually that of the
  /// target; tests give others. InvalidArgument for programs that can't be
  /// executed.
  static absl::StatusOr<std::unique_ptr<TimedFabric>>
  create(const FabricProgram &program, const Target &target,
         const FabricTiming &timing, absl::Span<const uint8_t> weights);

  /// One step, all PEs beginning at cycle 0. FailedPrecondition with who waits
  /// if nothing can move; ResourceExhausted after `mostEvents` events.
  absl::StatusOr<TimedResult> step(const HostTensors &inputs);

  PeArray &array() { return pes; }
  int64_t mostEvents = int64_t(1) << 36;

private:
  struct Word {
    int32_t priority;
    int32_t colour;
    uint32_t value;
  };
  struct Link {
    std::vector<Word> waiting; ///< by priority, then first come
    int64_t freeAt = 0;
    bool asked = false;
  };
  struct Clock {
    int64_t readyAt = 0; ///< when the PE may handle its next word
    int64_t endedAt = 0; ///< the end of its last instruction
    bool asked = false, isOpen = false, lastWasLocal = false;
    StreamView stream; ///< while isOpen
  };
  struct Inbox {
    std::vector<uint32_t> words;
    size_t taken = 0;
    size_t size() const { return words.size() - taken; }
  };

  TimedFabric(PeArray pes, Routes routes, Channels channels,
              const Target &target, const FabricTiming &timing);
  void restart();
  void askCore(int64_t pe);
  void deliver(int64_t time, const Event &event);
  void arrive(int64_t time, const Event &event);
  void serveLink(int64_t time, const Event &event);
  absl::Status stepCore(int64_t time, int64_t pe);
  /// Runs local instructions up to the next stream; true if there is one and
  /// it may begin at `time`.
  absl::StatusOr<bool> reachStream(int64_t time, int64_t pe);
  void handleWord(int64_t time, int64_t pe);
  absl::Status atRest() const;

  PeArray pes;
  Routes routes;
  Channels channels;
  Target target;
  FabricTiming timing;
  int64_t linkLatency = 0; ///< cycles between wafers
  double linkInterval = 1; ///< cycles that a word takes on such a link
  EventQueue queue;
  std::vector<Clock> clocks;
  std::vector<Link> links; ///< four for each PE
  std::vector<Inbox> inboxes;
  std::vector<double> linkFreeAt; ///< of each wafer's east edge
  TimedResult result;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_TIMED_H
