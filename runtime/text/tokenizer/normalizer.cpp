//===- normalizer.cpp - text before it is split ---------------------------===//
// Unicode forms come from utf8proc; the rest is small enough to be written
// here.
#include "runtime/text/tokenizer/normalizer.h"
#include "runtime/text/tokenizer/sequence.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/byte_level.h"
#include "runtime/text/unicode/pattern.h"
#include "runtime/text/unicode/utf8.h"
#include <cstdlib>
#include <utf8proc.h>

namespace sol::text {
namespace {

class UnicodeForm : public Normalizer {
public:
  explicit UnicodeForm(int options) : options(options) {}
  absl::Status apply(std::string &text) const override {
    utf8proc_uint8_t *result = nullptr;
    utf8proc_ssize_t length =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t *>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &result,
                     static_cast<utf8proc_option_t>(options));
    if (length < 0)
      return absl::InternalError(absl::StrCat("unicode normalization failed: ",
                                              utf8proc_errmsg(length)));
    text.assign(reinterpret_cast<char *>(result), static_cast<size_t>(length));
    std::free(result);
    return absl::OkStatus();
  }

private:
  int options;
};

// One character at a time, without context, as Rust's char::to_lowercase does.
class Lowercase : public Normalizer {
public:
  absl::Status apply(std::string &text) const override {
    std::string out;
    out.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
      char32_t c = nextCodePoint(text, at);
      if (c == 0x130)
        out +=
            "i\xCC\x87"; // the only character with a two-character lower case
      else
        appendUtf8(out, static_cast<char32_t>(utf8proc_tolower(
                            static_cast<utf8proc_int32_t>(c))));
    }
    text = std::move(out);
    return absl::OkStatus();
  }
};

class StripAccents : public Normalizer {
public:
  absl::Status apply(std::string &text) const override {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      char32_t c = nextCodePoint(text, at);
      if (!isCombiningMark(c))
        appendUtf8(out, c);
    }
    text = std::move(out);
    return absl::OkStatus();
  }
};

class ReplaceText : public Normalizer {
public:
  ReplaceText(Pattern pattern, std::string content)
      : pattern(std::move(pattern)), content(std::move(content)) {}
  absl::Status apply(std::string &text) const override {
    return pattern.replaceAll(text, content);
  }

private:
  Pattern pattern;
  std::string content;
};

class PrependText : public Normalizer {
public:
  explicit PrependText(std::string content) : content(std::move(content)) {}
  absl::Status apply(std::string &text) const override {
    if (!text.empty())
      text.insert(0, content);
    return absl::OkStatus();
  }

private:
  std::string content;
};

class StripSpace : public Normalizer {
public:
  StripSpace(bool left, bool right) : left(left), right(right) {}
  absl::Status apply(std::string &text) const override {
    size_t end = text.size();
    while (right && end > 0) {
      size_t start = previousStart(text, end), at = start;
      if (!isWhiteSpace(nextCodePoint(text, at)))
        break;
      end = start;
    }
    size_t begin = 0;
    while (left && begin < end) {
      size_t at = begin;
      if (!isWhiteSpace(nextCodePoint(text, at)))
        break;
      begin = at;
    }
    text = text.substr(begin, end - begin);
    return absl::OkStatus();
  }

private:
  bool left, right;
};

class BytesToCharacters : public Normalizer {
public:
  absl::Status apply(std::string &text) const override {
    text = bytesToCharacters(text);
    return absl::OkStatus();
  }
};

class NormalizerSequence : public Normalizer {
public:
  std::vector<std::unique_ptr<Normalizer>> parts;
  absl::Status apply(std::string &text) const override {
    for (const auto &part : parts)
      if (absl::Status status = part->apply(text); !status.ok())
        return status;
    return absl::OkStatus();
  }
};

using Made = absl::StatusOr<std::unique_ptr<Normalizer>>;

Made readReplace(const Field &field) {
  absl::StatusOr<Pattern> pattern = Pattern::read(field.member("pattern"));
  if (!pattern.ok())
    return pattern.status();
  absl::StatusOr<std::string_view> content = field.member("content").string();
  if (!content.ok())
    return content.status();
  return std::make_unique<ReplaceText>(*std::move(pattern),
                                       std::string(*content));
}

Made readStrip(const Field &field) {
  absl::StatusOr<bool> left = field.member("strip_left").booleanOr(true);
  absl::StatusOr<bool> right = field.member("strip_right").booleanOr(true);
  if (!left.ok() || !right.ok())
    return left.ok() ? right.status() : left.status();
  return std::make_unique<StripSpace>(*left, *right);
}

Made readParts(const Field &field, int depth) {
  auto sequence = std::make_unique<NormalizerSequence>();
  auto readPart = [&](const Field &element) {
    Made part = readNormalizer(element, depth + 1);
    if (part.ok() && *part)
      sequence->parts.push_back(*std::move(part));
    return part.status();
  };
  if (absl::Status status = readSequence(field, "normalizers", depth, readPart);
      !status.ok())
    return status;
  return sequence;
}

} // namespace

absl::StatusOr<std::unique_ptr<Normalizer>> readNormalizer(const Field &field,
                                                           int depth) {
  if (field.isNull())
    return nullptr;
  absl::StatusOr<std::string_view> type = field.member("type").string();
  if (!type.ok())
    return type.status();
  if (*type == "NFC")
    return std::make_unique<UnicodeForm>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  if (*type == "NFD")
    return std::make_unique<UnicodeForm>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  if (*type == "NFKC")
    return std::make_unique<UnicodeForm>(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                         UTF8PROC_COMPAT);
  if (*type == "NFKD")
    return std::make_unique<UnicodeForm>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                         UTF8PROC_COMPAT);
  if (*type == "Lowercase")
    return std::make_unique<Lowercase>();
  if (*type == "StripAccents")
    return std::make_unique<StripAccents>();
  if (*type == "Replace")
    return readReplace(field);
  if (*type == "Strip")
    return readStrip(field);
  if (*type == "ByteLevel")
    return std::make_unique<BytesToCharacters>();
  if (*type == "Sequence")
    return readParts(field, depth);
  if (*type == "Prepend") {
    absl::StatusOr<std::string_view> content = field.member("prepend").string();
    if (!content.ok())
      return content.status();
    return std::make_unique<PrependText>(std::string(*content));
  }
  return absl::UnimplementedError(absl::StrCat(
      "field `", field.path(), ".type`: normalizer `", std::string(*type),
      "` isn't supported (NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, "
      "Replace, Prepend, Strip, ByteLevel and Sequence are)"));
}

} // namespace sol::text
