//===- generator.cpp - a session writes text ------------------------------===//
//
// See generator.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/generator.h"

#include "runtime/text/stop.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>

namespace sol {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Feeds the prompt in chunks; gives the logits of its last position, or those
/// of an earlier one and true in `isCancelled`.
absl::StatusOr<Logits> feedPrompt(Session &session,
                                  const std::vector<int32_t> &prompt,
                                  const GenerationOptions &options,
                                  bool &isCancelled) {
  // What the session holds of this prompt already stays; one token at least is
  // fed, because its logits are wanted.
  absl::Span<const int64_t> held = session.tokens();
  size_t common = 0;
  while (common < held.size() && common + 1 < prompt.size() &&
         held[common] == prompt[common])
    ++common;
  if (absl::Status status = session.truncate(common); !status.ok())
    return status;
  std::vector<int64_t> rest(prompt.begin() + common, prompt.end());
  absl::StatusOr<Logits> logits = Logits();
  size_t chunk = options.chunk > 0 ? options.chunk : defaultChunk;
  for (size_t begin = 0; begin < rest.size(); begin += chunk) {
    isCancelled = begin > 0 && options.onPromptProgress &&
                  options.onPromptProgress(begin, rest.size());
    if (isCancelled)
      return logits;
    size_t count = std::min<size_t>(chunk, rest.size() - begin);
    logits = session.feed(absl::MakeConstSpan(rest).subspan(begin, count));
    if (!logits.ok())
      return logits;
  }
  return logits;
}

class Generation {
public:
  Generation(Session &session, const TextModel &model, text::Sampler sampler,
             text::StopMatcher stops, TextSink sink)
      : session(session), model(model), sampler(std::move(sampler)),
        stops(std::move(stops)),
        decoder(model.tokenizer(), /*skipSpecialTokens=*/true), sink(sink) {}

  absl::StatusOr<GenerationResult> run(const std::vector<int32_t> &prompt,
                                       const GenerationOptions &options) {
    int64_t maxTokens = options.maxTokens;
    Clock::time_point start = Clock::now();
    result.promptTokens = prompt.size();
    int64_t context = session.executor().program().context;
    absl::StatusOr<Logits> logits = session.isFedByEncoder()
                                        ? startDecoder(prompt)
                                        : startText(prompt, context, options);
    while (logits.ok() && !isCancelled) {
      absl::StatusOr<int32_t> token = sampler.sample(absl::MakeConstSpan(
          logits->data + (logits->positions - 1) * logits->vocabulary,
          logits->vocabulary));
      if (!token.ok())
        return token.status();
      if (result.generatedTokens++ == 0)
        result.secondsToFirstToken = secondsSince(start);
      if (ended(*token, maxTokens, context))
        break;
      int64_t next = *token;
      logits = session.feed(absl::MakeConstSpan(&next, 1));
    }
    if (!logits.ok())
      return logits.status();
    if (!stops.stopped())
      give(stops.push(decoder.finish()) + stops.finish());
    result.seconds = secondsSince(start);
    if (maxTokens > 0 && std::string_view(result.reason) == "context")
      return absl::OutOfRangeError(absl::StrCat(
          "the answer ends after ", result.generatedTokens, " of ", maxTokens,
          " tokens: with the prompt they fill the plan's context of ", context,
          "; ask for fewer or compile with a larger --context"));
    return result;
  }

private:
  /// The prompt is the beginning of the text.
  absl::StatusOr<Logits> startText(const std::vector<int32_t> &prompt,
                                   int64_t context,
                                   const GenerationOptions &options) {
    if (context > 0 && result.promptTokens >= context)
      return absl::OutOfRangeError(absl::StrCat(
          "the prompt has ", prompt.size(), " tokens, the plan's context is ",
          context, "; shorten it or compile with a larger --context"));
    sampler.observe(prompt);
    absl::StatusOr<Logits> logits =
        feedPrompt(session, prompt, options, isCancelled);
    if (isCancelled)
      result.reason = "cancelled";
    return logits;
  }

  /// The prompt is the encoder's; the text begins with a token of its own.
  absl::StatusOr<Logits> startDecoder(const std::vector<int32_t> &prompt) {
    absl::StatusOr<int32_t> first = model.decoderStart();
    if (!first.ok())
      return first.status();
    std::vector<int64_t> tokens(prompt.begin(), prompt.end());
    if (absl::Status status = session.encode(tokens); !status.ok())
      return status;
    sampler.observe(std::vector<int32_t>{*first});
    int64_t start = *first;
    return session.feed(absl::MakeConstSpan(&start, 1));
  }

  /// Takes the token in; true if it was the last one.
  bool ended(int32_t token, int64_t maxTokens, int64_t context) {
    if (model.isEnd(token)) {
      --result.generatedTokens; // the end itself is no text
      result.reason = "end";
      return true;
    }
    bool cancelled = give(stops.push(decoder.push(token)));
    if (cancelled)
      result.reason = "cancelled";
    else if (stops.stopped())
      result.reason = "stop";
    else if (maxTokens > 0 && result.generatedTokens >= maxTokens)
      result.reason = "length";
    else if (context > 0 &&
             static_cast<int64_t>(session.tokens().size()) >= context)
      result.reason = "context";
    else
      return false;
    return true;
  }

  bool give(const std::string &piece) { return !piece.empty() && sink(piece); }

  Session &session;
  const TextModel &model;
  text::Sampler sampler;
  text::StopMatcher stops;
  text::StreamDecoder decoder;
  TextSink sink;
  GenerationResult result;
  bool isCancelled = false; ///< while the prompt was computed
};

} // namespace

absl::StatusOr<GenerationResult> generateText(Session &session,
                                              const TextModel &model,
                                              const GenerationOptions &options,
                                              TextSink sink) {
  text::SamplingOptions sampling = options.sampling;
  sampling.repetitionPenalty =
      static_cast<float>(model.settings().repetitionPenalty);
  absl::StatusOr<text::Sampler> sampler = text::Sampler::create(sampling);
  if (!sampler.ok())
    return sampler.status();
  absl::StatusOr<text::StopMatcher> stops =
      text::StopMatcher::create(options.stop);
  if (!stops.ok())
    return stops.status();
  absl::StatusOr<std::vector<int32_t>> prompt =
      options.raw ? model.encodeRaw(options.prompt)
                  : model.encodeChat(options.prompt);
  if (!prompt.ok())
    return prompt.status();
  if (prompt->empty())
    return absl::InvalidArgumentError("the prompt has no tokens");
  return Generation(session, model, *std::move(sampler), *std::move(stops),
                    sink)
      .run(*prompt, options);
}

} // namespace sol
