//===- attributes.cpp - typed access to a step's parameters ---------------===//
//
// See attributes.h. A value of another kind than asked for is an error that
// names the attribute and both kinds.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/attributes.h"

#include "absl/strings/str_cat.h"

namespace sol {

namespace {
std::string_view kindName(const AttributeValue &value) {
  static constexpr std::string_view names[] = {
      "an integer",         "a float",          "a string",
      "a list of integers", "a list of floats", "a list of strings"};
  return value.valueless_by_exception() ? "nothing" : names[value.index()];
}

absl::Status wrongKind(std::string_view name, const AttributeValue &value,
                       std::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute `", std::string(name), "` is ", std::string(kindName(value)),
      ", expected ", std::string(wanted)));
}

const AttributeValue *
find(const std::map<std::string, AttributeValue, std::less<>> &values,
     std::string_view name) {
  auto it = values.find(name);
  return it == values.end() ? nullptr : &it->second;
}
} // namespace

absl::StatusOr<int64_t> Attributes::integer(std::string_view name,
                                            int64_t fallback) const {
  const AttributeValue *value = find(values, name);
  if (!value)
    return fallback;
  if (const auto *number = std::get_if<int64_t>(value))
    return *number;
  return wrongKind(name, *value, "an integer");
}

absl::StatusOr<float> Attributes::real(std::string_view name,
                                       float fallback) const {
  const AttributeValue *value = find(values, name);
  if (!value)
    return fallback;
  if (const auto *number = std::get_if<float>(value))
    return *number;
  return wrongKind(name, *value, "a float");
}

absl::StatusOr<std::string> Attributes::text(std::string_view name,
                                             std::string_view fallback) const {
  const AttributeValue *value = find(values, name);
  if (!value)
    return std::string(fallback);
  if (const auto *text = std::get_if<std::string>(value))
    return *text;
  return wrongKind(name, *value, "a string");
}

absl::StatusOr<absl::Span<const int64_t>>
Attributes::integers(std::string_view name) const {
  const AttributeValue *value = find(values, name);
  if (!value)
    return absl::Span<const int64_t>();
  if (const auto *list = std::get_if<std::vector<int64_t>>(value))
    return absl::Span<const int64_t>(*list);
  return wrongKind(name, *value, "a list of integers");
}

absl::StatusOr<absl::Span<const float>>
Attributes::reals(std::string_view name) const {
  const AttributeValue *value = find(values, name);
  if (!value)
    return absl::Span<const float>();
  if (const auto *list = std::get_if<std::vector<float>>(value))
    return absl::Span<const float>(*list);
  return wrongKind(name, *value, "a list of floats");
}

} // namespace sol
