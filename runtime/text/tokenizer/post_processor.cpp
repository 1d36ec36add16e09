//===- post_processor.cpp - the tokens around a text ----------------------===//
// Offsets and type ids are of no use here, so every kind reduces to fixed ids
// around the text's own.
#include "runtime/text/tokenizer/post_processor.h"
#include "runtime/text/tokenizer/sequence.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/tokenizer/vocabulary.h"
#include "runtime/text/unicode/pattern.h"

namespace sol::text {
namespace {

// More copies than this in nested templates would only grow without bound.
constexpr size_t maxCopiesOfText = 4;
constexpr size_t maxParts = 256;

} // namespace

absl::StatusOr<PostProcessor> PostProcessor::read(const Field &field) {
  PostProcessor made;
  if (absl::Status status = made.readInto(field, 0); !status.ok())
    return status;
  return made;
}

absl::Status PostProcessor::readInto(const Field &field, int depth) {
  if (field.isNull())
    return absl::OkStatus();
  absl::StatusOr<std::string_view> type = field.member("type").string();
  if (!type.ok())
    return type.status();
  if (*type == "ByteLevel") // only trims offsets
    return absl::OkStatus();
  if (*type == "TemplateProcessing")
    return readTemplate(field);
  if (*type == "RobertaProcessing" || *type == "BertProcessing")
    return readPair(field);
  if (*type == "Sequence") {
    absl::Status status =
        readSequence(field, "processors", depth, [&](const Field &element) {
          return readInto(element, depth + 1);
        });
    if (!status.ok())
      return status;
    if (steps.size() > maxParts)
      return field.error(absl::StrCat("has more than ", maxParts, " steps"));
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      "field `", field.path(), ".type`: post-processor `", std::string(*type),
      "` isn't supported (TemplateProcessing, ByteLevel, RobertaProcessing, "
      "BertProcessing and Sequence are)"));
}

absl::Status PostProcessor::readTemplate(const Field &field) {
  Field single = field.member("single");
  if (absl::Status status = single.expectArray(); !status.ok())
    return status;
  if (single.size() > maxParts)
    return single.error(absl::StrCat("has more than ", maxParts, " parts"));
  std::vector<Part> parts;
  size_t copies = 0;
  for (size_t i = 0; i < single.size(); ++i) {
    Field part = single.element(i);
    if (Field sequence = part.member("Sequence"); sequence.isObject()) {
      if (++copies > maxCopiesOfText || steps.size() + 1 > maxParts)
        return part.error("repeats the text too often");
      parts.push_back({true, {}});
      continue;
    }
    absl::StatusOr<std::string_view> name =
        part.member("SpecialToken").member("id").string();
    if (!name.ok())
      return name.status();
    Field ids = field.member("special_tokens").member(*name).member("ids");
    if (absl::Status status = ids.expectArray(); !status.ok())
      return status;
    Part fixed{false, {}};
    for (size_t k = 0; k < ids.size(); ++k) {
      absl::StatusOr<int64_t> id = ids.element(k).integer(0, maxTokenId);
      if (!id.ok())
        return id.status();
      fixed.ids.push_back(static_cast<int32_t>(*id));
    }
    parts.push_back(std::move(fixed));
  }
  if (copies != 1 && !steps.empty())
    return single.error(
        "repeats or drops the text behind another post-processor");
  steps.push_back(std::move(parts));
  return absl::OkStatus();
}

absl::Status PostProcessor::readPair(const Field &field) {
  std::vector<Part> parts{{false, {}}, {true, {}}, {false, {}}};
  const std::pair<const char *, size_t> ends[] = {{"cls", 0}, {"sep", 2}};
  for (auto [name, index] : ends) {
    Field pair = field.member(name);
    if (!pair.isArray() || pair.size() != 2)
      return pair.error("isn't a pair of a token and its id");
    absl::StatusOr<int64_t> id = pair.element(1).integer(0, maxTokenId);
    if (!id.ok())
      return id.status();
    parts[index].ids.push_back(static_cast<int32_t>(*id));
  }
  steps.push_back(std::move(parts));
  return absl::OkStatus();
}

void PostProcessor::apply(std::vector<int32_t> &ids) const {
  for (const std::vector<Part> &parts : steps) {
    std::vector<int32_t> out;
    out.reserve(ids.size() + 2);
    for (const Part &part : parts) {
      const std::vector<int32_t> &source = part.isText ? ids : part.ids;
      out.insert(out.end(), source.begin(), source.end());
    }
    ids = std::move(out);
  }
}

} // namespace sol::text
