//===- channels.cpp - who sends words to whom ----------------------------===//
//
// See channels.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/program/channels.h"

#include "absl/strings/str_cat.h"

namespace sol::fabric {

absl::StatusOr<Channels> Channels::of(const FabricProgram &program,
                                      const Mesh &mesh, const CodeLists &codes,
                                      const Routes &routes) {
  Channels result;
  result.colours = routes.colours();
  result.inputs.assign(mesh.pes() * routes.colours(), -1);
  result.starts.push_back(0);
  std::vector<bool> sends(routes.colours());
  for (int64_t pe = 0; pe < mesh.pes(); ++pe) {
    sends.assign(routes.colours(), false);
    for (const Step *step : codes.of(pe).steps)
      if (step->opcode == Opcode::Stream && step->source->out >= 0)
        sends[step->source->out] = true;
    for (int32_t colour = 0; colour < routes.colours(); ++colour) {
      if (sends[colour]) {
        absl::StatusOr<std::vector<Receiver>> receivers =
            routes.receivers(mesh, pe, colour);
        if (!receivers.ok())
          return receivers.status();
        for (const Receiver &receiver : *receivers) {
          int32_t &entry =
              result.inputs[receiver.pe * routes.colours() + colour];
          if (entry >= 0)
            return absl::InvalidArgumentError(absl::StrCat(
                mesh.text(receiver.pe), " gets words of colour ", colour,
                " from both ", mesh.text(result.channels[entry].sender),
                " and ", mesh.text(pe)));
          entry = static_cast<int32_t>(result.channels.size());
          result.targets.push_back(entry);
          result.channels.push_back(
              {pe, receiver.pe, colour, receiver.hops, receiver.crossings});
        }
      }
      result.starts.push_back(static_cast<int32_t>(result.targets.size()));
    }
  }
  return result;
}

} // namespace sol::fabric
