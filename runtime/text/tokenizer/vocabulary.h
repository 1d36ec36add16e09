//===- vocabulary.h - the model part of a tokenizer -----------------------===//
// A model turns one word into ids. Byte-pair encoding is the one kind so far;
// WordPiece, Unigram and WordLevel would each be another subclass, made in
// `readModel`.
#pragma once

#include "runtime/text/json_fields.h"
#include <memory>
#include <optional>
#include <vector>

namespace sol::text {

/// Greatest token id that is accepted; more would only be found in a broken
/// file.
constexpr int64_t maxTokenId = (int64_t{1} << 22) - 1;

/// Turns words into ids and knows the written form of each id.
class Model {
public:
  virtual ~Model() = default;
  /// Appends the ids of `word` (not empty).
  virtual void encodeWord(std::string_view word,
                          std::vector<int32_t> &ids) const = 0;
  virtual std::optional<int32_t> tokenToId(std::string_view token) const = 0;
  /// The token's written form, or null if no token has this id.
  virtual const std::string *idToToken(int32_t id) const = 0;
  /// One more than the greatest id, 0 if there is none.
  virtual int32_t idLimit() const = 0;
};

/// Reads the `model` field.
absl::StatusOr<std::unique_ptr<Model>> readModel(const Field &field);

/// Reads a model whose type is BPE.
absl::StatusOr<std::unique_ptr<Model>> readBpe(const Field &field);

} // namespace sol::text
