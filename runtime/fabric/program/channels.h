//===- channels.h - who sends words to whom ------------------------------===//
//
// The routes of a program as channels: one for each PE and colour that words
// come on, with the one PE that sends them.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_PROGRAM_CHANNELS_H
#define SOL_RUNTIME_FABRIC_PROGRAM_CHANNELS_H

#include "runtime/fabric/program/code_lists.h"

#include "absl/types/span.h"

namespace sol::fabric {

struct Channel {
  int64_t sender = -1, receiver = -1;
  int32_t colour = 0;
  int32_t hops = 0, crossings = 0;
};

class Channels {
public:
  /// InvalidArgument for routes that lead nowhere, and if a PE would get words
  /// of one colour from two others, so that their order were chance.
  static absl::StatusOr<Channels> of(const FabricProgram &program,
                                     const Mesh &mesh, const CodeLists &codes,
                                     const Routes &routes);

  const std::vector<Channel> &all() const { return channels; }
  /// Channel that brings `colour` to `pe`; -1 if nobody sends it.
  int32_t into(int64_t pe, int32_t colour) const {
    return inputs[pe * colours + colour];
  }
  /// Channels that `pe` fills when it sends on `colour`.
  absl::Span<const int32_t> from(int64_t pe, int32_t colour) const {
    int64_t at = pe * colours + colour;
    return absl::MakeConstSpan(targets).subspan(starts[at],
                                                starts[at + 1] - starts[at]);
  }

private:
  int64_t colours = 0;
  std::vector<Channel> channels;
  std::vector<int32_t> inputs;
  std::vector<int32_t> targets, starts;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_PROGRAM_CHANNELS_H
