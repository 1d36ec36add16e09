//===- lexer.cpp - a template as tokens -----------------------------------===//
// White space follows trim_blocks (the newline after a block or comment goes),
// lstrip_blocks (blanks before a block or comment at the start of a line go)
// and the signs - and + in tags. One newline at the template's end goes too.
#include "runtime/text/jinja/lexer.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>

namespace sol::text::jinja {
namespace {

constexpr size_t maxSourceBytes = 4 << 20;

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string normalizeNewlines(std::string_view source) {
  std::string out;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n')
        ++i;
    } else {
      out += source[i];
    }
  }
  if (out.ends_with('\n'))
    out.pop_back();
  return out;
}

class Lexer {
public:
  explicit Lexer(std::string source) : in(std::move(source)) {}

  absl::StatusOr<std::vector<Token>> run() {
    while (at < in.size() && error.ok())
      textAndTag();
    if (!error.ok())
      return error;
    add(TokenKind::End, "");
    return std::move(tokens);
  }

private:
  void fail(absl::string_view what) {
    if (error.ok())
      error = absl::InvalidArgumentError(
          absl::StrCat("template line ", line, ": ", what));
  }
  void add(TokenKind kind, std::string text) {
    tokens.push_back({kind, std::move(text), line});
  }
  bool startsWith(std::string_view text) const {
    return std::string_view(in).substr(at).starts_with(text);
  }
  void advance(size_t count) {
    line += static_cast<int>(
        std::count(in.begin() + at, in.begin() + at + count, '\n'));
    at += count;
  }

  void textAndTag();
  void text(size_t tag, char sign, bool isPrint);
  void comment();
  void afterTag(char sign, bool trimsNewline);
  bool raw();
  void inside(bool isPrint);
  void string(char quote);
  bool escape(std::string &out);
  void number();
  void punctuation();

  std::string in;
  size_t at = 0;
  int line = 1;
  bool lineStarts = true; // the text at hand follows a newline
  std::vector<Token> tokens;
  std::string brackets;
  absl::Status error;
};

// The text up to the next tag, and that tag.
void Lexer::textAndTag() {
  size_t tag = at;
  for (;; ++tag) {
    tag = in.find('{', tag);
    if (tag == std::string::npos || tag + 1 >= in.size()) {
      add(TokenKind::Text, in.substr(at));
      return advance(in.size() - at);
    }
    if (in[tag + 1] == '{' || in[tag + 1] == '%' || in[tag + 1] == '#')
      break;
  }
  char type = in[tag + 1];
  char sign = tag + 2 < in.size() && (in[tag + 2] == '-' || in[tag + 2] == '+')
                  ? in[tag + 2]
                  : ' ';
  text(tag, sign, type == '{');
  advance(tag + (sign == ' ' ? 2 : 3) - at);
  lineStarts = false;
  if (type == '#')
    return comment();
  if (type == '%' && raw())
    return;
  inside(type == '{');
}

void Lexer::text(size_t tag, char sign, bool isPrint) {
  std::string_view text = std::string_view(in).substr(at, tag - at);
  if (sign == '-') {
    while (!text.empty()) {
      size_t start = previousStart(text, text.size()), probe = start;
      if (!isWhiteSpace(nextCodePoint(text, probe)))
        break;
      text = text.substr(0, start);
    }
  } else if (sign != '+' && !isPrint) {
    size_t lineStart = text.rfind('\n') + 1; // npos + 1 is 0
    bool blank = std::all_of(text.begin() + static_cast<ptrdiff_t>(lineStart),
                             text.end(), isSpace);
    if (blank && (lineStart > 0 || lineStarts))
      text = text.substr(0, lineStart);
  }
  if (!text.empty())
    add(TokenKind::Text, std::string(text));
}

