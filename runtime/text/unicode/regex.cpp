//===- regex.cpp - Oniguruma-style patterns on PCRE2 ----------------------===//
// The rewriting keeps the start of the last atom, since Oniguruma reads
// `X{n,m}+` as a repeated repetition while PCRE2 reads it as a possessive one.
#include "runtime/text/unicode/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/utf8.h"
#include <pcre2.h>

namespace sol::text {
namespace {

constexpr size_t maxPatternBytes = 16384;
constexpr uint32_t maxMatchSteps = 20'000'000;
constexpr uint32_t maxHeapKib = 262'144;
constexpr absl::string_view wordClass = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";

absl::string_view view(std::string_view text) {
  return {text.data(), text.size()};
}

/// Walks the pattern once and writes its PCRE2 form.
class Translator {
public:
  explicit Translator(std::string_view pattern) : in(pattern) {}

  absl::StatusOr<std::string> run() {
    while (at < in.size() && error.ok())
      step();
    if (!error.ok())
      return error;
    return out;
  }

private:
  void refuse(absl::string_view what) {
    if (error.ok())
      error = absl::UnimplementedError(
          absl::StrCat("regular expression `", view(in), "` uses ", what,
                       " at offset ", at, ", which isn't supported"));
  }

  bool next(char c, size_t ahead = 1) const {
    return at + ahead < in.size() && in[at + ahead] == c;
  }

  void atom(absl::string_view text, size_t consumed) {
    lastAtom = out.size();
    out.append(text.data(), text.size());
    at += consumed;
  }

  void step() {
    switch (in[at]) {
    case '\\':
      return escape();
    case '[':
      return charClass();
    case '(':
      if (next('*'))
        return refuse("a callout");
      groups.push_back(out.size());
      out += in[at++];
      return;
    case ')':
      lastAtom = groups.empty() ? out.size() : groups.back();
      if (!groups.empty())
        groups.pop_back();
      out += in[at++];
      return;
    case '{':
      return interval();
    case '*':
    case '+':
    case '?':
    case '|':
      out += in[at++];
      return;
    default: {
      size_t end = at + 1;
      while (end < in.size() &&
             (static_cast<unsigned char>(in[end]) & 0xC0) == 0x80)
        ++end;
      atom(view(in.substr(at, end - at)), end - at);
    }
    }
  }

  void escape() {
    if (at + 1 >= in.size())
      return refuse("a lone backslash");
    switch (in[at + 1]) {
    case 's':
      return atom("\\p{White_Space}", 2);
    case 'S':
      return atom("\\P{White_Space}", 2);
    case 'w':
      return atom(absl::StrCat("[", wordClass, "]"), 2);
    case 'W':
      return atom(absl::StrCat("[^", wordClass, "]"), 2);
    case 'h':
      return atom("[0-9A-Fa-f]", 2);
    case 'H':
      return atom("[^0-9A-Fa-f]", 2);
    case 'p':
    case 'P':
      return atom(property(), 0);
    case 'C':
      return refuse("\\C");
    default:
      return atom(view(in.substr(at, 2)), 2);
    }
  }

  // Copies \p{Name} or \pL and moves behind it.
  std::string property() {
    size_t start = at;
    at += 2;
    if (at < in.size() && in[at] == '{') {
      size_t close = in.find('}', at);
      at = close == std::string_view::npos ? in.size() : close + 1;
    } else if (at < in.size()) {
      ++at;
    }
    return std::string(in.substr(start, at - start));
  }

  void charClass() {
    size_t start = out.size();
    out += in[at++];
    if (at < in.size() && in[at] == '^')
      out += in[at++];
    bool first = true;
    while (at < in.size() && error.ok()) {
      char c = in[at];
      if (c == ']' && !first) {
        out += c;
        ++at;
        lastAtom = start;
        return;
      }
      first = false;
      if (c == '\\')
        classEscape();
      else if (c == '[')
        classBracket();
      else if (c == '&' && next('&'))
        refuse("an intersection of sets (`&&`)");
      else {
        out += c;
        ++at;
      }
    }
    if (error.ok())
      refuse("an unclosed `[`");
  }

  void classBracket() {
    if (!next(':'))
      return refuse("a set inside a set");
    size_t close = in.find(":]", at);
    if (close == std::string_view::npos)
      return refuse("an unclosed `[:`");
    out.append(in.substr(at, close + 2 - at));
    at = close + 2;
  }

  void classEscape() {
    if (at + 1 >= in.size())
      return refuse("a lone backslash");
    switch (in[at + 1]) {
    case 's':
      out += "\\p{White_Space}";
      break;
    case 'S':
      out += "\\P{White_Space}";
      break;
    case 'w':
      out.append(wordClass.data(), wordClass.size());
      break;
    case 'h':
      out += "0-9A-Fa-f";
      break;
    case 'W':
    case 'H':
      return refuse("\\W or \\H inside a set");
    case 'p':
    case 'P':
      out += property();
      return;
    default:
      out.append(in.substr(at, 2));
    }
    at += 2;
  }

