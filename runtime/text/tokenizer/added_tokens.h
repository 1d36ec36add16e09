//===- added_tokens.h - tokens that are matched before any splitting ------===//
// The `added_tokens` part of tokenizer.json: control tokens and words added
// after training. They are found in the text first, those marked `normalized`
// after normalization, the longest at the leftmost place.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "runtime/text/tokenizer/normalizer.h"
#include "runtime/text/tokenizer/vocabulary.h"
#include <array>

namespace sol::text {

/// A part of the text: an added token, or text (`id` < 0) still to be encoded.
struct Piece {
  std::string text;
  int32_t id = -1;
};

/// Finds the leftmost longest of many texts.
class TextSet {
public:
  void add(std::string_view text, int32_t value);
  /// The longest member that starts at `at`: its length (0 for none) and value.
  std::pair<size_t, int32_t> longestAt(std::string_view text, size_t at) const;
  bool mayStartWith(char byte) const {
    return starts[static_cast<unsigned char>(byte)];
  }

private:
  absl::flat_hash_map<uint64_t, uint32_t> edges; // (node, byte) to node
  std::vector<int32_t> values{-1}; // per node, -1 where no member ends
  std::array<bool, 256> starts{};
};

/// The added tokens of one tokenizer.
class AddedTokens {
public:
  /// Reads the list. A token whose text the model already has must carry the
  /// model's id.
  static absl::StatusOr<AddedTokens> read(const Field &list, const Model &model,
                                          const Normalizer *normalizer);

  /// Cuts `text` at added tokens and normalizes what lies between them.
  absl::Status split(std::string_view text, const Normalizer *normalizer,
                     std::vector<Piece> &pieces) const;

  const std::string *idToToken(int32_t id) const;
  std::optional<int32_t> tokenToId(std::string_view token) const;
  bool isSpecial(int32_t id) const;
  int32_t idLimit() const { return limit; }

private:
  struct Token {
    int32_t id = 0;
    std::string content;
    bool singleWord = false, lstrip = false, rstrip = false, normalized = true,
         special = false;
  };
  static absl::StatusOr<Token> readToken(const Field &field);
  absl::Status place(Token token, const Field &field, const Model &model,
                     const Normalizer *normalizer);
  void cut(std::string_view text, const TextSet &set,
           std::vector<Piece> &pieces) const;

  std::vector<Token> tokens;
  absl::flat_hash_map<int32_t, size_t> byId;
  absl::flat_hash_map<std::string, size_t> byContent;
  TextSet raw, normalizedSet;
  int32_t limit = 0;
};

} // namespace sol::text
