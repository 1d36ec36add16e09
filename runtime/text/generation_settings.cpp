//===- generation_settings.cpp - what the files beside a model say --------===//
// Files are read from the most to the least specific; the first that answers a
// question wins.
#include "runtime/text/generation_settings.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/json_fields.h"
#include "runtime/text/tokenizer.h"
#include "runtime/text/tokenizer/vocabulary.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>
#include <functional>

namespace sol::text {
namespace {

using nlohmann::json;
constexpr size_t maxEndIds = 1024;

// A setting, and the value at which it does nothing. Null never does anything.
struct NeutralSetting {
  const char *name;
  enum { Zero, One, False, Empty, None } neutral;
};

constexpr NeutralSetting tokenChanging[] = {
    {"no_repeat_ngram_size", NeutralSetting::Zero},
    {"encoder_no_repeat_ngram_size", NeutralSetting::Zero},
    {"encoder_repetition_penalty", NeutralSetting::One},
    {"num_beams", NeutralSetting::One},
    {"num_beam_groups", NeutralSetting::One},
    {"num_return_sequences", NeutralSetting::One},
    {"diversity_penalty", NeutralSetting::Zero},
    {"penalty_alpha", NeutralSetting::Zero},
    {"typical_p", NeutralSetting::One},
    {"min_p", NeutralSetting::Zero},
    {"top_h", NeutralSetting::None},
    {"epsilon_cutoff", NeutralSetting::Zero},
    {"eta_cutoff", NeutralSetting::Zero},
    {"guidance_scale", NeutralSetting::One},
    {"min_length", NeutralSetting::Zero},
    {"min_new_tokens", NeutralSetting::Zero},
    {"bad_words_ids", NeutralSetting::Empty},
    {"force_words_ids", NeutralSetting::Empty},
    {"sequence_bias", NeutralSetting::Empty},
    {"suppress_tokens", NeutralSetting::Empty},
    {"begin_suppress_tokens", NeutralSetting::Empty},
    {"forced_bos_token_id", NeutralSetting::None},
    {"forced_eos_token_id", NeutralSetting::None},
    {"forced_decoder_ids", NeutralSetting::Empty},
    {"exponential_decay_length_penalty", NeutralSetting::Empty},
    {"constraints", NeutralSetting::Empty},
    {"watermarking_config", NeutralSetting::Empty},
    {"dola_layers", NeutralSetting::None},
    {"remove_invalid_values", NeutralSetting::False},
    {"renormalize_logits", NeutralSetting::False},
    {"token_healing", NeutralSetting::False},
    {"stop_strings", NeutralSetting::Empty},
};

bool isNeutral(const json &value, const NeutralSetting &setting) {
  if (value.is_null())
    return true;
  switch (setting.neutral) {
  case NeutralSetting::Zero:
    return value.is_number() && value == 0;
  case NeutralSetting::One:
    return value.is_number() && value == 1;
  case NeutralSetting::False:
    return value.is_boolean() && value == false;
  case NeutralSetting::Empty:
    return (value.is_array() || value.is_object()) && value.empty();
  case NeutralSetting::None:
    return false;
  }
  return false;
}

// Short, and never the text of a hostile file's depth: only numbers, flags and
// short strings are shown.
std::string shown(const json &value) {
  if (value.is_number() || value.is_boolean())
    return value.dump();
  if (value.is_string() && value.get_ref<const std::string &>().size() <= 40)
    return "\"" + replaceInvalidUtf8(value.get_ref<const std::string &>()) +
           "\"";
  return value.is_array() ? "[…]" : value.is_object() ? "{…}" : "…";
}

// Readers return at the first error; it names the file.
class Reader {
public:
  GenerationSettings settings;
  absl::Status status;

