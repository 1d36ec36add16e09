//===- pattern.h - the patterns that normalizers and splitters share ------===//
// `{"String": "…"}` or `{"Regex": "…"}`.
#pragma once

#include "runtime/text/json_fields.h"
#include "runtime/text/unicode/regex.h"
#include <optional>

namespace sol::text {

/// Deepest nesting of sequences that is read.
constexpr int maxNesting = 16;

/// A plain text or a regular expression to look for.
class Pattern {
public:
  static absl::StatusOr<Pattern> read(const Field &field);
  explicit Pattern(std::string literal) : literal(std::move(literal)) {}
  explicit Pattern(Regex regex) : regex(std::move(regex)) {}

  /// Matches in `text`, in order, not overlapping.
  absl::StatusOr<std::vector<Range>> findAll(std::string_view text) const;
  /// Replaces every match in `text` by `content`.
  absl::Status replaceAll(std::string &text, std::string_view content) const;
  /// The plain text, or none for a regular expression.
  const std::string *plain() const { return regex ? nullptr : &literal; }

private:
  std::string literal;
  std::optional<Regex> regex;
};

} // namespace sol::text
