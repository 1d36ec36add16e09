//===- session.cpp - one use of a function, with what it remembers --------===//
//
// Explicit runs. Feeding tokens is in session_feed.cpp.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/session.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace sol {

Session::Session(std::shared_ptr<const Plan> plan)
    : openPlan(std::move(plan)) {}

absl::StatusOr<std::unique_ptr<Session>>
Session::create(std::shared_ptr<const Plan> plan, const Program &program,
                const ExecutorOptions &options) {
  std::unique_ptr<Session> session(new Session(plan));
  absl::StatusOr<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(plan), program, options);
  if (!executor.ok())
    return executor.status();
  session->interpreter = *std::move(executor);
  session->program = &program;
  session->options = options;
  session->caches.resize(program.inputs.size());
  session->inputBuffers.resize(program.inputs.size());
  session->pasts.resize(program.inputs.size());
  session->outputBuffers.resize(program.outputs.size());
  session->outputs.resize(program.outputs.size());
  if (absl::Status status = session->connect(options); !status.ok())
    return status;
  return session;
}

absl::StatusOr<absl::Span<const Tensor>>
Session::run(absl::Span<const NamedTensor> named) {
  history.clear();
  std::vector<Tensor> inputs(program->inputs.size());
  if (absl::Status status = orderInputs(named, inputs); !status.ok())
    return status;
  if (absl::Status status = checkPorts(program->inputs, inputs).status();
      !status.ok())
    return status;
  if (absl::Status status = loadCaches(inputs); !status.ok())
    return status;
  if (absl::Status status = interpreter->run(inputs); !status.ok())
    return status;
  collectOutputs();
  return absl::MakeConstSpan(outputs);
}

absl::Status Session::orderInputs(absl::Span<const NamedTensor> named,
                                  std::vector<Tensor> &ordered) const {
  for (const NamedTensor &item : named) {
    auto port = std::find_if(
        program->inputs.begin(), program->inputs.end(),
        [&](const ProgramPort &port) { return port.name == item.name; });
    if (port == program->inputs.end())
      return absl::NotFoundError(absl::StrCat(
          "function `", program->name, "` has no input `", item.name, "`"));
    Tensor &slot = ordered[port - program->inputs.begin()];
    if (slot.present())
      return absl::InvalidArgumentError(
          absl::StrCat("input `", item.name, "` is given twice"));
    slot = item.tensor;
  }
  for (size_t i = 0; i < ordered.size(); ++i)
    if (!ordered[i].present())
      return absl::InvalidArgumentError(
          absl::StrCat("input `", program->inputs[i].name, "` of function `",
                       program->name, "` is missing"));
  return absl::OkStatus();
}

/// Positions that this run adds to the caches.
int64_t Session::stepOf(absl::Span<const Tensor> inputs) const {
  int64_t largest = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ProgramPort &port = program->inputs[i];
    if (port.role == "tokens" && !inputs[i].dims.empty())
      return inputs[i].dims.back();
    // Without a known token input, no axis of any input adds more than its
    // size.
    if (!isPast(port))
      for (int64_t size : inputs[i].dims)
        largest = std::max(largest, size);
  }
  return largest;
}

absl::Status Session::loadCaches(std::vector<Tensor> &inputs) {
  int64_t step = stepOf(inputs), positions = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (program->inputs[i].role == "encoder_states" && inputs[i].rank() == 3)
      positions = inputs[i].dims[1];
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ProgramPort &port = program->inputs[i];
    if (program->values[port.value].kind != fb::ValueKind_State)
      continue;
    if (inputs[i].rank() != 4)
      return absl::InvalidArgumentError(
          absl::StrCat("cache input `", port.name, "` has sizes ",
                       dimsToString(inputs[i].dims), " instead of four axes"));
    if (absl::Status status = caches[i].load(inputs[i]); !status.ok())
      return status;
    int64_t room = port.role == "encoder_past" ? positions
                   : port.role == "buffer"     ? caches[i].length()
                                               : caches[i].length() + step;
    if (absl::Status status = caches[i].reserve(room); !status.ok())
      return status;
    inputs[i] = caches[i].view();
  }
  return absl::OkStatus();
}

/// Makes plain tensors of the outputs; caches are copied out.
void Session::collectOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = interpreter->output(i);
    if (program->values[program->outputs[i].value].kind != fb::ValueKind_State)
      continue;
    for (CacheStorage &cache : caches) {
      Tensor view = cache.view();
      if (view.data != outputs[i].data)
        continue;
      outputs[i].dims = view.dims;
      outputBuffers[i].resize(outputs[i].bytes());
      cache.store(outputBuffers[i].data());
      outputs[i].data = outputBuffers[i].data();
      break;
    }
  }
}

} // namespace sol
