//===- vocabulary.cpp - the model part of a tokenizer ---------------------===//
// The one place that knows which kinds of models there are.
#include "runtime/text/tokenizer/vocabulary.h"

#include "absl/strings/str_cat.h"

namespace sol::text {

absl::StatusOr<std::unique_ptr<Model>> readModel(const Field &field) {
  if (absl::Status status = field.expectObject(); !status.ok())
    return status;
  Field typeField = field.member("type");
  if (typeField.isNull() &&
      !field.member("merges").isNull()) // files older than the `type` field
    return readBpe(field);
  absl::StatusOr<std::string_view> type = typeField.string();
  if (!type.ok())
    return type.status();
  if (*type == "BPE")
    return readBpe(field);
  return absl::UnimplementedError(
      absl::StrCat("field `", typeField.path(), "`: tokenizer model `",
                   std::string(*type), "` isn't supported (BPE is)"));
}

} // namespace sol::text
