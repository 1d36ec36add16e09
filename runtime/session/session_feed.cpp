//===- session_feed.cpp - tokens in, logits out ---------------------------===//
//
// Makes the inputs of a text generator from tokens by the roles that the plan
// gives them, and keeps the caches between runs.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/number_formats.h"
#include "runtime/session/session.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace sol {
namespace {

bool hasPast(const Program &program) {
  return std::any_of(program.inputs.begin(), program.inputs.end(), isPast);
}

/// Writes `value` as element `index` of an integer or float tensor.
void storeNumber(Tensor &tensor, int64_t index, int64_t value) {
  switch (tensor.type) {
  case DType::I64:
    tensor.as<int64_t>()[index] = value;
    return;
  case DType::I32:
    tensor.as<int32_t>()[index] = static_cast<int32_t>(value);
    return;
  case DType::F32:
    tensor.as<float>()[index] = static_cast<float>(value);
    return;
  case DType::Bool:
    tensor.as<uint8_t>()[index] = value != 0;
    return;
  default:
    return;
  }
}

bool takesNumbers(DType type) {
  return type == DType::I64 || type == DType::I32 || type == DType::F32 ||
         type == DType::Bool;
}

/// The sliding window of config.json, for graphs that take it as an input.
absl::StatusOr<int64_t> windowOf(const Plan &plan) {
  absl::StatusOr<std::string_view> text = plan.resource("config.json");
  if (!text.ok())
    return text.status();
  auto config = nlohmann::json::parse(*text, nullptr, false);
  if (!config.is_object())
    return 0;
  auto window = config.find("sliding_window");
  return window != config.end() && window->is_number_integer()
             ? window->get<int64_t>()
             : 0;
}

} // namespace

absl::Status Session::truncate(int64_t length) {
  if (length < 0 || length > static_cast<int64_t>(history.size()))
    return absl::OutOfRangeError(absl::StrCat("cannot go back to ", length,
                                              " tokens, the session holds ",
                                              history.size()));
  history.resize(length);
  for (size_t i = 0; i < program->inputs.size(); ++i) {
    if (program->inputs[i].role == "buffer")
      caches[i].clearFrom(length);
    if (program->inputs[i].role != "past")
      continue;
    caches[i].truncate(length);
    Tensor &past = pasts[i];
    if (past.rank() != 4 || past.dims[2] <= length)
      continue;
    // Rows of each head move together; sources lie behind their targets.
    int64_t vector = byteCount(past.type, past.dims[3]);
    char *data = past.as<char>();
    for (int64_t row = 0; row < past.dims[0] * past.dims[1]; ++row)
      std::memmove(data + row * length * vector,
                   data + row * past.dims[2] * vector, length * vector);
    past.dims[2] = length;
  }
  return absl::OkStatus();
}

absl::StatusOr<Logits> Session::feed(absl::Span<const int64_t> tokens) {
  int64_t total = history.size() + tokens.size();
  if (tokens.empty())
    return absl::InvalidArgumentError("no tokens to feed");
  if (program->context > 0 && total > program->context)
    return absl::OutOfRangeError(absl::StrCat(
        "a sequence of ", total, " tokens is beyond the ", program->context,
        " that the plan was compiled for; use a shorter prompt or compile with "
        "a larger --context"));
  if (absl::Status status = checkEncoded(); !status.ok())
    return status;
  if (first && history.empty())
    return begin(tokens);
  std::vector<int64_t> whole = history;
  whole.insert(whole.end(), tokens.begin(), tokens.end());
  // Without caches every run sees the whole sequence.
  if (!hasPast(*program))
    tokens = whole;
  std::vector<Tensor> inputs(program->inputs.size());
  if (absl::Status status = makeInputs(tokens, inputs); !status.ok())
    return status;
  if (absl::Status status = interpreter->run(inputs); !status.ok())
    return status;
  if (absl::Status status = keepPresents(); !status.ok())
    return status;
  history = std::move(whole);
  return readLogits();
}

