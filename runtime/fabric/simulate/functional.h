//===- functional.h - runs a fabric program for its numbers --------------===//
//
// Each PE runs until it waits for words or for room. A colour holds as many
// words as the routers' queues on its way, so that a program that would stop
// on the machine stops here. Knows no time. Deterministic: results do not
// depend on the order in which PEs are served, as each colour of a PE has one
// sender.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_SIMULATE_FUNCTIONAL_H
#define SOL_RUNTIME_FABRIC_SIMULATE_FUNCTIONAL_H

#include "runtime/fabric/program/channels.h"
#include "runtime/fabric/simulate/pe_array.h"

#include <memory>

namespace sol::fabric {

/// What a run did, all steps together.
struct FunctionalCounts {
  int64_t instructions = 0;
  int64_t words = 0; ///< handled by PEs in streams
  int64_t turns = 0; ///< how often a PE began or went on
};

class FunctionalFabric {
public:
  /// `program` and `weights` must outlive it. InvalidArgument for programs
  /// that can't be executed.
  static absl::StatusOr<std::unique_ptr<FunctionalFabric>>
  create(const FabricProgram &program, const FabricLimits &limits,
         absl::Span<const uint8_t> weights);

  /// One step. FailedPrecondition with who waits for whom if nothing can move,
  /// or if words are left that nobody took; OutOfRange if an operand leaves
  /// its buffer; ResourceExhausted after `mostInstructions` of them.
  absl::StatusOr<HostTensors> step(const HostTensors &inputs);

  PeArray &array() { return pes; }
  const FunctionalCounts &counts() const { return count; }

  int64_t mostInstructions = int64_t(1) << 40;

private:
  /// The words of one sender on one colour, in a ring that all receivers share.
  struct Flow {
    int64_t base = 0;  ///< in `words`
    uint32_t mask = 0; ///< size of the ring less 1
    uint32_t sent = 0;
    uint32_t limit = 0;   ///< up to here there is room for sure
    int32_t firstTap = 0; ///< receivers are consecutive channels
    int32_t taps = 0;
    int32_t blocker = -1; ///< the receiver that the sender waits for
    int32_t sender = 0;
  };
  /// A receiver of a flow: a channel of Channels.
  struct Tap {
    uint32_t taken = 0;
    uint32_t capacity = 0; ///< words that routers on the way hold
    int32_t flow = 0;
    int32_t receiver = 0;
  };

  /// What a PE's colour means: the tap that brings its words, and the flow
  /// that it fills.
  struct Ends {
    int32_t in = -1, out = -1;
  };

  FunctionalFabric(PeArray pes, Channels channels, const FabricLimits &limits);
  const Ends &endsOf(int64_t pe, int32_t colour) const {
    return ends[pe * colours + colour];
  }
  void prefetch() const;
  void wake(int64_t pe);
  absl::Status turn(int64_t pe);
  /// Moves words of a stream until it is through or waits; true if through.
  bool move(int64_t pe, const StreamView &stream);
  /// Handles words of which there are enough, with room.
  void handle(Core &core, const StreamView &stream, Tap *in, Flow *out,
              uint32_t count);
  uint32_t room(Flow &flow);
  void restart();
  absl::Status atRest() const;
  std::string waitText(int64_t pe, int64_t &waitsFor) const;

  PeArray pes;
  Channels channels;
  int64_t colours = 0;
  LargeVector<Ends> ends; ///< by PE and colour
  LargeVector<Flow> flows;
  LargeVector<Tap> taps; ///< of each channel
  LargeVector<uint32_t> words;
  std::vector<int32_t> waitsForWords; ///< of each PE: a tap, nobody, or not
  std::vector<int32_t> waitsForRoom;  ///< of each PE: a flow, or not
  std::vector<int32_t> ready;         ///< PEs that may go on, a ring
  size_t readyFirst = 0, readyCount = 0;
  FunctionalCounts count;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_FUNCTIONAL_H
