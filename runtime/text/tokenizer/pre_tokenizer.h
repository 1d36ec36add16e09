//===- pre_tokenizer.h - cutting text into words --------------------------===//
// The `pre_tokenizer` part of tokenizer.json. Merges never cross the borders
// that it draws.
#pragma once

#include "runtime/text/json_fields.h"
#include <memory>

namespace sol::text {

/// Cuts (and may rewrite) the pieces of one text.
class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;
  /// Replaces `pieces` by their parts, in order, none of them empty.
  virtual absl::Status apply(std::vector<std::string> &pieces) const = 0;
};

/// Reads the field; null gives a null pointer. `depth` counts the nesting of
/// sequences.
absl::StatusOr<std::unique_ptr<PreTokenizer>>
readPreTokenizer(const Field &field, int depth = 0);

} // namespace sol::text