/// What the symbols of the ports stand for when `step` tokens follow `past`.
SizeBindings Session::bindSequence(int64_t past, int64_t step) const {
  SizeBindings bindings;
  // A buffer whose size the model leaves open holds what the plan is for.
  for (const ProgramPort &port : program->inputs)
    if (port.role == "buffer" && port.sizes.size() == 4 && program->context > 0)
      solveSize(port.sizes[2], program->context, bindings);
  for (bool formulas : {false, true})
    for (const ProgramPort &port : program->inputs) {
      auto solve = [&](size_t axis, int64_t value) {
        if (axis < port.sizes.size() &&
            formulas != symbolOf(port.sizes[axis]).has_value())
          solveSize(port.sizes[axis], value, bindings);
      };
      size_t last = port.sizes.empty() ? 0 : port.sizes.size() - 1;
      if (port.sizes.size() > 1)
        solve(0, 1);
      if (port.role == "tokens" || port.role == "positions")
        solve(last, step);
      else if (port.role == "attention_mask")
        solve(last, past + step);
      else if (port.role == "past")
        solve(2, past);
      else if (port.role == "encoder_states" && states.present())
        solve(1, states.dims[1]);
      else if (port.role == "encoder_mask" && states.present())
        solve(last, states.dims[1]);
    }
  return bindings;
}

