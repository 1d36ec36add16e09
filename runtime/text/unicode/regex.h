//===- regex.h - Oniguruma-style patterns on PCRE2 ------------------------===//
// Tokenizer files hold patterns in the dialect of Oniguruma, the engine that
// the Hugging Face tokenizers link. PCRE2 reads nearly the same language;
// `Regex` rewrites the few places where the same letters mean something else
// (\s, \w,
// \h, `{n,m}+`) and refuses what it has no equal for (`&&` and nested sets in
// character classes, callouts).
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sol::text {

/// Byte range [first, second) of a text.
using Range = std::pair<size_t, size_t>;

/// A compiled pattern. Immutable and safe to share between threads.
class Regex {
public:
  /// Compiles `pattern`; the error quotes the pattern, the offset and the
  /// reason.
  static absl::StatusOr<Regex> compile(std::string_view pattern);

  /// All matches in `text` (valid UTF-8), from left to right, not overlapping;
  /// an empty match that touches the match before it is left out. Fails if the
  /// pattern takes more than a fixed amount of work or memory on this text.
  absl::StatusOr<std::vector<Range>> findAll(std::string_view text) const;

private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled;
};

/// `pattern` in PCRE2's language. Exposed for the tests.
absl::StatusOr<std::string> translateOniguruma(std::string_view pattern);

} // namespace sol::text
