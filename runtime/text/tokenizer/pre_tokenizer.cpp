//===- pre_tokenizer.cpp - cutting text into words ------------------------===//
// Every kind boils down to: find ranges, then keep, drop or join them by one of
// five behaviours.
#include "runtime/text/tokenizer/pre_tokenizer.h"
#include "runtime/text/tokenizer/sequence.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/byte_level.h"
#include "runtime/text/unicode/pattern.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>
#include <string_view>

namespace sol::text {
namespace {

enum class Behavior {
  Removed,
  Isolated,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};

struct Segment {
  size_t begin, end;
  bool isMatch;
};

// The whole text as alternating matches and gaps.
std::vector<Segment> segmentsOf(const std::vector<Range> &matches, size_t size,
                                bool invert) {
  std::vector<Segment> segments;
  size_t done = 0;
  for (auto [begin, end] : matches) {
    if (done < begin)
      segments.push_back({done, begin, invert});
    segments.push_back({begin, end, !invert});
    done = end;
  }
  if (done < size)
    segments.push_back({done, size, invert});
  return segments;
}

// Joins a match with the segment before it in `segments` order, unless that is
// itself a match; `forward` tells which border grows.
std::vector<Segment> mergeMatches(const std::vector<Segment> &segments,
                                  bool forward) {
  std::vector<Segment> merged;
  bool previous = false;
  for (const Segment &segment : segments) {
    if (segment.isMatch && !previous && !merged.empty()) {
      if (forward)
        merged.back().end = segment.end;
      else
        merged.back().begin = segment.begin;
    } else {
      merged.push_back(segment);
    }
    previous = segment.isMatch;
  }
  return merged;
}

std::vector<Segment> applyBehavior(std::vector<Segment> segments,
                                   Behavior behavior) {
  switch (behavior) {
  case Behavior::Isolated:
    return segments;
  case Behavior::Removed:
    std::erase_if(segments,
                  [](const Segment &segment) { return segment.isMatch; });
    return segments;
  case Behavior::Contiguous: {
    std::vector<Segment> joined;
    bool previous = false;
    for (const Segment &segment : segments) {
      if (!joined.empty() && segment.isMatch == previous)
        joined.back().end = segment.end;
      else
        joined.push_back(segment);
      previous = segment.isMatch;
    }
    return joined;
  }
  case Behavior::MergedWithPrevious:
    return mergeMatches(segments, /*forward=*/true);
  case Behavior::MergedWithNext:
    std::reverse(segments.begin(), segments.end());
    segments = mergeMatches(segments, /*forward=*/false);
    std::reverse(segments.begin(), segments.end());
    return segments;
  }
  return segments;
}

void cutPiece(const std::string &piece, const std::vector<Range> &matches,
              bool invert, Behavior behavior, std::vector<std::string> &out) {
  for (const Segment &segment :
       applyBehavior(segmentsOf(matches, piece.size(), invert), behavior))
    if (segment.begin < segment.end)
      out.emplace_back(piece, segment.begin, segment.end - segment.begin);
}

class Split : public PreTokenizer {
public:
  Split(Pattern pattern, Behavior behavior, bool invert)
      : pattern(std::move(pattern)), behavior(behavior), invert(invert) {}

  absl::Status apply(std::vector<std::string> &pieces) const override {
    std::vector<std::string> out;
    for (const std::string &piece : pieces) {
      absl::StatusOr<std::vector<Range>> matches = pattern.findAll(piece);
      if (!matches.ok())
        return matches.status();
      cutPiece(piece, *matches, invert, behavior, out);
    }
    pieces = std::move(out);
    return absl::OkStatus();
  }

private:
  Pattern pattern;
  Behavior behavior;
  bool invert;
};

// Each character of a class is one match.
class CharacterSplit : public PreTokenizer {
public:
  CharacterSplit(bool (*inClass)(char32_t), Behavior behavior)
      : inClass(inClass), behavior(behavior) {}

  absl::Status apply(std::vector<std::string> &pieces) const override {
    std::vector<std::string> out;
    std::vector<Range> matches;
    for (const std::string &piece : pieces) {
      matches.clear();
      for (size_t at = 0; at < piece.size();) {
        size_t begin = at;
        if (inClass(nextCodePoint(piece, at)))
          matches.emplace_back(begin, at);
      }
      cutPiece(piece, matches, /*invert=*/false, behavior, out);
    }
    pieces = std::move(out);
    return absl::OkStatus();
  }

private:
  bool (*inClass)(char32_t);
  Behavior behavior;
};

// GPT-2's words: contractions, letters, digits, other signs, each with a space
// before it, and runs of white space.
constexpr std::string_view gpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

class ByteLevel : public PreTokenizer {
public:
  ByteLevel(bool addPrefixSpace, std::optional<Regex> words)
      : addPrefixSpace(addPrefixSpace), words(std::move(words)) {}