  void interval() {
    size_t close = in.find('}', at);
    bool isInterval = close != std::string_view::npos && close > at + 1;
    for (size_t i = at + 1; isInterval && i < close; ++i)
      isInterval = (in[i] >= '0' && in[i] <= '9') || in[i] == ',';
    if (!isInterval)
      return atom("\\{", 1);
    std::string bounds(in.substr(at, close + 1 - at));
    if (bounds[1] == ',') // Oniguruma reads {,n} as {0,n}
      bounds.insert(1, "0");
    out += bounds;
    at = close + 1;
    if (at < in.size() && in[at] == '+') {
      out.insert(lastAtom, "(?:");
      out += ")+";
      ++at;
    }
  }

  std::string_view in;
  size_t at = 0;
  std::string out;
  size_t lastAtom = 0;
  std::vector<size_t> groups;
  absl::Status error;
};

std::string pcreMessage(int code) {
  PCRE2_UCHAR buffer[256];
  if (pcre2_get_error_message(code, buffer, sizeof(buffer)) < 0)
    return absl::StrCat("error ", code);
  return reinterpret_cast<const char *>(buffer);
}

struct MatchState {
  pcre2_match_data *data;
  pcre2_match_context *context;
  ~MatchState() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
};

} // namespace

struct Regex::Compiled {
  std::string source;
  pcre2_code *code = nullptr;
  ~Compiled() { pcre2_code_free(code); }
};

absl::StatusOr<std::string> translateOniguruma(std::string_view pattern) {
  return Translator(pattern).run();
}

absl::StatusOr<Regex> Regex::compile(std::string_view pattern) {
  if (pattern.size() > maxPatternBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("regular expression of ", pattern.size(),
                     " bytes, at most ", maxPatternBytes, " are supported"));
  absl::StatusOr<std::string> translated = translateOniguruma(pattern);
  if (!translated.ok())
    return translated.status();
  // Oniguruma's anchors ^ and $ match at every line.
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                     PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY;
  int code = 0;
  PCRE2_SIZE offset = 0;
  auto compiled = std::make_shared<Compiled>();
  compiled->source = std::string(pattern);
  compiled->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated->data()),
                    translated->size(), options, &code, &offset, nullptr);
  if (!compiled->code)
    return absl::InvalidArgumentError(
        absl::StrCat("regular expression `", view(pattern),
                     "` isn't valid: ", pcreMessage(code), " at offset ",
                     offset, " of `", *translated, "`"));
  // Where machine code isn't allowed, matching falls back to the interpreter by
  // itself.
  pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);
  Regex regex;
  regex.compiled = std::move(compiled);
  return regex;
}

absl::StatusOr<std::vector<Range>> Regex::findAll(std::string_view text) const {
  std::vector<Range> matches;
  MatchState state{
      pcre2_match_data_create_from_pattern(compiled->code, nullptr),
      pcre2_match_context_create(nullptr)};
  if (!state.data || !state.context)
    return absl::ResourceExhaustedError(
        "no memory to match a regular expression");
  pcre2_set_match_limit(state.context, maxMatchSteps);
  pcre2_set_heap_limit(state.context, maxHeapKib);
  auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  size_t at = 0;
  while (at <= text.size()) {
    int rc = pcre2_match(compiled->code, subject, text.size(), at,
                         PCRE2_NO_UTF_CHECK, state.data, state.context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) // a long match: the interpreter keeps
                                          // its state on the heap
      rc = pcre2_match(compiled->code, subject, text.size(), at,
                       PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, state.data,
                       state.context);
    if (rc == PCRE2_ERROR_NOMATCH)
      break;
    if (rc < 0)
      return absl::ResourceExhaustedError(absl::StrCat(
          "regular expression `", compiled->source, "` gave up at byte ", at,
          " of the text: ", pcreMessage(rc)));
    const PCRE2_SIZE *range = pcre2_get_ovector_pointer(state.data);
    size_t begin = range[0], end = range[1];
    if (begin > end || end < at)
      return absl::InvalidArgumentError(absl::StrCat(
          "regular expression `", compiled->source, "` matches backwards"));
    bool touches =
        begin == end && !matches.empty() && matches.back().second == begin;
    if (!touches)
      matches.emplace_back(begin, end);
    at = end;
    if (begin ==
        end) { // step over one character, or matching would stand still
      if (at >= text.size())
        break;
      nextCodePoint(text, at);
    }
  }
  return matches;
}

} // namespace sol::text