  void tokenIds(const Field &field, std::vector<int32_t> &ids);
  void generation(const Field &root, std::string_view file);
  void tokenizerConfig(const Field &root);
  void tokens(const Field &root);
  void modelConfig(const Field &root);
  void genai(const Field &root);
  void templatesFrom(const Field &field);
  void sampling(const Field &root);
  void lookUp(const Tokenizer &tokenizer);

private:
  void fail(const absl::Status &error) {
    if (status.ok())
      status = error;
  }
  template <typename T, typename Made>
  void fill(std::optional<T> &target, const Field &field, const Made &made) {
    if (field.isNull() || target)
      return;
    if (!made.ok())
      fail(made.status());
    else
      target = static_cast<T>(*made);
  }
  void positions(const Field &field) {
    fill(settings.maxPositions, field, field.integer(1, int64_t{1} << 40));
  }
  void oneId(const Field &field, std::optional<int32_t> &target) {
    std::vector<int32_t> ids;
    tokenIds(field, ids);
    if (!ids.empty() && !target)
      target = ids.front();
  }
  void endIds(const Field &field) {
    std::vector<int32_t> ids;
    tokenIds(field, ids);
    for (int32_t id : ids)
      if (std::find(settings.eosIds.begin(), settings.eosIds.end(), id) ==
          settings.eosIds.end())
        settings.eosIds.push_back(id);
  }
};

// An id, a list of ids, or null; -1 is what some exporters write for "none".
void Reader::tokenIds(const Field &field, std::vector<int32_t> &ids) {
  if (field.isNull())
    return;
  size_t count = field.isArray() ? field.size() : 1;
  if (count > maxEndIds)
    return fail(field.error(absl::StrCat("lists ", count, " ids, at most ",
                                         maxEndIds, " are supported")));
  for (size_t i = 0; i < count; ++i) {
    absl::StatusOr<int64_t> id =
        (field.isArray() ? field.element(i) : field).integer(-1, maxTokenId);
    if (!id.ok())
      return fail(id.status());
    if (*id >= 0)
      ids.push_back(static_cast<int32_t>(*id));
  }
}

void Reader::sampling(const Field &root) {
  fill(settings.doSample, root.member("do_sample"),
       root.member("do_sample").boolean());
  fill(settings.temperature, root.member("temperature"),
       root.member("temperature").number());
  fill(settings.topP, root.member("top_p"), root.member("top_p").number());
  fill(settings.topK, root.member("top_k"),
       root.member("top_k").integer(0, int64_t{1} << 31));
}

void Reader::generation(const Field &root, std::string_view file) {
  oneId(root.member("bos_token_id"), settings.bosId);
  oneId(root.member("pad_token_id"), settings.padId);
  oneId(root.member("decoder_start_token_id"), settings.decoderStartId);
  endIds(root.member("eos_token_id"));
  sampling(root);
  if (Field penalty = root.member("repetition_penalty"); !penalty.isNull()) {
    absl::StatusOr<double> value = penalty.number();
    if (!value.ok())
      return fail(value.status());
    if (!(*value > 0 && *value < 1e6))
      return fail(penalty.error(
          absl::StrCat("is ", *value, ", expected a number greater than 0")));
    if (settings.repetitionPenalty == 1)
      settings.repetitionPenalty = *value;
  }
  for (const NeutralSetting &setting : tokenChanging) {
    Field field = root.member(setting.name);
    if (!isNeutral(field.json(), setting))
      settings.withoutEffect.push_back(absl::StrCat(
          std::string(file), ": ", setting.name, " = ", shown(field.json())));
  }
}

// A token's written form is a string or an object with its content.
void Reader::tokens(const Field &root) {
  const std::pair<const char *, std::string *> names[] = {
      {"bos_token", &settings.bosToken},
      {"eos_token", &settings.eosToken},
      {"pad_token", &settings.padToken},
      {"unk_token", &settings.unkToken}};
  for (auto [name, target] : names) {
    Field field = root.member(name);
    if (field.isObject())
      field = field.member("content");
    if (field.isNull() || !target->empty())
      continue;
    absl::StatusOr<std::string_view> text = field.string();
    if (!text.ok())
      return fail(text.status());
    *target = *text;
  }
}

// One template, or a list of named ones.
void Reader::templatesFrom(const Field &field) {
  if (field.isNull() || !settings.chatTemplates.empty())
    return;
  if (!field.isArray()) {
    absl::StatusOr<std::string_view> source = field.string();
    if (!source.ok())
      return fail(source.status());
    settings.chatTemplates.push_back({"default", std::string(*source)});
    return;
  }
  for (size_t i = 0; i < field.size(); ++i) {
    absl::StatusOr<std::string_view> name =
        field.element(i).member("name").string();
    absl::StatusOr<std::string_view> source =
        field.element(i).member("template").string();
    if (!name.ok() || !source.ok())
      return fail(name.ok() ? source.status() : name.status());
    settings.chatTemplates.push_back(
        {std::string(*name), std::string(*source)});
  }
}

void Reader::tokenizerConfig(const Field &root) {
  tokens(root);
  templatesFrom(root.member("chat_template"));
  fill(settings.addBosToken, root.member("add_bos_token"),
       root.member("add_bos_token").boolean());
  fill(settings.addEosToken, root.member("add_eos_token"),
       root.member("add_eos_token").boolean());
}

void Reader::modelConfig(const Field &root) {
  Field text = root.member("text_config");
  for (const Field &part : {root, text}) {
    oneId(part.member("bos_token_id"), settings.bosId);
    oneId(part.member("pad_token_id"), settings.padId);
    oneId(part.member("decoder_start_token_id"), settings.decoderStartId);
    if (settings.eosIds.empty())
      endIds(part.member("eos_token_id"));
    positions(part.member("max_position_embeddings"));
    positions(part.member("n_positions"));
  }
}

void Reader::genai(const Field &root) {
  Field model = root.member("model");
  oneId(model.member("bos_token_id"), settings.bosId);
  oneId(model.member("pad_token_id"), settings.padId);
  endIds(model.member("eos_token_id"));
  positions(model.member("context_length"));
  generation(root.member("search"), "genai_config.json");
}

void Reader::lookUp(const Tokenizer &tokenizer) {
  if (!settings.bosId && !settings.bosToken.empty())
    settings.bosId = tokenizer.tokenToId(settings.bosToken);
  if (!settings.padId && !settings.padToken.empty())
    settings.padId = tokenizer.tokenToId(settings.padToken);
  // The written end token ends a turn even where generation_config.json lists
  // other ids only.
  if (!settings.eosToken.empty())
    if (std::optional<int32_t> id = tokenizer.tokenToId(settings.eosToken);
        id && std::find(settings.eosIds.begin(), settings.eosIds.end(), *id) ==
                  settings.eosIds.end())
      settings.eosIds.push_back(*id);
}

} // namespace

const std::string *
GenerationSettings::chatTemplate(std::string_view name) const {
  for (const NamedTemplate &entry : chatTemplates)
    if (entry.name == name)
      return &entry.source;
  return nullptr;
}

absl::StatusOr<GenerationSettings>
readGenerationSettings(const SettingsFiles &files, const Tokenizer *tokenizer) {
  Reader reader;
  if (!files.chatTemplateJinja.empty()) {
    if (absl::Status status =
            checkUtf8(files.chatTemplateJinja, "chat_template.jinja");
        !status.ok())
      return status;
    reader.settings.chatTemplates.push_back(
        {"default", std::string(files.chatTemplateJinja)});
  }
  struct Source {
    const char *name;
    std::string_view text;
    std::function<void(const Field &)> read;
  };
  const Source sources[] = {
      {"chat_template.json", files.chatTemplateJson,
       [&](const Field &root) {
         reader.templatesFrom(root.member("chat_template"));
       }},
      {"tokenizer_config.json", files.tokenizerConfig,
       [&](const Field &root) { reader.tokenizerConfig(root); }},
      {"special_tokens_map.json", files.specialTokensMap,
       [&](const Field &root) { reader.tokens(root); }},
      {"generation_config.json", files.generationConfig,
       [&](const Field &root) {
         reader.generation(root, "generation_config.json");
       }},
      {"genai_config.json", files.genaiConfig,
       [&](const Field &root) { reader.genai(root); }},
      {"config.json", files.modelConfig,
       [&](const Field &root) { reader.modelConfig(root); }},
  };
  for (const Source &source : sources) {
    if (source.text.empty())
      continue;
    absl::StatusOr<json> parsed = parseJson(source.text, source.name);
    if (!parsed.ok())
      return parsed.status();
    if (!parsed->is_object())
      return absl::InvalidArgumentError(
          absl::StrCat(source.name, " isn't a JSON object"));
    source.read(Field(*parsed, ""));
    if (!reader.status.ok())
      return absl::Status(
          reader.status.code(),
          absl::StrCat(source.name, ": ", reader.status.message()));
  }
  if (tokenizer)
    reader.lookUp(*tokenizer);
  return std::move(reader.settings);
}

} // namespace sol::text
