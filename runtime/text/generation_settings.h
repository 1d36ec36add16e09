//===- generation_settings.h - what the files beside a model say ----------===//
// Gathers from the JSON files of a model folder what a runtime needs to end,
// begin and prompt a generation, and names the settings that would change
// tokens but have no effect here.
#pragma once

#include "absl/status/statusor.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sol::text {

class Tokenizer;

/// Contents of the files beside a model; empty where there is none.
struct SettingsFiles {
  std::string_view generationConfig = {};  // generation_config.json
  std::string_view tokenizerConfig = {};   // tokenizer_config.json
  std::string_view specialTokensMap = {};  // special_tokens_map.json
  std::string_view modelConfig = {};       // config.json
  std::string_view genaiConfig = {};       // genai_config.json
  std::string_view chatTemplateJinja = {}; // chat_template.jinja
  std::string_view chatTemplateJson = {};  // chat_template.json
};

/// One chat template of several; a single one is called "default".
struct NamedTemplate {
  std::string name;
  std::string source;
};

/// The files' answers. Fields that no file has stay empty.
struct GenerationSettings {
  /// Ids that begin and end a text. Ends come from every file that names any,
  /// without repetition.
  std::optional<int32_t> bosId;
  std::vector<int32_t> eosIds;
  std::optional<int32_t> padId;
  /// The first token of what a decoder with an encoder writes.
  std::optional<int32_t> decoderStartId;
  /// Their written forms, as chat templates use them.
  std::string bosToken, eosToken, padToken, unkToken;
  /// chat_template.jinja before chat_template.json before
  /// tokenizer_config.json.
  std::vector<NamedTemplate> chatTemplates;
  /// Most positions that the model was trained for (or that its tables hold).
  std::optional<int64_t> maxPositions;
  /// Whether the tokenizer was told to add (or not to add) these; empty where
  /// unsaid.
  std::optional<bool> addBosToken, addEosToken;
  /// Sampling defaults of the model's authors, for a caller who wants them. Not
  /// applied by themselves.
  std::optional<bool> doSample;
  std::optional<double> temperature, topP;
  std::optional<int64_t> topK;
  /// Applied by the sampler: divides the scores of tokens that occurred.
  double repetitionPenalty = 1;
  /// Settings that change tokens and have no effect here, as "file: name =
  /// value", for a warning.
  std::vector<std::string> withoutEffect;

  /// The chat template called `name`, or null.
  const std::string *chatTemplate(std::string_view name = "default") const;
};

/// Reads the files. InvalidArgument names file and field where one is
/// malformed. Ids of bos, eos and pad that no file gives as numbers are looked
/// up in `tokenizer` by their written form, if it isn't null.
absl::StatusOr<GenerationSettings>
readGenerationSettings(const SettingsFiles &files, const Tokenizer *tokenizer);

} // namespace sol::text