absl::Status Session::makeInputs(absl::Span<const int64_t> tokens,
                                 std::vector<Tensor> &inputs) {
  int64_t past = hasPast(*program) ? history.size() : 0;
  SizeBindings bindings = bindSequence(past, tokens.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (absl::Status status = fillInput(i, tokens, bindings, inputs[i]);
        !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status Session::fillInput(size_t index, absl::Span<const int64_t> tokens,
                                const SizeBindings &bindings, Tensor &input) {
  const ProgramPort &port = program->inputs[index];
  int64_t past = hasPast(*program) ? history.size() : 0;
  input.type = port.type;
  const std::vector<std::string> &spare =
      port.partner >= 0 &&
              port.partner < static_cast<int>(program->outputs.size())
          ? program->outputs[port.partner].sizes
          : port.sizes;
  for (size_t axis = 0; axis < port.sizes.size(); ++axis) {
    std::optional<int64_t> size = evaluateSize(port.sizes[axis], bindings);
    if (!size && axis < spare.size())
      size = evaluateSize(spare[axis], bindings);
    if (!size)
      return absl::InvalidArgumentError(absl::StrCat(
          "size `", port.sizes[axis], "` of input `", port.name,
          "` does not follow from the tokens; run the plan with --inputs"));
    input.dims.push_back(*size);
  }
  if (port.role == "past")
    return fillPast(index, tokens.size(), input);
  if (port.role == "buffer")
    return fillBuffer(index, tokens.size(), input);
  if (port.role == "encoder_past")
    return fillEncoderPast(index, input);
  if (program->values[port.value].kind == fb::ValueKind_State)
    return absl::InvalidArgumentError(
        absl::StrCat("input `", port.name, "` of role `", port.role,
                     "` is a cache; compile the model again"));
  if (link && link->toInput == static_cast<int>(index) && states.present()) {
    input = states;
    return absl::OkStatus();
  }
  if (!takesNumbers(port.type))
    return absl::UnimplementedError(absl::StrCat(
        "input `", port.name, "` is ", dtypeName(port.type),
        ", which text generation can't make; run the plan with --inputs"));
  inputBuffers[index].resize(std::max<int64_t>(input.bytes(), 1));
  input.data = inputBuffers[index].data();
  absl::StatusOr<int64_t> window = 0;
  if (port.role == "window")
    window = windowOf(*openPlan);
  if (!window.ok())
    return window.status();
  int64_t count = input.size(), total = past + tokens.size();
  int64_t row =
      std::max<int64_t>(1, input.dims.empty() ? 1 : input.dims.back());
  for (int64_t i = 0; i < count; ++i) {
    if (port.role == "tokens")
      storeNumber(input, i, tokens[i]);
    else if (port.role == "attention_mask")
      storeNumber(input, i, i % row < total);
    else if (port.role == "encoder_mask")
      storeNumber(input, i, 1);
    else if (port.role == "offsets")
      storeNumber(input, i, past);
    else if (port.role == "lengths")
      storeNumber(input, i, total);
    else if (port.role == "use_cache")
      storeNumber(input, i, past > 0);
    else if (port.role == "positions")
      storeNumber(input, i, past + i);
    else if (port.role == "window")
      storeNumber(input, i, *window);
    else
      return absl::UnimplementedError(absl::StrCat(
          "input `", port.name,
          "` has no part in text generation; run the plan with --inputs"));
  }
  return absl::OkStatus();
}

/// A past of `input`'s sizes: the session's cache with room for `step` more
/// positions, or the tensor that the last run left.
absl::Status Session::fillPast(size_t index, int64_t step, Tensor &input) {
  const ProgramPort &port = program->inputs[index];
  int64_t past = history.size();
  if (program->values[port.value].kind == fb::ValueKind_State) {
    if (past == 0)
      caches[index].reset(port.type, input.dims[0], input.dims[1],
                          input.dims[3]);
    // A run that failed may have left positions behind.
    caches[index].truncate(past);
    if (absl::Status status = caches[index].reserve(past + step); !status.ok())
      return status;
    input = caches[index].view();
    return absl::OkStatus();
  }
  if (past > 0)
    input = pasts[index];
  else if (input.size() != 0)
    return absl::UnimplementedError(absl::StrCat(
        "input `", port.name, "` of sizes ", dimsToString(input.dims),
        " has elements before the first token, which text generation can't "
        "make; run the plan with --inputs"));
  return absl::OkStatus();
}

/// A buffer of `input`'s sizes, which gets `step` more positions.
absl::Status Session::fillBuffer(size_t index, int64_t step, Tensor &input) {
  const ProgramPort &port = program->inputs[index];
  if (program->values[port.value].kind != fb::ValueKind_State ||
      input.rank() != 4)
    return absl::InvalidArgumentError(absl::StrCat(
        "buffer `", port.name, "` is no cache; compile the model again"));
  // All buffers are of this size or close to it.
  int64_t count = std::count_if(
      program->inputs.begin(), program->inputs.end(),
      [](const ProgramPort &other) { return other.role == "buffer"; });
  int64_t limit = memoryLimitOf(options), bytes = input.bytes();
  if (bytes < 1 || bytes > limit / count)
    return absl::ResourceExhaustedError(
        absl::StrCat(count, " buffers like input `", port.name, "` of sizes ",
                     dimsToString(input.dims), " can't be kept in ", limit,
                     " bytes; compile with a smaller --context"));
  CacheStorage &cache = caches[index];
  int64_t past = history.size();
  absl::Status status;
  if (past == 0)
    status = cache.makeBuffer(port.type, input.dims[0], input.dims[1],
                              input.dims[2], input.dims[3]);
  else // A run that failed may have left something behind.
    cache.clearFrom(past);
  if (status.ok())
    status = cache.expectWrites(past + step);
  if (!status.ok())
    return absl::Status(status.code(), absl::StrCat("input `", port.name,
                                                    "`: ", status.message()));
  input = cache.view();
  return absl::OkStatus();
}

/// Copies presents that are plain tensors to where the next run reads them.
absl::Status Session::keepPresents() {
  for (size_t i = 0; i < program->inputs.size(); ++i) {
    const ProgramPort &port = program->inputs[i];
    bool isFixed = port.role == "encoder_past";
    if ((port.role != "past" && !isFixed) ||
        program->values[port.value].kind == fb::ValueKind_State)
      continue;
    // Later runs give it back empty.
    if (isFixed && !history.empty())
      continue;
    if (port.partner < 0 ||
        port.partner >= static_cast<int>(program->outputs.size()))
      return absl::InvalidArgumentError(
          absl::StrCat("input `", port.name,
                       "` is fed by no output; run the plan with "
                       "--inputs"));
    const Tensor &present = interpreter->output(port.partner);
    inputBuffers[i].resize(std::max<int64_t>(present.bytes(), 1));
    if (present.bytes() > 0)
      std::memcpy(inputBuffers[i].data(), present.data, present.bytes());
    pasts[i] = present;
    pasts[i].data = inputBuffers[i].data();
  }
  return absl::OkStatus();
}

absl::StatusOr<Logits> Session::readLogits() {
  size_t index = program->outputs.size();
  for (size_t i = 0; i < program->outputs.size(); ++i)
    if (program->outputs[i].role == "logits")
      index = i;
  if (index == program->outputs.size())
    return absl::UnimplementedError(
        absl::StrCat("function `", program->name,
                     "` gives no logits: it writes no text; run it with "
                     "--inputs"));
  const Tensor &output = interpreter->output(index);
  if (output.rank() < 2 || !isFloat(output.type))
    return absl::UnimplementedError(
        absl::StrCat("output `", program->outputs[index].name, "` of sizes ",
                     dimsToString(output.dims),
                     " holds no logits; this plan writes no text"));
  Logits logits;
  logits.vocabulary = output.dims.back();
  logits.positions = output.size() / std::max<int64_t>(1, logits.vocabulary);
  if (output.type == DType::F32) {
    logits.data = output.as<float>();
    return logits;
  }
  logitsBuffer.resize(output.size());
  loadAsF32(output.type, output.data, 0, output.size(), logitsBuffer.data());
  logits.data = logitsBuffer.data();
  return logits;
}

} // namespace sol
