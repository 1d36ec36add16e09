//===- decoder.cpp - tokens back to text, a piece at a time ---------------===//
// Stages come in two moods: before a joining step each piece is a token, behind
// it the pieces make up one text.
#include "runtime/text/tokenizer/decoder.h"
#include "runtime/text/tokenizer/sequence.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/byte_level.h"
#include "runtime/text/unicode/pattern.h"
#include "runtime/text/unicode/utf8.h"

namespace sol::text {
namespace {

constexpr size_t maxStages = 64;

// Characters of the byte alphabet become bytes, all tokens one text; what isn't
// UTF-8 becomes U+FFFD.
class ByteLevelStage : public DecodeStage {
public:
  void push(std::string_view piece, const Sink &out) override {
    size_t before = held.size();
    for (size_t at = 0; at < piece.size();) {
      int byte = byteOfCharacter(nextCodePoint(piece, at));
      if (byte <
          0) { // a token from outside the alphabet stands for itself as a whole
        held.resize(before);
        held.append(piece);
        break;
      }
      held += static_cast<char>(byte);
    }
    size_t whole = held.size() - incompleteUtf8Tail(held);
    if (whole == 0)
      return;
    out(replaceInvalidUtf8(std::string_view(held).substr(0, whole)));
    held.erase(0, whole);
  }
  void finish(const Sink &out) override {
    if (!held.empty())
      out(replaceInvalidUtf8(held));
    held.clear();
  }

private:
  std::string held;
};

// <0xNN> tokens in a row are bytes: text if they are UTF-8 as a whole, else one
// U+FFFD each. Only the token after the row tells, so the row waits.
class ByteFallbackStage : public DecodeStage {
public:
  void push(std::string_view piece, const Sink &out) override {
    int byte = byteOf(piece);
    if (byte >= 0) {
      row += static_cast<char>(byte);
      return;
    }
    finish(out);
    out(piece);
  }
  void finish(const Sink &out) override {
    if (row.empty())
      return;
    if (validUtf8Prefix(row) == row.size())
      out(row);
    else
      for (size_t i = 0; i < row.size(); ++i)
        out("\xEF\xBF\xBD");
    row.clear();
  }

private:
  static int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  }
  static int byteOf(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>')
      return -1;
    int high = digit(piece[3]), low = digit(piece[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
  }
  std::string row;
};

class ReplaceInToken : public DecodeStage {
public:
  ReplaceInToken(Pattern pattern, std::string content)
      : pattern(std::move(pattern)), content(std::move(content)) {}
  void push(std::string_view piece, const Sink &out) override {
    std::string text(piece);
    // A pattern that gives up on a token leaves it as it is: decoding has no
    // way to fail.
    if (pattern.replaceAll(text, content).ok())
      out(text);
    else
      out(piece);
  }
  void finish(const Sink &) override {}

private:
  Pattern pattern;
  std::string content;
};

// On joined text a match may lie across pieces: a plain text holds back a tail
// that may begin one, a regular expression needs the whole text.
class ReplaceInText : public DecodeStage {
public:
  ReplaceInText(Pattern pattern, std::string content)
      : pattern(std::move(pattern)), content(std::move(content)) {}
  void push(std::string_view piece, const Sink &out) override {
    held.append(piece);
    const std::string *plain = pattern.plain();
    if (!plain)
      return;
    std::string text;
    size_t done = 0;
    if (!plain->empty())
      for (size_t at = held.find(*plain); at != std::string::npos;
           at = held.find(*plain, done)) {
        text.append(held, done, at - done).append(content);
        done = at + plain->size();
      }
    size_t tail =
        plain->empty() ? 0 : std::min(plain->size() - 1, held.size() - done);
    while (tail > 0 &&
           held.compare(held.size() - tail, tail, *plain, 0, tail) != 0)
      --tail;
    text.append(held, done, held.size() - tail - done);
    held.erase(0, held.size() - tail);
    if (!text.empty())
      out(text);
  }
  void finish(const Sink &out) override {
    if (!held.empty()) {
      (void)pattern.replaceAll(held, content);
      out(held);
    }
    held.clear();
  }

private:
  Pattern pattern;
  std::string content, held;
};

struct StripRule {
  std::string character;
  int64_t start, stop;
};

std::string_view stripStart(std::string_view text, const StripRule &rule,
                            int64_t &left) {
  while (left > 0 && text.starts_with(rule.character)) {
    text.remove_prefix(rule.character.size());
    --left;
  }
  return text;
}

class StripToken : public DecodeStage {
public:
  explicit StripToken(StripRule rule) : rule(std::move(rule)) {}
  void push(std::string_view piece, const Sink &out) override {
    int64_t left = rule.start;
    piece = stripStart(piece, rule, left);
    for (int64_t i = 0; i < rule.stop && piece.ends_with(rule.character); ++i)
      piece.remove_suffix(rule.character.size());
    out(piece);
  }
  void finish(const Sink &) override {}

private:
  StripRule rule;
};

class StripText : public DecodeStage {
public:
  explicit StripText(StripRule rule)
      : rule(std::move(rule)), left(this->rule.start) {}
  void push(std::string_view piece, const Sink &out) override {
    held.append(piece);
    if (atStart) {
      std::string_view rest = stripStart(held, rule, left);
      held = std::string(rest);
      // A part of the character (it may have several bytes) still decides
      // nothing.
      atStart = left > 0 && std::string_view(rule.character).starts_with(held);
      if (atStart)
        return;
    }
    size_t tail = 0;
    for (int64_t i = 0; i < rule.stop && std::string_view(held)
                                             .substr(0, held.size() - tail)
                                             .ends_with(rule.character);
         ++i)
      tail += rule.character.size();
    if (held.size() > tail)
      out(std::string_view(held).substr(0, held.size() - tail));
    held.erase(0, held.size() - tail);
  }
  void finish(const Sink &out) override {
    if (atStart && !held.empty() && held != rule.character)
      out(held);
    held.clear();
    left = rule.start;
    atStart = true;
  }

private:
  StripRule rule;
  std::string held;
  int64_t left;
  bool atStart = true;
};

class JoinBySpace : public DecodeStage {
public:
  void push(std::string_view piece, const Sink &out) override {
    if (!first)
      out(" ");
    first = false;
    out(piece);
  }
  void finish(const Sink &) override { first = true; }

private:
  bool first = true;
};

} // namespace

void DecodeChain::pushFrom(size_t stage, std::string_view piece,
                           std::string &text) {
  if (stage == stages.size()) {
    text.append(piece);
    return;
  }
  stages[stage]->push(
      piece, [&](std::string_view made) { pushFrom(stage + 1, made, text); });
}

void DecodeChain::finish(std::string &text) {
  for (size_t stage = 0; stage < stages.size(); ++stage)
    stages[stage]->finish(
        [&](std::string_view made) { pushFrom(stage + 1, made, text); });
}

absl::StatusOr<Decoder> Decoder::read(const Field &field) {
  Decoder decoder;
  if (field.isNull()) {
    decoder.makers.emplace_back([] { return std::make_unique<JoinBySpace>(); });
    return decoder;
  }
  bool joined = false;
  if (absl::Status status = decoder.readInto(field, 0, joined); !status.ok())
    return status;
  return decoder;
}

absl::Status Decoder::readInto(const Field &field, int depth, bool &joined) {
  absl::StatusOr<std::string_view> type = field.member("type").string();
  if (!type.ok())
    return type.status();
  if (makers.size() >= maxStages)
    return field.error(absl::StrCat("has more than ", maxStages, " steps"));
  if (*type == "ByteLevel") {
    makers.emplace_back([] { return std::make_unique<ByteLevelStage>(); });
    joined = true;
    return absl::OkStatus();
  }
  if (*type == "Fuse") {
    joined = true;
    return absl::OkStatus();
  }
  if (*type == "ByteFallback") {
    if (joined)
      return field.error(
          "comes after the tokens were joined, where it has no effect");
    makers.emplace_back([] { return std::make_unique<ByteFallbackStage>(); });
    return absl::OkStatus();
  }
  if (*type == "Replace")
    return readReplace(field, joined);
  if (*type == "Strip")
    return readStrip(field, joined);
  if (*type == "Sequence")
    return readSequence(field, "decoders", depth, [&](const Field &element) {
      return readInto(element, depth + 1, joined);
    });
  return absl::UnimplementedError(absl::StrCat(
      "field `", field.path(), ".type`: decoder `", std::string(*type),
      "` isn't supported (ByteLevel, ByteFallback, Fuse, Replace, Strip and "
      "Sequence are)"));
}

absl::Status Decoder::readReplace(const Field &field, bool joined) {
  absl::StatusOr<Pattern> pattern = Pattern::read(field.member("pattern"));
  if (!pattern.ok())
    return pattern.status();
  absl::StatusOr<std::string_view> content = field.member("content").string();
  if (!content.ok())
    return content.status();
  makers.emplace_back(
      [joined, pattern = *std::move(pattern),
       content = std::string(*content)]() -> std::unique_ptr<DecodeStage> {
        if (joined)
          return std::make_unique<ReplaceInText>(pattern, content);
        return std::make_unique<ReplaceInToken>(pattern, content);
      });
  return absl::OkStatus();
}

absl::Status Decoder::readStrip(const Field &field, bool joined) {
  StripRule rule;
  absl::StatusOr<std::string_view> content = field.member("content").string();
  if (!content.ok())
    return content.status();
  if (countCodePoints(*content) != 1)
    return field.member("content").error("isn't one character");
  rule.character = *content;
  const std::pair<const char *, int64_t *> bounds[] = {{"start", &rule.start},
                                                       {"stop", &rule.stop}};
  for (auto [name, target] : bounds) {
    absl::StatusOr<int64_t> count = field.member(name).integer(0, 1 << 20);
    if (!count.ok())
      return count.status();
    *target = *count;
  }
  makers.emplace_back([joined, rule]() -> std::unique_ptr<DecodeStage> {
    if (joined)
      return std::make_unique<StripText>(rule);
    return std::make_unique<StripToken>(rule);
  });
  return absl::OkStatus();
}

std::unique_ptr<DecodeChain> Decoder::start() const {
  std::vector<std::unique_ptr<DecodeStage>> stages;
  for (const Maker &maker : makers)
    stages.push_back(maker());
  return std::make_unique<DecodeChain>(std::move(stages));
}

} // namespace sol::text
