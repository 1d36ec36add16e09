//===- session_api.cpp - the C interface: sessions ------------------------===//
//
// See include/sol/runtime.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/api/handles.h"

#include "absl/strings/str_cat.h"

using namespace sol;

sol_status *sol_session_open(const sol_plan *plan, const char *function,
                             const sol_session_options *options,
                             sol_session **session) {
  ExecutorOptions executor;
  if (options) {
    executor.threads = options->threads;
    executor.memoryLimitBytes = options->memory_limit_bytes;
    executor.profile = options->profile != 0;
  }
  absl::StatusOr<const Program *> program =
      plan->plan->function(function ? function : "");
  if (!program.ok())
    return toStatus(program.status());
  absl::StatusOr<std::unique_ptr<Session>> made =
      Session::create(plan->plan, **program, executor);
  if (!made.ok())
    return toStatus(made.status());
  *session = new sol_session{plan, *std::move(made), {}, {}};
  return nullptr;
}

void sol_session_close(sol_session *session) { delete session; }

/// Checks what a caller says of a tensor before it is believed.
static absl::StatusOr<NamedTensor> fromC(const sol_tensor &tensor) {
  NamedTensor result;
  result.name = tensor.name ? tensor.name : "";
  if (!isKnownDType(tensor.type) || tensor.rank < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("input `", result.name, "` has element type ", tensor.type,
                     " and rank ", tensor.rank));
  result.tensor.type = static_cast<DType>(tensor.type);
  result.tensor.dims.assign(tensor.sizes, tensor.sizes + tensor.rank);
  int64_t bytes = result.tensor.bytes();
  if (result.tensor.size() < 0 || bytes < 0 ||
      static_cast<size_t>(bytes) != tensor.bytes)
    return absl::InvalidArgumentError(absl::StrCat(
        "input `", result.name, "` of sizes ", dimsToString(result.tensor.dims),
        " takes ", bytes, " bytes, got ", tensor.bytes));
  // Inputs are never written: the interpreter's tensors serve both directions.
  result.tensor.data = const_cast<void *>(tensor.data);
  return result;
}

static sol_tensor toC(const char *name, const Tensor &tensor) {
  sol_tensor result;
  result.name = name;
  result.type = static_cast<int32_t>(tensor.type);
  result.rank = tensor.rank();
  result.sizes = tensor.dims.data();
  result.data = tensor.data;
  result.bytes = static_cast<size_t>(tensor.bytes());
  return result;
}

sol_status *sol_session_run(sol_session *session, const sol_tensor *inputs,
                            size_t inputCount, const sol_tensor **outputs,
                            size_t *count) {
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < inputCount; ++i) {
    absl::StatusOr<NamedTensor> input = fromC(inputs[i]);
    if (!input.ok())
      return toStatus(input.status());
    named.push_back(*std::move(input));
  }
  absl::StatusOr<absl::Span<const Tensor>> results =
      session->session->run(named);
  if (!results.ok())
    return toStatus(results.status());
  const Program &program = session->session->executor().program();
  session->outputs.clear();
  for (size_t i = 0; i < results->size(); ++i)
    session->outputs.push_back(
        toC(program.outputs[i].name.c_str(), (*results)[i]));
  *outputs = session->outputs.data();
  *count = session->outputs.size();
  return nullptr;
}

sol_status *sol_session_feed(sol_session *session, const int64_t *tokens,
                             size_t count, sol_tensor *logits) {
  absl::StatusOr<Logits> result =
      session->session->feed(absl::MakeConstSpan(tokens, count));
  if (!result.ok())
    return toStatus(result.status());
  session->logitsSizes = {result->positions, result->vocabulary};
  *logits = sol_tensor{
      "logits",
      static_cast<int32_t>(DType::F32),
      2,
      session->logitsSizes.data(),
      result->data,
      static_cast<size_t>(result->positions * result->vocabulary * 4)};
  return nullptr;
}

sol_status *sol_session_encode(sol_session *session, const int64_t *tokens,
                               size_t count) {
  return toStatus(session->session->encode(absl::MakeConstSpan(tokens, count)));
}

int64_t sol_session_length(const sol_session *session) {
  return session->session->tokens().size();
}
sol_status *sol_session_truncate(sol_session *session, int64_t length) {
  return toStatus(session->session->truncate(length));
}
int64_t sol_session_allocations(const sol_session *session) {
  return session->session->executor().allocations();
}

void sol_session_profile(const sol_session *session,
                         void (*visit)(const sol_profile_entry *, void *),
                         void *user) {
  session->session->visitExecutors([&](const Executor &executor) {
    for (const ProfileEntry &entry : executor.profile()) {
      sol_profile_entry item = {entry.location.c_str(), entry.kernel.c_str(),
                                entry.calls, entry.seconds};
      visit(&item, user);
    }
  });
}
