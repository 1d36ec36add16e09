//===- generator.h - a session writes text --------------------------------===//
//
// The loop of prefill and decode: prompt to tokens, tokens to logits in chunks,
// logits to tokens, tokens to text.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_GENERATOR_H
#define SOL_RUNTIME_SESSION_GENERATOR_H

#include "runtime/session/session.h"
#include "runtime/session/text_model.h"
#include "runtime/text/sampler.h"

#include "absl/functional/function_ref.h"

#include <functional>

namespace sol {

struct GenerationOptions {
  std::string prompt; ///< messages as JSON, or with `raw` the text itself
  bool raw = false;
  int64_t maxTokens = 0; ///< 0: until the model ends or the context is full
  text::SamplingOptions sampling;
  std::vector<std::string> stop;
  int64_t chunk = 0; ///< tokens of the prompt at once; 0: defaultChunk
  /// Told between chunks how many of the prompt's tokens are computed, and of
  /// how many; true ends the generation. May be empty.
  std::function<bool(int64_t done, int64_t total)> onPromptProgress;
};

/// Long prompts go through in pieces, so that their intermediate values stay
/// small; results do not depend on it.
constexpr int64_t defaultChunk = 256;

struct GenerationResult {
  int64_t promptTokens = 0, generatedTokens = 0;
  double secondsToFirstToken = 0, seconds = 0;
  const char *reason = ""; ///< see sol_generation_result
};

/// Receives text as it comes; true ends the generation.
using TextSink = absl::FunctionRef<bool(std::string_view)>;

/// Answers a prompt. Tokens that the session already holds at its beginning are
/// kept; where an encoder feeds the session, it gets the prompt. OutOfRange if
/// the prompt does not fit the context.
absl::StatusOr<GenerationResult> generateText(Session &session,
                                              const TextModel &model,
                                              const GenerationOptions &options,
                                              TextSink sink);

} // namespace sol

#endif // SOL_RUNTIME_SESSION_GENERATOR_H