// Behind a tag's end: `sign` is what stood before its closing characters.
void Lexer::afterTag(char sign, bool trimsNewline) {
  size_t start = at;
  if (sign == '-') {
    while (at < in.size()) {
      size_t probe = at;
      if (!isWhiteSpace(nextCodePoint(in, probe)))
        break;
      advance(probe - at);
    }
  } else if (sign != '+' && trimsNewline && at < in.size() && in[at] == '\n') {
    advance(1);
  }
  lineStarts = at > start && in[at - 1] == '\n';
}

void Lexer::comment() {
  size_t end = in.find("#}", at);
  if (end == std::string::npos)
    return fail("a comment isn't closed");
  char sign = end > at ? in[end - 1] : ' ';
  advance(end + 2 - at);
  afterTag(sign, true);
}

// Text between raw and endraw; true if this was one.
bool Lexer::raw() {
  auto word = [&](size_t from,
                  std::string_view name) -> size_t { // behind `name %}`, or 0
    while (from < in.size() && isSpace(in[from]))
      ++from;
    if (!std::string_view(in).substr(from).starts_with(name))
      return 0;
    from += name.size();
    while (from < in.size() && isSpace(in[from]))
      ++from;
    if (from < in.size() && (in[from] == '-' || in[from] == '+'))
      ++from;
    return std::string_view(in).substr(from).starts_with("%}") ? from + 2 : 0;
  };
  size_t begin = word(at, "raw");
  if (begin == 0)
    return false;
  char sign = in[begin - 3];
  advance(begin - at);
  afterTag(sign, true);
  for (size_t tag = in.find("{%", at); tag != std::string::npos;
       tag = in.find("{%", tag + 2)) {
    char open =
        tag + 2 < in.size() && (in[tag + 2] == '-' || in[tag + 2] == '+')
            ? in[tag + 2]
            : ' ';
    size_t end = word(tag + (open == ' ' ? 2 : 3), "endraw");
    if (end == 0)
      continue;
    text(tag, open, false);
    char close = in[end - 3];
    advance(end - at);
    afterTag(close, true);
    return true;
  }
  fail("raw isn't closed by endraw");
  return true;
}

void Lexer::inside(bool isPrint) {
  add(isPrint ? TokenKind::PrintBegin : TokenKind::BlockBegin, "");
  std::string_view close = isPrint ? "}}" : "%}";
  brackets.clear();
  while (error.ok()) {
    if (at >= in.size())
      return fail(isPrint ? "`{{` isn't closed" : "`{%` isn't closed");
    char c = in[at];
    if (isSpace(c)) {
      advance(1);
      continue;
    }
    if (brackets.empty()) {
      char sign = (c == '-' || c == '+') &&
                          std::string_view(in).substr(at + 1).starts_with(close)
                      ? c
                      : ' ';
      if (sign == '+' && isPrint)
        sign = ' ';
      if (sign != ' ' || startsWith(close)) {
        add(isPrint ? TokenKind::PrintEnd : TokenKind::BlockEnd, "");
        advance(sign == ' ' ? 2 : 3);
        return afterTag(sign, !isPrint);
      }
    }
    if (isNameStart(c)) {
      size_t end = at;
      while (end < in.size() && (isNameStart(in[end]) || isDigit(in[end])))
        ++end;
      add(TokenKind::Name, in.substr(at, end - at));
      advance(end - at);
    } else if (isDigit(c)) {
      number();
    } else if (c == '"' || c == '\'') {
      string(c);
    } else {
      punctuation();
    }
  }
}

void Lexer::number() {
  auto digits = [&](size_t from) {
    while (from < in.size() &&
           (isDigit(in[from]) ||
            (in[from] == '_' && from + 1 < in.size() && isDigit(in[from + 1]))))
      ++from;
    return from;
  };
  size_t end = digits(at);
  bool isFloat = false;
  bool isIndex = at > 0 && in[at - 1] == '.'; // the 0.1 in a.0.1 is two indices
  if (!isIndex && end + 1 < in.size() && in[end] == '.' &&
      isDigit(in[end + 1])) {
    isFloat = true;
    end = digits(end + 1);
  }
  if (!isIndex && end < in.size() && (in[end] == 'e' || in[end] == 'E')) {
    size_t exponent =
        end + 1 < in.size() && (in[end + 1] == '-' || in[end + 1] == '+')
            ? end + 2
            : end + 1;
    if (exponent < in.size() && isDigit(in[exponent])) {
      isFloat = true;
      end = digits(exponent);
    }
  }
  std::string text = in.substr(at, end - at);
  std::erase(text, '_');
  add(isFloat ? TokenKind::Float : TokenKind::Integer, text);
  advance(end - at);
}

