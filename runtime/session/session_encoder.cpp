//===- session_encoder.cpp - what an encoder gives a decoder --------------===//
//
// Runs the function that feeds a decoder's session and keeps its states for all
// the decoder's runs.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/session.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace sol {

/// The link that leads to an input of `program`, if it is one of the plan's.
std::optional<ProgramLink> Session::findLink(const Plan &plan,
                                             const Program &program) {
  for (const ProgramLink &link : plan.links())
    if (&plan.functions()[link.toFunction] == &program)
      return link;
  return std::nullopt;
}

absl::Status Session::encode(absl::Span<const int64_t> tokens) {
  if (!link)
    return absl::FailedPreconditionError(absl::StrCat(
        "function `", program->name, "` is fed by no encoder of the plan"));
  if (tokens.empty())
    return absl::InvalidArgumentError("no tokens to encode");
  const Program &code = openPlan->functions()[link->fromFunction];
  if (code.context > 0 && static_cast<int64_t>(tokens.size()) > code.context)
    return absl::OutOfRangeError(absl::StrCat(
        "a text of ", tokens.size(), " tokens is beyond the ", code.context,
        " that function `", code.name,
        "` was compiled for; shorten it or compile with a larger --context"));
  if (!encoder) {
    absl::StatusOr<std::unique_ptr<Session>> made =
        create(openPlan, code, options);
    if (!made.ok())
      return made.status();
    encoder = *std::move(made);
  }
  // Nothing of the text before stays, not even if this one fails.
  states = Tensor();
  if (absl::Status status = truncate(0); !status.ok())
    return status;
  std::vector<Tensor> inputs(code.inputs.size());
  if (absl::Status status = encoder->makeInputs(tokens, inputs); !status.ok())
    return status;
  if (absl::Status status = encoder->interpreter->run(inputs); !status.ok())
    return status;
  const Tensor &output = encoder->interpreter->output(link->fromOutput);
  if (output.rank() != 3)
    return absl::InvalidArgumentError(absl::StrCat(
        "output `", code.outputs[link->fromOutput].name, "` has sizes ",
        dimsToString(output.dims), ", a decoder takes three axes"));
  statesBuffer.resize(std::max<int64_t>(output.bytes(), 1));
  if (output.bytes() > 0)
    std::memcpy(statesBuffer.data(), output.data, output.bytes());
  states = output;
  states.data = statesBuffer.data();
  return absl::OkStatus();
}

/// Feeding needs the states that the function takes.
absl::Status Session::checkEncoded() const {
  for (const ProgramPort &port : program->inputs) {
    if (port.role != "encoder_states" || states.present())
      continue;
    if (!link)
      return absl::UnimplementedError(absl::StrCat(
          "input `", port.name, "` of function `", program->name,
          "` takes what an encoder gives, and no function of the plan gives "
          "it; compile the encoder into the plan or run it with --inputs"));
    return absl::FailedPreconditionError(
        absl::StrCat("input `", port.name, "` of function `", program->name,
                     "` takes what function `",
                     openPlan->functions()[link->fromFunction].name,
                     "` gives; encode a text before tokens are fed"));
  }
  return absl::OkStatus();
}

/// Keys and values of the encoder's states: those that the first run gave. The
/// first run reads none, but wants a tensor.
void Session::fillEncoderPast(size_t index, Tensor &input) {
  if (!history.empty()) {
    input = pasts[index];
    return;
  }
  inputBuffers[index].assign(std::max<int64_t>(input.bytes(), 1), 0);
  input.data = inputBuffers[index].data();
}

} // namespace sol
