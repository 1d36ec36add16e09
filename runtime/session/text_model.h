//===- text_model.h - what a plan knows about text ------------------------===//
//
// Tokenizer, chat template and generation settings, made from the files that a
// plan carries.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_TEXT_MODEL_H
#define SOL_RUNTIME_SESSION_TEXT_MODEL_H

#include "runtime/plan/plan_reader.h"
#include "runtime/text/generation_settings.h"
#include "runtime/text/tokenizer.h"

#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sol {

class TextModel {
public:
  /// FailedPrecondition if the plan carries no tokenizer; otherwise the error
  /// of the file that can't be read.
  static absl::StatusOr<std::unique_ptr<TextModel>> create(const Plan &plan);

  const text::Tokenizer &tokenizer() const { return *model; }
  const text::GenerationSettings &settings() const { return generation; }

  /// Tokens of a prompt as it is, with the special tokens that the tokenizer
  /// adds.
  absl::StatusOr<std::vector<int32_t>> encodeRaw(std::string_view prompt) const;
  /// Tokens of a chat: a JSON array of messages through the chat template.
  absl::StatusOr<std::vector<int32_t>>
  encodeChat(std::string_view messages) const;

  /// Where a decoder with an encoder begins: the model's decoder start token,
  /// else its first token of a text; FailedPrecondition if no file names
  /// either.
  absl::StatusOr<int32_t> decoderStart() const;

  bool isEnd(int32_t token) const;

private:
  std::unique_ptr<text::Tokenizer> model;
  text::GenerationSettings generation;
};

} // namespace sol

#endif // SOL_RUNTIME_SESSION_TEXT_MODEL_H
