//===- text_model.cpp - what a plan knows about text ----------------------===//
//
// See text_model.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/text_model.h"

#include "runtime/text/chat_template.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sol {

absl::StatusOr<std::unique_ptr<TextModel>> TextModel::create(const Plan &plan) {
  auto result = std::make_unique<TextModel>();
  text::SettingsFiles files;
  std::string_view json;
  const std::pair<const char *, std::string_view *> wanted[] = {
      {"tokenizer.json", &json},
      {"generation_config.json", &files.generationConfig},
      {"tokenizer_config.json", &files.tokenizerConfig},
      {"special_tokens_map.json", &files.specialTokensMap},
      {"config.json", &files.modelConfig},
      {"genai_config.json", &files.genaiConfig},
      {"chat_template.jinja", &files.chatTemplateJinja},
      {"chat_template.json", &files.chatTemplateJson}};
  for (const auto &[name, content] : wanted) {
    absl::StatusOr<std::string_view> bytes = plan.resource(name);
    if (!bytes.ok())
      return bytes.status();
    *content = *bytes;
  }
  if (json.empty())
    return absl::FailedPreconditionError(absl::StrCat(
        plan.path(), ": carries no tokenizer; put tokenizer.json beside the "
                     "model and compile it again"));
  absl::StatusOr<std::unique_ptr<text::Tokenizer>> tokenizer =
      text::Tokenizer::fromJson(json);
  if (!tokenizer.ok())
    return tokenizer.status();
  result->model = *std::move(tokenizer);
  absl::StatusOr<text::GenerationSettings> settings =
      text::readGenerationSettings(files, result->model.get());
  if (!settings.ok())
    return settings.status();
  result->generation = *std::move(settings);
  return result;
}

absl::StatusOr<std::vector<int32_t>>
TextModel::encodeRaw(std::string_view prompt) const {
  return model->encode(prompt, /*addSpecialTokens=*/true);
}

absl::StatusOr<std::vector<int32_t>>
TextModel::encodeChat(std::string_view messages) const {
  const std::string *source = generation.chatTemplate();
  if (!source)
    return absl::FailedPreconditionError(
        "the model has no chat template; give the prompt as it is (--raw)");
  auto parsed = nlohmann::json::parse(messages, nullptr, false);
  if (!parsed.is_array())
    return absl::InvalidArgumentError(
        "messages are no JSON array of {\"role\", \"content\"}");
  absl::StatusOr<text::ChatTemplate> chat = text::ChatTemplate::parse(*source);
  if (!chat.ok())
    return chat.status();
  nlohmann::json variables = {{"messages", parsed},
                              {"add_generation_prompt", true},
                              {"bos_token", generation.bosToken},
                              {"eos_token", generation.eosToken},
                              {"pad_token", generation.padToken},
                              {"unk_token", generation.unkToken},
                              {"tools", nullptr},
                              {"documents", nullptr}};
  absl::StatusOr<std::string> rendered = chat->render(variables);
  if (!rendered.ok())
    return rendered.status();
  // The template writes the special tokens itself.
  return model->encode(*rendered, /*addSpecialTokens=*/false);
}

absl::StatusOr<int32_t> TextModel::decoderStart() const {
  if (generation.decoderStartId)
    return *generation.decoderStartId;
  if (generation.bosId)
    return *generation.bosId;
  return absl::FailedPreconditionError(
      "no file of the model names the token that its decoder starts with; put "
      "decoder_start_token_id into generation_config.json beside the model and "
      "compile it again");
}

bool TextModel::isEnd(int32_t token) const {
  return std::find(generation.eosIds.begin(), generation.eosIds.end(), token) !=
         generation.eosIds.end();
}

} // namespace sol
