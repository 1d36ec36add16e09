//===- text_api.cpp - the C interface: text -------------------------------===//
//
// See include/sol/runtime.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/api/handles.h"

#include "absl/strings/str_cat.h"

#include <cstdlib>
#include <cstring>

using namespace sol;

absl::StatusOr<const TextModel *> sol_plan::text() const {
  std::lock_guard<std::mutex> lock(mutex);
  if (!model) {
    absl::StatusOr<std::unique_ptr<TextModel>> made = TextModel::create(*plan);
    if (!made.ok())
      return made.status();
    model = *std::move(made);
    for (const std::string &setting : model->settings().withoutEffect)
      absl::StrAppend(&unapplied, unapplied.empty() ? "" : "\n", setting);
  }
  return model.get();
}

sol_status *sol_plan_encode(const sol_plan *plan, const char *text,
                            size_t bytes, int addSpecialTokens,
                            int64_t **tokens, size_t *count) {
  absl::StatusOr<const TextModel *> model = plan->text();
  if (!model.ok())
    return toStatus(model.status());
  absl::StatusOr<std::vector<int32_t>> ids =
      (*model)->tokenizer().encode({text, bytes}, addSpecialTokens != 0);
  if (!ids.ok())
    return toStatus(ids.status());
  *tokens = static_cast<int64_t *>(
      std::malloc(std::max<size_t>(1, ids->size()) * sizeof(int64_t)));
  if (!*tokens)
    return toStatus(absl::ResourceExhaustedError("no memory for the tokens"));
  std::copy(ids->begin(), ids->end(), *tokens);
  *count = ids->size();
  return nullptr;
}

void sol_tokens_free(int64_t *tokens) { std::free(tokens); }

sol_status *sol_plan_decode(const sol_plan *plan, const int64_t *tokens,
                            size_t count, int skipSpecialTokens, char **text) {
  absl::StatusOr<const TextModel *> model = plan->text();
  if (!model.ok())
    return toStatus(model.status());
  std::vector<int32_t> ids;
  for (size_t i = 0; i < count; ++i) {
    if (tokens[i] < 0 || tokens[i] > INT32_MAX)
      return toStatus(
          absl::OutOfRangeError(absl::StrCat(tokens[i], " is no token id")));
    ids.push_back(static_cast<int32_t>(tokens[i]));
  }
  std::string decoded =
      (*model)->tokenizer().decode(ids, skipSpecialTokens != 0);
  *text = static_cast<char *>(std::malloc(decoded.size() + 1));
  if (!*text)
    return toStatus(absl::ResourceExhaustedError("no memory for the text"));
  std::memcpy(*text, decoded.c_str(), decoded.size() + 1);
  return nullptr;
}

void sol_text_free(char *text) { std::free(text); }

sol_status *sol_session_generate(sol_session *session,
                                 const sol_generation_options *options,
                                 sol_text_callback onText, void *user,
                                 sol_generation_result *result) {
  absl::StatusOr<const TextModel *> model = session->plan->text();
  if (!model.ok())
    return toStatus(model.status());
  GenerationOptions generation;
  generation.prompt = options->prompt ? options->prompt : "";
  generation.raw = options->raw != 0;
  generation.maxTokens = options->max_tokens;
  generation.sampling.temperature = options->temperature;
  generation.sampling.topK = options->top_k;
  generation.sampling.topP = options->top_p;
  generation.sampling.seed = options->seed;
  generation.chunk = options->chunk;
  if (options->on_prompt_progress)
    generation.onPromptProgress = [&](int64_t done, int64_t total) {
      return options->on_prompt_progress(done, total, options->progress_user) !=
             0;
    };
  generation.stop.assign(options->stop, options->stop + options->stop_count);
  absl::StatusOr<GenerationResult> generated = generateText(
      *session->session, **model, generation, [&](std::string_view piece) {
        return onText(piece.data(), piece.size(), user) != 0;
      });
  if (!generated.ok())
    return toStatus(generated.status());
  *result = sol_generation_result{
      generated->promptTokens, generated->generatedTokens,
      generated->secondsToFirstToken, generated->seconds, generated->reason};
  return nullptr;
}

const char *sol_plan_unapplied_settings(const sol_plan *plan) {
  // A plan without a tokenizer has no settings that could be left out.
  (void)plan->text().ok();
  return plan->unapplied.c_str();
}
