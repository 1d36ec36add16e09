//===- utf8.h - code points in and out of UTF-8 ---------------------------===//
// The text that enters Sol is checked once, here; everything behind this header
// may assume valid UTF-8. Also answers the character questions (white space,
// word, digit, punctuation) with the meaning that Rust's standard library gives
// them, since the Hugging Face tokenizers take them from there.
#pragma once

#include "absl/status/status.h"
#include <cstddef>
#include <string>
#include <string_view>

namespace sol::text {

/// Number of leading bytes of `bytes` that are whole, valid UTF-8 characters
/// (no surrogates, no overlong forms).
size_t validUtf8Prefix(std::string_view bytes);

/// Error naming `what` and the offset of the first invalid byte, OK if all of
/// `bytes` is UTF-8.
absl::Status checkUtf8(std::string_view bytes, std::string_view what);

/// Length of the longest tail of `bytes` that is the start of a character whose
/// rest is still missing (0..3).
size_t incompleteUtf8Tail(std::string_view bytes);

/// `bytes` with each maximal invalid part replaced by U+FFFD, as the Unicode
/// standard recommends and as Rust does.
std::string replaceInvalidUtf8(std::string_view bytes);

/// Decodes the character at `offset` of valid UTF-8 and moves `offset` behind
/// it. `offset` must be inside the text.
char32_t nextCodePoint(std::string_view text, size_t &offset);

/// Start of the character that ends just before `offset`; `offset` must be
/// greater than 0.
size_t previousStart(std::string_view text, size_t offset);

/// Appends `codePoint` to `out`; an invalid one (surrogate, beyond U+10FFFF)
/// becomes U+FFFD.
void appendUtf8(std::string &out, char32_t codePoint);

/// Number of characters of valid UTF-8.
size_t countCodePoints(std::string_view text);

/// Property White_Space.
bool isWhiteSpace(char32_t codePoint);

/// What a regular expression calls a word character: letters, marks, decimal
/// digits, connectors, joiners.
bool isWord(char32_t codePoint);

/// General category N (decimal digits, letter numbers, other numbers).
bool isNumeric(char32_t codePoint);

/// ASCII punctuation and symbols, or general category P.
bool isPunctuation(char32_t codePoint);

/// General category M.
bool isCombiningMark(char32_t codePoint);

} // namespace sol::text
