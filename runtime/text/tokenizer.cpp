//===- tokenizer.cpp - text to token ids and back -------------------------===//
// Puts the parts in order: added tokens, normalizer, pre-tokenizer, model,
// post-processor; and the decoder backwards.
#include "runtime/text/tokenizer.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/tokenizer/added_tokens.h"
#include "runtime/text/tokenizer/decoder.h"
#include "runtime/text/tokenizer/post_processor.h"
#include "runtime/text/tokenizer/pre_tokenizer.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>

namespace sol::text {

struct TokenizerParts {
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> preTokenizer;
  std::unique_ptr<Model> model;
  AddedTokens added;
  PostProcessor postProcessor;
  Decoder decoder;

  const std::string *idToToken(int32_t id) const {
    const std::string *token = added.idToToken(id);
    return token ? token : model->idToToken(id);
  }
};

namespace {

// Words repeat, above all in long prompts; longer ones hardly ever do.
constexpr size_t maxCachedWordBytes = 64;
constexpr size_t maxCachedWords = 65536;

using WordCache = absl::flat_hash_map<std::string, std::vector<int32_t>>;

void encodeWord(const Model &model, const std::string &word, WordCache &cache,
                std::vector<int32_t> &ids) {
  if (word.size() > maxCachedWordBytes || cache.size() >= maxCachedWords) {
    model.encodeWord(word, ids);
    return;
  }
  auto [entry, isNew] = cache.try_emplace(word);
  if (isNew)
    model.encodeWord(word, entry->second);
  ids.insert(ids.end(), entry->second.begin(), entry->second.end());
}

template <typename Made, typename Target>
absl::Status take(Made made, Target &target) {
  if (!made.ok())
    return made.status();
  target = *std::move(made);
  return absl::OkStatus();
}

} // namespace

// The one place that knows which kinds of models there are.
absl::StatusOr<std::unique_ptr<Model>> readModel(const Field &field) {
  if (absl::Status status = field.expectObject(); !status.ok())
    return status;
  Field typeField = field.member("type");
  if (typeField.isNull() &&
      !field.member("merges").isNull()) // files older than the `type` field
    return readBpe(field);
  absl::StatusOr<std::string_view> type = typeField.string();
  if (!type.ok())
    return type.status();
  if (*type == "BPE")
    return readBpe(field);
  return absl::UnimplementedError(
      absl::StrCat("field `", typeField.path(), "`: tokenizer model `",
                   std::string(*type), "` isn't supported (BPE is)"));
}

Tokenizer::Tokenizer(std::unique_ptr<TokenizerParts> parts)
    : parts(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

absl::StatusOr<std::unique_ptr<Tokenizer>>
Tokenizer::fromJson(std::string_view text) {
  absl::StatusOr<nlohmann::json> json = parseJson(text, "tokenizer.json");
  if (!json.ok())
    return json.status();
  if (!json->is_object())
    return absl::InvalidArgumentError("tokenizer.json isn't a JSON object");
  Field root(*json, "");
  auto parts = std::make_unique<TokenizerParts>();
  if (absl::Status s =
          take(readNormalizer(root.member("normalizer")), parts->normalizer);
      !s.ok())
    return s;
  if (absl::Status s = take(readPreTokenizer(root.member("pre_tokenizer")),
                            parts->preTokenizer);
      !s.ok())
    return s;
  if (absl::Status s = take(readModel(root.member("model")), parts->model);
      !s.ok())
    return s;
  if (absl::Status s =
          take(AddedTokens::read(root.member("added_tokens"), *parts->model,
                                 parts->normalizer.get()),
               parts->added);
      !s.ok())
    return s;
  if (absl::Status s = take(PostProcessor::read(root.member("post_processor")),
                            parts->postProcessor);
      !s.ok())
    return s;
  if (absl::Status s =
          take(Decoder::read(root.member("decoder")), parts->decoder);
      !s.ok())
    return s;
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(parts)));
}

absl::StatusOr<std::vector<int32_t>>
Tokenizer::encode(std::string_view text, bool addSpecialTokens) const {
  if (absl::Status status = checkUtf8(text, "the text"); !status.ok())
    return status;
  std::vector<Piece> pieces;
  if (absl::Status status =
          parts->added.split(text, parts->normalizer.get(), pieces);
      !status.ok())
    return status;
  std::vector<int32_t> ids;
  WordCache cache;
  std::vector<std::string> words;
  for (Piece &piece : pieces) {
    if (piece.id >= 0) {
      ids.push_back(piece.id);
      continue;
    }
    words.clear();
    words.push_back(std::move(piece.text));
    if (parts->preTokenizer)
      if (absl::Status status = parts->preTokenizer->apply(words); !status.ok())
        return status;
    for (const std::string &word : words)
      if (!word.empty())
        encodeWord(*parts->model, word, cache, ids);
  }
  if (addSpecialTokens)
    parts->postProcessor.apply(ids);
  return ids;
}

std::string Tokenizer::decode(absl::Span<const int32_t> ids,
                              bool skipSpecialTokens) const {
  StreamDecoder stream(*this, skipSpecialTokens);
  std::string text;
  for (int32_t id : ids)
    text += stream.push(id);
  return text + stream.finish();
}

std::optional<int32_t> Tokenizer::tokenToId(std::string_view token) const {
  std::optional<int32_t> id = parts->added.tokenToId(token);
  return id ? id : parts->model->tokenToId(token);
}

std::optional<std::string> Tokenizer::idToToken(int32_t id) const {
  if (const std::string *token = parts->idToToken(id))
    return *token;
  return std::nullopt;
}

bool Tokenizer::isSpecial(int32_t id) const {
  return parts->added.isSpecial(id);
}
int32_t Tokenizer::idLimit() const {
  return std::max(parts->model->idLimit(), parts->added.idLimit());
}

StreamDecoder::StreamDecoder(const Tokenizer &tokenizer, bool skipSpecialTokens)
    : tokenizer(&tokenizer), skipSpecialTokens(skipSpecialTokens),
      chain(tokenizer.parts->decoder.start()) {}
StreamDecoder::StreamDecoder(StreamDecoder &&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::push(int32_t id) {
  std::string text;
  const std::string *token = tokenizer->parts->idToToken(id);
  if (token && !(skipSpecialTokens && tokenizer->isSpecial(id)))
    chain->push(*token, text);
  return text;
}

std::string StreamDecoder::finish() {
  std::string text;
  chain->finish(text);
  return text;
}

} // namespace sol::text
