//===- lexer.h - a template as tokens -------------------------------------===//
// Cuts a template into text and the tokens inside its tags, and does all of
// Jinja's white space control, so that the parser sees only text that is
// printed as it stands.
#pragma once

#include "absl/status/statusor.h"
#include <string>
#include <string_view>
#include <vector>

namespace sol::text::jinja {

enum class TokenKind {
  Text,
  BlockBegin,
  BlockEnd,
  PrintBegin,
  PrintEnd,
  Name,
  String,
  Integer,
  Float,
  Operator,
  End
};

struct Token {
  TokenKind kind;
  std::string text; // a string's characters, already unescaped
  int line;
};

/// The tokens of `source`, ended by one of kind End. Errors carry the line.
absl::StatusOr<std::vector<Token>> tokenize(std::string_view source);

} // namespace sol::text::jinja
