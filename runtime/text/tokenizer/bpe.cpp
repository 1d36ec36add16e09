//===- bpe.cpp - byte-pair encoding ---------------------------------------===//
// A word starts as one symbol per character; the pair with the lowest rank (the
// leftmost of equals) merges until no pair has a rank. A heap of candidate
// pairs over a linked list of symbols makes that n log n in the word's length.
#include "runtime/text/tokenizer/vocabulary.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>
#include <cstdio>
#include <queue>

namespace sol::text {
namespace {

struct Merge {
  int32_t rank;
  int32_t result;
};

uint64_t pairKey(int32_t left, int32_t right) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) |
         static_cast<uint32_t>(right);
}

struct Symbol {
  int32_t id;
  int32_t previous, next; // indices, -1 at the ends
  bool alive;
};

struct Candidate {
  int32_t rank;
  int32_t position;
  int32_t result;
  bool operator>(const Candidate &other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

class Bpe : public Model {
public:
  absl::Status read(const Field &field);
  void encodeWord(std::string_view word,
                  std::vector<int32_t> &ids) const override;

  std::optional<int32_t> tokenToId(std::string_view token) const override {
    auto found = idOf.find(absl::string_view(token.data(), token.size()));
    if (found == idOf.end())
      return std::nullopt;
    return found->second;
  }
  const std::string *idToToken(int32_t id) const override {
    if (id < 0 || static_cast<size_t>(id) >= tokenOf.size())
      return nullptr;
    return tokenOf[id];
  }
  int32_t idLimit() const override {
    return static_cast<int32_t>(tokenOf.size());
  }

private:
  absl::Status readOptions(const Field &field);
  absl::Status readVocabulary(const Field &vocabulary);
  absl::Status readMerges(const Field &merges);
  absl::Status addMerge(const Field &field, std::string_view left,
                        std::string_view right, size_t rank);
  bool bytesOf(std::string_view symbol, std::vector<int32_t> &ids) const;
  void firstSymbols(std::string_view word, std::vector<int32_t> &ids) const;
  void mergeAll(std::vector<int32_t> &ids) const;

  absl::flat_hash_map<std::string, int32_t> idOf;
  std::vector<const std::string *> tokenOf; // null where no token has the id
  std::vector<std::string> ownedTokens;
  absl::flat_hash_map<uint64_t, Merge> merges;
  std::string continuingPrefix, endSuffix;
  std::optional<int32_t> unknownId;
  std::vector<int32_t>
      byteIds; // of <0x00> to <0xFF>, empty without byte fallback
  bool fuseUnknown = false, ignoreMerges = false;
};

absl::Status Bpe::read(const Field &field) {
  if (absl::Status status = readVocabulary(field.member("vocab")); !status.ok())
    return status;
  if (absl::Status status = readOptions(field); !status.ok())
    return status;
  return readMerges(field.member("merges"));
}

absl::Status Bpe::readVocabulary(const Field &vocabulary) {
  if (absl::Status status = vocabulary.expectObject(); !status.ok())
    return status;
  int64_t greatest = -1;
  for (const auto &[token, id] : vocabulary.json().items()) {
    absl::StatusOr<int64_t> number =
        Field(id, absl::StrCat(vocabulary.path(), "[\"", token, "\"]"))
            .integer(0, maxTokenId);
    if (!number.ok())
      return number.status();
    greatest = std::max(greatest, *number);
  }
  ownedTokens.reserve(vocabulary.size());
  tokenOf.assign(static_cast<size_t>(greatest + 1), nullptr);
  idOf.reserve(vocabulary.size());
  for (const auto &[token, id] : vocabulary.json().items()) {
    auto number = static_cast<int32_t>(id.get<int64_t>());
    ownedTokens.push_back(token);
    if (tokenOf[number])
      return vocabulary.error(absl::StrCat("gives id ", number, " to both `",
                                           *tokenOf[number], "` and `", token,
                                           "`"));
    tokenOf[number] = &ownedTokens.back();
    idOf.emplace(token, number);
  }
  return absl::OkStatus();
}

absl::Status Bpe::readOptions(const Field &field) {
  Field dropout = field.member("dropout");
  if (!dropout.isNull()) {
    absl::StatusOr<double> rate = dropout.number();
    if (!rate.ok())
      return rate.status();
    if (*rate != 0)
      return absl::UnimplementedError(
          absl::StrCat("field `", dropout.path(), "` is ", *rate,
                       ", random merges aren't supported: set it to null"));
  }
  absl::StatusOr<std::string_view> prefix =
      field.member("continuing_subword_prefix").stringOr("");
  absl::StatusOr<std::string_view> suffix =
      field.member("end_of_word_suffix").stringOr("");
  if (!prefix.ok() || !suffix.ok())
    return prefix.ok() ? suffix.status() : prefix.status();
  continuingPrefix = *prefix;
  endSuffix = *suffix;
  absl::StatusOr<bool> fuse = field.member("fuse_unk").booleanOr(false);
  absl::StatusOr<bool> ignore = field.member("ignore_merges").booleanOr(false);
  absl::StatusOr<bool> fallback =
      field.member("byte_fallback").booleanOr(false);
  for (const auto *flag : {&fuse, &ignore, &fallback})
    if (!flag->ok())
      return flag->status();
  fuseUnknown = *fuse;
  ignoreMerges = *ignore;
  if (*fallback)
    for (int byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof(name), "<0x%02X>", byte);
      byteIds.push_back(tokenToId(name).value_or(-1));
    }
  Field unknown = field.member("unk_token");
  if (!unknown.isNull()) {
    absl::StatusOr<std::string_view> token = unknown.string();
    if (!token.ok())
      return token.status();
    unknownId = tokenToId(*token);
    if (!unknownId)
      return unknown.error(absl::StrCat("is `", std::string(*token),
                                        "`, which isn't in the vocabulary"));
  }
  return absl::OkStatus();
}

absl::Status Bpe::readMerges(const Field &list) {
  if (absl::Status status = list.expectArray(); !status.ok())
    return status;
  merges.reserve(list.size());
  size_t rank = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    Field entry = list.element(i);
    std::string_view left, right;
    if (entry.isString()) {
      std::string_view text = *entry.string();
      if (text.starts_with("#version"))
        continue;
      size_t space = text.find(' ');
      if (space == std::string_view::npos ||
          text.find(' ', space + 1) != std::string_view::npos)
        return entry.error(absl::StrCat(
            "is `", std::string(text), "`, expected two tokens and one space"));
      left = text.substr(0, space);
      right = text.substr(space + 1);
    } else {
      if (!entry.isArray() || entry.size() != 2 ||
          !entry.element(0).isString() || !entry.element(1).isString())
        return entry.error("is neither a string nor a pair of strings");
      left = *entry.element(0).string();
      right = *entry.element(1).string();
    }
    if (absl::Status status = addMerge(entry, left, right, rank++);
        !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status Bpe::addMerge(const Field &field, std::string_view left,
                           std::string_view right, size_t rank) {
  std::string result(left);
  result.append(right.starts_with(continuingPrefix)
                    ? right.substr(continuingPrefix.size())
                    : right);
  std::optional<int32_t> leftId = tokenToId(left), rightId = tokenToId(right),
                         resultId = tokenToId(result);
  if (!leftId || !rightId || !resultId)
    return field.error(absl::StrCat("needs the token `",
                                    !leftId    ? std::string(left)
                                    : !rightId ? std::string(right)
                                               : result,
                                    "`, which isn't in the vocabulary"));
  merges[pairKey(*leftId, *rightId)] = {static_cast<int32_t>(rank), *resultId};
  return absl::OkStatus();
}

// The ids of the bytes of `symbol`; false unless every byte has one.
bool Bpe::bytesOf(std::string_view symbol, std::vector<int32_t> &ids) const {
  if (byteIds.empty())
    return false;
  for (char byte : symbol)
    if (byteIds[static_cast<unsigned char>(byte)] < 0)
      return false;
  for (char byte : symbol)
    ids.push_back(byteIds[static_cast<unsigned char>(byte)]);
  return true;
}

// An unknown character waits until the next known one, so that neighbours can
// become one unknown token; bytes that stand for an unknown character do not
// end that wait, as in the reference.
void Bpe::firstSymbols(std::string_view word, std::vector<int32_t> &ids) const {
  bool unknownWaits = false;
  std::string symbol;
  for (size_t at = 0; at < word.size();) {
    size_t begin = at;
    nextCodePoint(word, at);
    symbol.assign(begin > 0 ? continuingPrefix : std::string());
    symbol.append(word.substr(begin, at - begin));
    if (at == word.size())
      symbol.append(endSuffix);
    if (std::optional<int32_t> id = tokenToId(symbol)) {
      if (unknownWaits)
        ids.push_back(*unknownId);
      unknownWaits = false;
      ids.push_back(*id);
    } else if (!bytesOf(symbol, ids) && unknownId) {
      if (unknownWaits && !fuseUnknown)
        ids.push_back(*unknownId);
      unknownWaits = true;
    }
  }
  if (unknownWaits)
    ids.push_back(*unknownId);
}

void Bpe::mergeAll(std::vector<int32_t> &ids) const {
  std::vector<Symbol> symbols(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    symbols[i] = {ids[i], static_cast<int32_t>(i) - 1,
                  i + 1 < ids.size() ? static_cast<int32_t>(i) + 1 : -1, true};
  std::vector<Candidate> storage;
  storage.reserve(ids.size());
  std::priority_queue<Candidate, std::vector<Candidate>,
                      std::greater<Candidate>>
      queue(std::greater<Candidate>(), std::move(storage));
  auto consider = [&](int32_t left) {
    if (left < 0 || symbols[left].next < 0)
      return;
    auto found =
        merges.find(pairKey(symbols[left].id, symbols[symbols[left].next].id));
    if (found != merges.end())
      queue.push({found->second.rank, left, found->second.result});
  };
  for (size_t i = 0; i + 1 < ids.size(); ++i)
    consider(static_cast<int32_t>(i));
  while (!queue.empty()) {
    Candidate best = queue.top();
    queue.pop();
    Symbol &left = symbols[best.position];
    if (!left.alive || left.next < 0)
      continue;
    Symbol &right = symbols[left.next];
    auto found = merges.find(pairKey(left.id, right.id));
    if (found == merges.end() || found->second.result != best.result)
      continue; // one side has merged with another neighbour since
    left.id = best.result;
    left.next = right.next;
    right.alive = false;
    if (left.next >= 0)
      symbols[left.next].previous = best.position;
    consider(left.previous);
    consider(best.position);
  }
  ids.clear();
  for (const Symbol &symbol : symbols)
    if (symbol.alive)
      ids.push_back(symbol.id);
}

void Bpe::encodeWord(std::string_view word, std::vector<int32_t> &ids) const {
  if (ignoreMerges)
    if (std::optional<int32_t> whole = tokenToId(word)) {
      ids.push_back(*whole);
      return;
    }
  std::vector<int32_t> own;
  firstSymbols(word, own);
  mergeAll(own);
  ids.insert(ids.end(), own.begin(), own.end());
}

} // namespace

absl::StatusOr<std::unique_ptr<Model>> readBpe(const Field &field) {
  auto model = std::make_unique<Bpe>();
  if (absl::Status status = model->read(field); !status.ok())
    return status;
  return model;
}

} // namespace sol::text
