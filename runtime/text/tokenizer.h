//===- tokenizer.h - text to token ids and back ---------------------------===//
// Reads the bytes of a Hugging Face tokenizer.json and does what the
// `tokenizers` package does with it, token for token. Byte-level BPE is
// complete; other kinds are refused with the name of the type and the field.
//
//   auto tokenizer = Tokenizer::fromJson(bytes);
//   auto ids = (*tokenizer)->encode("Hello", /*addSpecialTokens=*/true);
//   StreamDecoder stream(**tokenizer, /*skipSpecialTokens=*/true);
//   for (int32_t id : generated) print(stream.push(id));
//   print(stream.finish());
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sol::text {

struct TokenizerParts;
class DecodeChain;

/// A tokenizer. Immutable after creation; every method may be called from
/// several threads at once.
class Tokenizer {
public:
  /// Makes a tokenizer from the content of a tokenizer.json. InvalidArgument
  /// for a malformed file, Unimplemented for a kind that isn't supported; both
  /// name the field. Truncation and padding settings in the file are not
  /// applied.
  static absl::StatusOr<std::unique_ptr<Tokenizer>>
  fromJson(std::string_view json);
  ~Tokenizer();

  /// Token ids of `text`, which must be UTF-8 (InvalidArgument with the offset
  /// of the first wrong byte otherwise). Special tokens written out in the text
  /// become their ids. `addSpecialTokens`: also what the file's post-processor
  /// adds (begin and end tokens). ResourceExhausted if one of the file's
  /// regular expressions takes too long on `text`.
  absl::StatusOr<std::vector<int32_t>> encode(std::string_view text,
                                              bool addSpecialTokens) const;

  /// Text of `ids`. Ids that no token has give nothing. Bytes that form no
  /// character become U+FFFD.
  std::string decode(absl::Span<const int32_t> ids,
                     bool skipSpecialTokens) const;

  /// Id of the token whose written form is exactly `token`.
  std::optional<int32_t> tokenToId(std::string_view token) const;
  /// Written form of the token `id`, as the file has it (not decoded).
  std::optional<std::string> idToToken(int32_t id) const;
  /// Whether `id` is an added token marked special.
  bool isSpecial(int32_t id) const;
  /// One more than the greatest id.
  int32_t idLimit() const;

private:
  friend class StreamDecoder;
  explicit Tokenizer(std::unique_ptr<TokenizerParts> parts);
  std::unique_ptr<TokenizerParts> parts;
};

/// Decodes ids one at a time. What all calls return, joined, equals
/// `Tokenizer::decode` of all ids; every piece is whole UTF-8 characters. The
/// tokenizer must outlive the decoder.
class StreamDecoder {
public:
  StreamDecoder(const Tokenizer &tokenizer, bool skipSpecialTokens);
  StreamDecoder(StreamDecoder &&) noexcept;
  ~StreamDecoder();

  /// The text that became certain with `id`; may be empty.
  std::string push(int32_t id);
  /// What is still held back; unfinished characters become U+FFFD. Afterwards
  /// the decoder starts anew.
  std::string finish();

private:
  const Tokenizer *tokenizer;
  bool skipSpecialTokens;
  std::unique_ptr<DecodeChain> chain;
};

} // namespace sol::text