  absl::Status apply(std::vector<std::string> &pieces) const override {
    std::vector<std::string> out;
    for (std::string &piece : pieces) {
      if (addPrefixSpace && !piece.starts_with(' '))
        piece.insert(0, " ");
      if (!words) {
        out.push_back(bytesToCharacters(piece));
        continue;
      }
      absl::StatusOr<std::vector<Range>> matches = words->findAll(piece);
      if (!matches.ok())
        return matches.status();
      for (const Segment &segment : segmentsOf(*matches, piece.size(), false))
        if (segment.begin < segment.end)
          out.push_back(bytesToCharacters(std::string_view(piece).substr(
              segment.begin, segment.end - segment.begin)));
    }
    pieces = std::move(out);
    return absl::OkStatus();
  }

private:
  bool addPrefixSpace;
  std::optional<Regex> words;
};

class PreTokenizerSequence : public PreTokenizer {
public:
  std::vector<std::unique_ptr<PreTokenizer>> parts;
  absl::Status apply(std::vector<std::string> &pieces) const override {
    for (const auto &part : parts)
      if (absl::Status status = part->apply(pieces); !status.ok())
        return status;
    return absl::OkStatus();
  }
};

using Made = absl::StatusOr<std::unique_ptr<PreTokenizer>>;

absl::StatusOr<Behavior> readBehavior(const Field &field,
                                      std::optional<Behavior> fallback) {
  if (field.isNull() && fallback)
    return *fallback;
  absl::StatusOr<std::string_view> name = field.string();
  if (!name.ok())
    return name.status();
  static constexpr std::pair<std::string_view, Behavior> names[] = {
      {"Removed", Behavior::Removed},
      {"Isolated", Behavior::Isolated},
      {"MergedWithPrevious", Behavior::MergedWithPrevious},
      {"MergedWithNext", Behavior::MergedWithNext},
      {"Contiguous", Behavior::Contiguous}};
  for (auto [text, behavior] : names)
    if (*name == text)
      return behavior;
  return field.error("is `" + std::string(*name) +
                     "`, expected Removed, Isolated, MergedWithPrevious, "
                     "MergedWithNext or Contiguous");
}

Made readSplit(const Field &field) {
  absl::StatusOr<Pattern> pattern = Pattern::read(field.member("pattern"));
  if (!pattern.ok())
    return pattern.status();
  absl::StatusOr<Behavior> behavior =
      readBehavior(field.member("behavior"), std::nullopt);
  if (!behavior.ok())
    return behavior.status();
  absl::StatusOr<bool> invert = field.member("invert").booleanOr(false);
  if (!invert.ok())
    return invert.status();
  return std::make_unique<Split>(*std::move(pattern), *behavior, *invert);
}

Made readByteLevel(const Field &field) {
  absl::StatusOr<bool> prefix =
      field.member("add_prefix_space").booleanOr(true);
  if (!prefix.ok())
    return prefix.status();
  absl::StatusOr<bool> useRegex = field.member("use_regex").booleanOr(true);
  if (!useRegex.ok())
    return useRegex.status();
  std::optional<Regex> words;
  if (*useRegex) {
    absl::StatusOr<Regex> regex = Regex::compile(gpt2Words);
    if (!regex.ok())
      return regex.status();
    words = *std::move(regex);
  }
  return std::make_unique<ByteLevel>(*prefix, std::move(words));
}

Made readParts(const Field &field, int depth) {
  auto sequence = std::make_unique<PreTokenizerSequence>();
  auto readPart = [&](const Field &element) {
    Made part = readPreTokenizer(element, depth + 1);
    if (part.ok() && *part)
      sequence->parts.push_back(*std::move(part));
    return part.status();
  };
  if (absl::Status status =
          readSequence(field, "pretokenizers", depth, readPart);
      !status.ok())
    return status;
  return sequence;
}

} // namespace

absl::StatusOr<std::unique_ptr<PreTokenizer>>
readPreTokenizer(const Field &field, int depth) {
  if (field.isNull())
    return nullptr;
  absl::StatusOr<std::string_view> type = field.member("type").string();
  if (!type.ok())
    return type.status();
  if (*type == "ByteLevel")
    return readByteLevel(field);
  if (*type == "Split")
    return readSplit(field);
  if (*type == "Sequence")
    return readParts(field, depth);
  if (*type == "Digits") {
    absl::StatusOr<bool> individual =
        field.member("individual_digits").booleanOr(false);
    if (!individual.ok())
      return individual.status();
    return std::make_unique<CharacterSplit>(
        isNumeric, *individual ? Behavior::Isolated : Behavior::Contiguous);
  }
  if (*type == "Punctuation") {
    absl::StatusOr<Behavior> behavior =
        readBehavior(field.member("behavior"), Behavior::Isolated);
    if (!behavior.ok())
      return behavior.status();
    return std::make_unique<CharacterSplit>(isPunctuation, *behavior);
  }
  if (*type == "WhitespaceSplit")
    return std::make_unique<CharacterSplit>(isWhiteSpace, Behavior::Removed);
  if (*type == "Whitespace") {
    absl::StatusOr<Regex> regex =
        Regex::compile(R"(\w+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\s]+)");
    if (!regex.ok())
      return regex.status();
    return std::make_unique<Split>(Pattern(*std::move(regex)),
                                   Behavior::Removed, /*invert=*/true);
  }
  return absl::UnimplementedError(absl::StrCat(
      "field `", field.path(), ".type`: pre-tokenizer `", std::string(*type),
      "` isn't supported (ByteLevel, Split, Digits, Punctuation, Whitespace, "
      "WhitespaceSplit and "
      "Sequence are)"));
}

} // namespace sol::text
