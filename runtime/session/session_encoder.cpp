//===- session_encoder.cpp - what an encoder gives a decoder --------------===//
//
// Runs the function that feeds a decoder's session and keeps its states for all
// the decoder's runs; runs the decoder's first tokens where a function of its
// own takes those.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/session.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace sol {

/// Finds what feeds this function: an encoder, and a function that makes the
/// pasts that this one goes on with.
absl::Status Session::connect(const ExecutorOptions &options) {
  for (const ProgramLink &item : openPlan->links()) {
    if (&openPlan->functions()[item.toFunction] != program)
      continue;
    const std::string &role = program->inputs[item.toInput].role;
    if (role == "encoder_states")
      link = item;
    else if (role == "past" || role == "encoder_past")
      beginnings.push_back(item);
  }
  if (beginnings.empty())
    return absl::OkStatus();
  const Program &code = openPlan->functions()[beginnings.front().fromFunction];
  for (const ProgramLink &item : openPlan->links())
    if (item.toFunction == beginnings.front().fromFunction &&
        code.inputs[item.toInput].role != "encoder_states")
      return absl::InvalidArgumentError(absl::StrCat(
          "function `", code.name, "` makes the first past of `", program->name,
          "` and is itself continued by links; compile the "
          "model again"));
  absl::StatusOr<std::unique_ptr<Session>> made =
      create(openPlan, code, options);
  if (!made.ok())
    return made.status();
  first = *std::move(made);
  return absl::OkStatus();
}

void Session::visitExecutors(
    absl::FunctionRef<void(const Executor &)> visit) const {
  if (encoder)
    encoder->visitExecutors(visit);
  if (first)
    first->visitExecutors(visit);
  visit(*interpreter);
}

absl::Status Session::encode(absl::Span<const int64_t> tokens) {
  // Nothing of the text before stays, not even if this one fails.
  states = Tensor();
  if (absl::Status status = truncate(0); !status.ok())
    return status;
  if (!first)
    return encodeStates(tokens);
  if (absl::Status status = first->encode(tokens); !status.ok())
    return status;
  states = first->states;
  return absl::OkStatus();
}

absl::Status Session::encodeStates(absl::Span<const int64_t> tokens) {
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
  if (first)
    return first->checkEncoded();
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
/// first run reads none, but wants a tensor, or a cache that it can fill.
absl::Status Session::fillEncoderPast(size_t index, Tensor &input) {
  const ProgramPort &port = program->inputs[index];
  bool isCache = program->values[port.value].kind == fb::ValueKind_State;
  if (history.empty() && port.partner < 0)
    return absl::UnimplementedError(absl::StrCat(
        "input `", port.name, "` of function `", program->name,
        "` takes what another function's first run gives, and no function of "
        "the plan gives it; compile that one into the plan or run it with "
        "--inputs"));
  if (isCache && history.empty()) {
    if (input.rank() != 4)
      return absl::InvalidArgumentError(
          absl::StrCat("cache input `", port.name, "` has sizes ",
                       dimsToString(input.dims), " instead of four axes"));
    caches[index].reset(port.type, input.dims[0], input.dims[1], input.dims[3]);
    int64_t positions = states.rank() == 3 ? states.dims[1] : input.dims[2];
    if (absl::Status status = caches[index].reserve(positions); !status.ok())
      return status;
  }
  if (isCache) {
    input = caches[index].view();
  } else if (!history.empty()) {
    input = pasts[index];
  } else {
    inputBuffers[index].assign(std::max<int64_t>(input.bytes(), 1), 0);
    input.data = inputBuffers[index].data();
  }
  return absl::OkStatus();
}

/// The first tokens go to the function without pasts; what it gives is the past
/// of those to come.
absl::StatusOr<Logits> Session::begin(absl::Span<const int64_t> tokens) {
  if (absl::Status status = first->truncate(0); !status.ok())
    return status;
  absl::StatusOr<Logits> logits = first->feed(tokens);
  if (!logits.ok())
    return logits;
  for (const ProgramLink &item : beginnings)
    if (absl::Status status = takePast(item); !status.ok())
      return status;
  history.assign(tokens.begin(), tokens.end());
  return logits;
}

absl::Status Session::takePast(const ProgramLink &item) {
  const Tensor &given = first->interpreter->output(item.fromOutput);
  const ProgramPort &port = program->inputs[item.toInput];
  if (given.rank() != 4 || given.type != port.type)
    return absl::InvalidArgumentError(
        absl::StrCat("function `", first->program->name, "` gives ",
                     dtypeName(given.type), " ", dimsToString(given.dims),
                     " for the past `", port.name, "` of `", program->name,
                     "`, which takes ", dtypeName(port.type), " of four axes"));
  if (program->values[port.value].kind == fb::ValueKind_State)
    return caches[item.toInput].load(given);
  std::vector<char> &buffer = inputBuffers[item.toInput];
  buffer.resize(std::max<int64_t>(given.bytes(), 1));
  if (given.bytes() > 0)
    std::memcpy(buffer.data(), given.data, given.bytes());
  pasts[item.toInput] = given;
  pasts[item.toInput].data = buffer.data();
  return absl::OkStatus();
}

} // namespace sol
