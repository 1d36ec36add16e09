//===- sequence.h - parts of a tokenizer that are lists of parts ----------===//
//
// Normalizers, pre-tokenizers, decoders and post-processors all have a
// `Sequence`, whose elements may be sequences again.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_TEXT_TOKENIZER_SEQUENCE_H
#define SOL_RUNTIME_TEXT_TOKENIZER_SEQUENCE_H

#include "runtime/text/json_fields.h"
#include "runtime/text/unicode/pattern.h"

#include "absl/functional/function_ref.h"

namespace sol::text {

/// Calls `read` for each element of the array `list` of `field`, a sequence
/// inside `depth` others. Ends with the first error; nesting beyond
/// `maxNesting` is one.
inline absl::Status
readSequence(const Field &field, const char *list, int depth,
             absl::FunctionRef<absl::Status(const Field &)> read) {
  if (depth >= maxNesting)
    return field.error("nests too deeply");
  Field elements = field.member(list);
  if (absl::Status status = elements.expectArray(); !status.ok())
    return status;
  for (size_t i = 0; i < elements.size(); ++i)
    if (absl::Status status = read(elements.element(i)); !status.ok())
      return status;
  return absl::OkStatus();
}

} // namespace sol::text

#endif // SOL_RUNTIME_TEXT_TOKENIZER_SEQUENCE_H
