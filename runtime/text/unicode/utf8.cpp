//===- utf8.cpp - code points in and out of UTF-8 -------------------------===//
// One table-free decoder gives validity, the length of invalid parts and the
// incomplete tail.
#include "runtime/text/unicode/utf8.h"

#include "absl/strings/str_cat.h"
#include <utf8proc.h>

namespace sol::text {
namespace {

struct Sequence {
  size_t length;   // bytes that belong together
  bool valid;      // a whole character
  bool incomplete; // the text ended inside a character that could still become
                   // valid
};

// The second byte's range depends on the first: it rules out overlong forms,
// surrogates and values past U+10FFFF.
Sequence scanSequence(std::string_view bytes, size_t at) {
  unsigned char first = bytes[at];
  if (first < 0x80)
    return {1, true, false};
  size_t need = first >= 0xC2 && first <= 0xDF   ? 2
                : first >= 0xE0 && first <= 0xEF ? 3
                : first >= 0xF0 && first <= 0xF4 ? 4
                                                 : 0;
  if (need == 0)
    return {1, false, false};
  unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < need; ++i) {
    if (at + i >= bytes.size())
      return {i, false, true};
    unsigned char next = bytes[at + i];
    if (next < low || next > high)
      return {i, false, false};
    low = 0x80;
    high = 0xBF;
  }
  return {need, true, false};
}

} // namespace

size_t validUtf8Prefix(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    Sequence sequence = scanSequence(bytes, at);
    if (!sequence.valid)
      break;
    at += sequence.length;
  }
  return at;
}

absl::Status checkUtf8(std::string_view bytes, std::string_view what) {
  size_t valid = validUtf8Prefix(bytes);
  if (valid == bytes.size())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      absl::string_view(what.data(), what.size()),
      " isn't UTF-8: invalid byte 0x",
      absl::Hex(static_cast<unsigned char>(bytes[valid]), absl::kZeroPad2),
      " at offset ", valid));
}

size_t incompleteUtf8Tail(std::string_view bytes) {
  size_t back = bytes.size() < 3 ? bytes.size() : 3;
  for (size_t length = back; length > 0; --length) {
    size_t at = bytes.size() - length;
    if ((static_cast<unsigned char>(bytes[at]) & 0xC0) == 0x80)
      continue;
    Sequence sequence = scanSequence(bytes, at);
    if (sequence.incomplete && sequence.length == length)
      return length;
  }
  return 0;
}

std::string replaceInvalidUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  size_t at = 0;
  while (at < bytes.size()) {
    Sequence sequence = scanSequence(bytes, at);
    if (sequence.valid)
      out.append(bytes.substr(at, sequence.length));
    else
      out.append("\xEF\xBF\xBD");
    at += sequence.length;
  }
  return out;
}

char32_t nextCodePoint(std::string_view text, size_t &offset) {
  unsigned char first = text[offset];
  size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (offset + length > text.size()) { // only for invalid text
    ++offset;
    return 0xFFFD;
  }
  static constexpr unsigned char leadMask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t value = first & leadMask[length];
  for (size_t i = 1; i < length; ++i)
    value =
        (value << 6) | (static_cast<unsigned char>(text[offset + i]) & 0x3F);
  offset += length;
  return value;
}

size_t previousStart(std::string_view text, size_t offset) {
  do
    --offset;
  while (offset > 0 &&
         (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80);
  return offset;
}

void appendUtf8(std::string &out, char32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
    c = 0xFFFD;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

size_t countCodePoints(std::string_view text) {
  size_t count = 0;
  for (char byte : text)
    count += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  return count;
}

bool isWhiteSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool isWord(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_PC:
    return true;
  default: // joiners, and the circled letters, which are alphabetic symbols
    return c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) ||
           (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
           (c >= 0x1F170 && c <= 0x1F189);
  }
}

bool isNumeric(char32_t c) {
  utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_NO;
}

bool isPunctuation(char32_t c) {
  if (c < 0x80)
    return c > 0x20 && c < 0x7F && !(c >= '0' && c <= '9') &&
           !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
  utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool isCombiningMark(char32_t c) {
  utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

} // namespace sol::text
