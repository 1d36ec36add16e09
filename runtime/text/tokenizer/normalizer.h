//===- normalizer.h - text before it is split -----------------------------===//
// The `normalizer` part of tokenizer.json.
#pragma once

#include "runtime/text/json_fields.h"
#include <memory>

namespace sol::text {

/// Rewrites a piece of text.
class Normalizer {
public:
  virtual ~Normalizer() = default;
  /// Rewrites `text` in place; fails only where a regular expression gives up
  /// or memory ends.
  virtual absl::Status apply(std::string &text) const = 0;
};

/// Reads the field; null gives a null pointer. `depth` counts the nesting of
/// sequences.
absl::StatusOr<std::unique_ptr<Normalizer>> readNormalizer(const Field &field,
                                                           int depth = 0);

} // namespace sol::text
