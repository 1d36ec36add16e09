//===- post_processor.h - the tokens around a text ------------------------===//
// The `post_processor` part of tokenizer.json, for a single sequence: which ids
// go before and after it.
#pragma once

#include "runtime/text/json_fields.h"
#include <vector>

namespace sol::text {

/// What is added around the ids of a text, in the order it is applied. A copy
/// of the text may appear more than once.
class PostProcessor {
public:
  /// Reads the field; null adds nothing.
  static absl::StatusOr<PostProcessor> read(const Field &field);
  /// Applies all steps to `ids`.
  void apply(std::vector<int32_t> &ids) const;

private:
  /// A part of a template: the ids so far, or fixed ids.
  struct Part {
    bool isText;
    std::vector<int32_t> ids;
  };
  absl::Status readInto(const Field &field, int depth);
  absl::Status readTemplate(const Field &field);
  absl::Status readPair(const Field &field);

  std::vector<std::vector<Part>> steps;
};

} // namespace sol::text
