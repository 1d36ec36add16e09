//===- added_tokens.cpp - tokens that are matched before any splitting ----===//
// A trie answers which token starts at a place; a table of first bytes skips
// nearly all places.
#include "runtime/text/tokenizer/added_tokens.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>

namespace sol::text {
namespace {

constexpr size_t maxContentBytes = 4096;

bool wordEndsAt(std::string_view text, size_t end) {
  if (end == 0)
    return false;
  size_t at = previousStart(text, end);
  return isWord(nextCodePoint(text, at));
}

bool wordStartsAt(std::string_view text, size_t at) {
  return at < text.size() && isWord(nextCodePoint(text, at));
}

size_t skipSpaceBackwards(std::string_view text, size_t at) {
  while (at > 0) {
    size_t start = previousStart(text, at), probe = start;
    if (!isWhiteSpace(nextCodePoint(text, probe)))
      break;
    at = start;
  }
  return at;
}

size_t skipSpace(std::string_view text, size_t at) {
  while (at < text.size()) {
    size_t probe = at;
    if (!isWhiteSpace(nextCodePoint(text, probe)))
      break;
    at = probe;
  }
  return at;
}

} // namespace

void TextSet::add(std::string_view text, int32_t value) {
  if (text.empty())
    return;
  starts[static_cast<unsigned char>(text[0])] = true;
  uint32_t node = 0;
  for (char byte : text) {
    uint64_t key =
        (static_cast<uint64_t>(node) << 8) | static_cast<unsigned char>(byte);
    auto [edge, isNew] =
        edges.try_emplace(key, static_cast<uint32_t>(values.size()));
    if (isNew)
      values.push_back(-1);
    node = edge->second;
  }
  if (values[node] < 0) // of two equal texts the first wins
    values[node] = value;
}

std::pair<size_t, int32_t> TextSet::longestAt(std::string_view text,
                                              size_t at) const {
  std::pair<size_t, int32_t> best{0, -1};
  uint32_t node = 0;
  for (size_t i = at; i < text.size(); ++i) {
    auto edge = edges.find((static_cast<uint64_t>(node) << 8) |
                           static_cast<unsigned char>(text[i]));
    if (edge == edges.end())
      break;
    node = edge->second;
    if (values[node] >= 0)
      best = {i + 1 - at, values[node]};
  }
  return best;
}

absl::StatusOr<AddedTokens::Token> AddedTokens::readToken(const Field &field) {
  if (absl::Status status = field.expectObject(); !status.ok())
    return status;
  Token token;
  absl::StatusOr<int64_t> id = field.member("id").integer(0, maxTokenId);
  if (!id.ok())
    return id.status();
  token.id = static_cast<int32_t>(*id);
  absl::StatusOr<std::string_view> content = field.member("content").string();
  if (!content.ok())
    return content.status();
  if (content->size() > maxContentBytes)
    return field.member("content").error(
        absl::StrCat("has ", content->size(), " bytes, at most ",
                     maxContentBytes, " are supported"));
  token.content = *content;
  absl::StatusOr<bool> special = field.member("special").booleanOr(false);
  if (!special.ok())
    return special.status();
  token.special = *special;
  const std::pair<const char *, bool *> flags[] = {
      {"single_word", &token.singleWord},
      {"lstrip", &token.lstrip},
      {"rstrip", &token.rstrip},
      {"normalized", &token.normalized}};
  for (auto [name, target] : flags) {
    bool fallback = std::string_view(name) == "normalized" && !token.special;
    absl::StatusOr<bool> flag = field.member(name).booleanOr(fallback);
    if (!flag.ok())
      return flag.status();
    *target = *flag;
  }
  return token;
}

absl::Status AddedTokens::place(Token token, const Field &field,
                                const Model &model,
                                const Normalizer *normalizer) {
  if (token.content.empty())
    return absl::OkStatus();
  Field idField = field.member("id");
  if (std::optional<int32_t> known = model.tokenToId(token.content);
      known && *known != token.id)
    return idField.error(absl::StrCat("is ", token.id,
                                      ", but the vocabulary has `",
                                      token.content, "` as ", *known));
  if (const std::string *taken = model.idToToken(token.id);
      taken && *taken != token.content)
    return idField.error(absl::StrCat(
        "is ", token.id, ", which the vocabulary gives to `", *taken, "`"));
  if (auto taken = byId.find(token.id); taken != byId.end())
    return idField.error(absl::StrCat("is ", token.id, ", which `",
                                      tokens[taken->second].content,
                                      "` already has"));
  if (byContent.contains(token.content))
    return field.member("content").error(
        absl::StrCat("repeats `", token.content, "`"));
  std::string match = token.content;
  if (token.normalized && normalizer)
    if (absl::Status status = normalizer->apply(match); !status.ok())
      return status;
  auto index = static_cast<int32_t>(tokens.size());
  (token.normalized ? normalizedSet : raw).add(match, index);
  byId[token.id] = tokens.size();
  byContent[token.content] = tokens.size();
  limit = std::max(limit, token.id + 1);
  tokens.push_back(std::move(token));
  return absl::OkStatus();
}

absl::StatusOr<AddedTokens> AddedTokens::read(const Field &list,
                                              const Model &model,
                                              const Normalizer *normalizer) {
  AddedTokens added;
  if (list.isNull())
    return added;
  if (absl::Status status = list.expectArray(); !status.ok())
    return status;
  for (size_t i = 0; i < list.size(); ++i) {
    absl::StatusOr<Token> token = readToken(list.element(i));
    if (!token.ok())
      return token.status();
    if (absl::Status status =
            added.place(*std::move(token), list.element(i), model, normalizer);
        !status.ok())
      return status;
  }
  return added;
}

void AddedTokens::cut(std::string_view text, const TextSet &set,
                      std::vector<Piece> &pieces) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    if (!set.mayStartWith(text[at])) {
      ++at;
      continue;
    }
    auto [length, index] = set.longestAt(text, at);
    if (length == 0) {
      ++at;
      continue;
    }
    const Token &token = tokens[index];
    size_t begin = at, end = at + length;
    at = end;
    if (token.singleWord &&
        (wordEndsAt(text, begin) || wordStartsAt(text, end)))
      continue;
    if (token.lstrip)
      begin = std::max(skipSpaceBackwards(text, begin), done);
    if (token.rstrip)
      end = skipSpace(text, end);
    if (done < begin)
      pieces.push_back({std::string(text.substr(done, begin - done)), -1});
    pieces.push_back({std::string(), token.id});
    done = end;
  }
  if (done < text.size())
    pieces.push_back({std::string(text.substr(done)), -1});
}

absl::Status AddedTokens::split(std::string_view text,
                                const Normalizer *normalizer,
                                std::vector<Piece> &pieces) const {
  std::vector<Piece> first;
  cut(text, raw, first);
  for (Piece &piece : first) {
    if (piece.id >= 0) {
      pieces.push_back(std::move(piece));
      continue;
    }
    if (normalizer)
      if (absl::Status status = normalizer->apply(piece.text); !status.ok())
        return status;
    cut(piece.text, normalizedSet, pieces);
  }
  return absl::OkStatus();
}

const std::string *AddedTokens::idToToken(int32_t id) const {
  auto found = byId.find(id);
  return found == byId.end() ? nullptr : &tokens[found->second].content;
}

std::optional<int32_t> AddedTokens::tokenToId(std::string_view token) const {
  auto found = byContent.find(absl::string_view(token.data(), token.size()));
  if (found == byContent.end())
    return std::nullopt;
  return tokens[found->second].id;
}

bool AddedTokens::isSpecial(int32_t id) const {
  auto found = byId.find(id);
  return found != byId.end() && tokens[found->second].special;
}

} // namespace sol::text