void Lexer::string(char quote) {
  std::string out;
  int begin = line;
  advance(1);
  while (at < in.size() && in[at] != quote) {
    if (in[at] != '\\') {
      out += in[at];
      advance(1);
    } else if (!escape(out)) {
      return;
    }
  }
  if (at >= in.size())
    return fail(
        absl::StrCat("a string that begins on line ", begin, " isn't closed"));
  advance(1);
  add(TokenKind::String, std::move(out));
}

// Python's escapes; an unknown one stands for itself.
bool Lexer::escape(std::string &out) {
  if (at + 1 >= in.size()) {
    fail("a string isn't closed");
    return false;
  }
  char c = in[at + 1];
  static constexpr std::string_view names = "ntrabfv0\\'\"";
  static constexpr char values[] = {'\n', '\t', '\r', '\a', '\b', '\f', '\v'};
  size_t length = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (c >= '0' && c <= '7') {
    size_t end = at + 1;
    char32_t value = 0;
    for (; end < in.size() && end < at + 4 && in[end] >= '0' && in[end] <= '7';
         ++end)
      value = value * 8 + static_cast<char32_t>(in[end] - '0');
    appendUtf8(out, value);
    advance(end - at);
  } else if (length > 0) {
    char32_t value = 0;
    for (size_t i = 0; i < length; ++i) {
      char digit = at + 2 + i < in.size()
                       ? static_cast<char>(in[at + 2 + i] | 0x20)
                       : ' ';
      if (!(isDigit(digit) || (digit >= 'a' && digit <= 'f'))) {
        fail("a string has an escape with too few digits");
        return false;
      }
      value = value * 16 + static_cast<char32_t>(
                               isDigit(digit) ? digit - '0' : digit - 'a' + 10);
    }
    appendUtf8(out, value);
    advance(2 + length);
  } else if (c == '\n') {
    advance(2);
  } else if (size_t index = names.find(c); index < std::size(values)) {
    out += values[index];
    advance(2);
  } else if (index != std::string_view::npos) {
    out += c;
    advance(2);
  } else {
    out += '\\';
    advance(1);
  }
  return true;
}

void Lexer::punctuation() {
  static constexpr std::string_view two[] = {
      "**", "//", "==", "!=", "<=", ">="};
  for (std::string_view text : two)
    if (startsWith(text)) {
      add(TokenKind::Operator, std::string(text));
      return advance(2);
    }
  char c = in[at];
  if (std::string_view("+-*/%~<>=.,:|()[]{};").find(c) ==
      std::string_view::npos)
    return fail(
        absl::StrCat("unexpected character `", absl::string_view(&c, 1), "`"));
  if (c == '(' || c == '[' || c == '{')
    brackets += c;
  if (c == ')' || c == ']' || c == '}') {
    char open = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (brackets.empty() || brackets.back() != open)
      return fail(
          absl::StrCat("`", absl::string_view(&c, 1), "` closes nothing"));
    brackets.pop_back();
  }
  add(TokenKind::Operator, std::string(1, c));
  advance(1);
}

} // namespace

absl::StatusOr<std::vector<Token>> tokenize(std::string_view source) {
  if (source.size() > maxSourceBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("the template has ", source.size(), " bytes, at most ",
                     maxSourceBytes, " are supported"));
  if (absl::Status status = checkUtf8(source, "the template"); !status.ok())
    return status;
  return Lexer(normalizeNewlines(source)).run();
}

} // namespace sol::text::jinja
