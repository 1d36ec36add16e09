//===- pattern.cpp - the patterns that normalizers and splitters share ----===//
// A plain text is searched directly, without a regular expression.
#include "runtime/text/unicode/pattern.h"

namespace sol::text {

absl::StatusOr<Pattern> Pattern::read(const Field &field) {
  if (absl::Status status = field.expectObject(); !status.ok())
    return status;
  if (Field plain = field.member("String"); !plain.isNull()) {
    absl::StatusOr<std::string_view> text = plain.string();
    if (!text.ok())
      return text.status();
    return Pattern(std::string(*text));
  }
  Field expression = field.member("Regex");
  if (expression.isNull())
    return field.error("has neither `String` nor `Regex`");
  absl::StatusOr<std::string_view> source = expression.string();
  if (!source.ok())
    return source.status();
  absl::StatusOr<Regex> regex = Regex::compile(*source);
  if (!regex.ok())
    return absl::Status(regex.status().code(),
                        "field `" + expression.path() +
                            "`: " + std::string(regex.status().message()));
  return Pattern(*std::move(regex));
}

absl::StatusOr<std::vector<Range>>
Pattern::findAll(std::string_view text) const {
  if (regex)
    return regex->findAll(text);
  std::vector<Range> matches;
  if (literal.empty())
    return matches;
  for (size_t at = text.find(literal); at != std::string_view::npos;
       at = text.find(literal, at + literal.size()))
    matches.emplace_back(at, at + literal.size());
  return matches;
}

absl::Status Pattern::replaceAll(std::string &text,
                                 std::string_view content) const {
  absl::StatusOr<std::vector<Range>> matches = findAll(text);
  if (!matches.ok())
    return matches.status();
  if (matches->empty())
    return absl::OkStatus();
  std::string out;
  size_t done = 0;
  for (auto [begin, end] : *matches) {
    out.append(text, done, begin - done);
    out.append(content);
    done = end;
  }
  out.append(text, done);
  text = std::move(out);
  return absl::OkStatus();
}

} // namespace sol::text
