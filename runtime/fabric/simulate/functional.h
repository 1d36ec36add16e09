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
  /// A ring of words that have been sent and not taken.
  struct Queue {
    uint32_t first = 0, size = 0, capacity = 0;
    int64_t base = 0; ///< in `words`, a power of two of them
    uint32_t mask = 0;
  };
  enum class Waits : uint8_t { No, ForWords, ForRoom };

  FunctionalFabric(PeArray pes, Channels channels, const FabricLimits &limits);
  void wake(int64_t pe, Waits reason);
  absl::Status turn(int64_t pe);
  /// Moves words of a stream until it is through or waits; true if through.
  bool move(int64_t pe, const StreamView &stream);
  int64_t room(absl::Span<const int32_t> targets) const;
  absl::Status atRest() const;
  std::string waitText(int64_t pe, int64_t &waitsFor) const;

  PeArray pes;
  Channels channels;
  std::vector<Queue> queues; ///< of each channel
  std::vector<uint32_t> words;
  std::vector<Waits> waiting;
  std::vector<int64_t> ready; ///< PEs that may go on, a ring
  size_t readyFirst = 0, readyCount = 0;
  FunctionalCounts count;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_FUNCTIONAL_H
