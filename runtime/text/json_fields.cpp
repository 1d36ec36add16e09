//===- json_fields.cpp - reading fields of JSON with errors that name them ===//
// Typed access goes through pointers, which are null for another type, so
// nothing here can throw.
#include "runtime/text/json_fields.h"

#include "absl/strings/str_cat.h"

namespace sol::text {
namespace {

using nlohmann::json;
constexpr size_t maxJsonBytes = size_t{512} << 20;

const json &nullJson() {
  static const json null;
  return null;
}

absl::string_view view(std::string_view text) {
  return {text.data(), text.size()};
}

} // namespace

Field Field::member(std::string_view name) const {
  std::string path =
      way.empty() ? std::string(name) : absl::StrCat(way, ".", view(name));
  if (!value->is_object())
    return {nullJson(), std::move(path)};
  auto found = value->find(std::string(name));
  return {found == value->end() ? nullJson() : *found, std::move(path)};
}

Field Field::element(size_t index) const {
  return {(*value)[index], absl::StrCat(way, "[", index, "]")};
}

absl::Status Field::error(std::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat("field `", way, "` ", view(what)));
}

absl::Status Field::wrongType(std::string_view expected) const {
  if (value->is_null())
    return error(absl::StrCat("is missing, expected ", view(expected)));
  return error(absl::StrCat("is of type ", value->type_name(), ", expected ",
                            view(expected)));
}

absl::StatusOr<std::string_view> Field::string() const {
  if (auto *text = value->get_ptr<const json::string_t *>())
    return std::string_view(*text);
  return wrongType("a string");
}

absl::StatusOr<bool> Field::boolean() const {
  if (auto *flag = value->get_ptr<const json::boolean_t *>())
    return *flag;
  return wrongType("true or false");
}

absl::StatusOr<int64_t> Field::integer(int64_t low, int64_t high) const {
  int64_t number = 0;
  if (auto *positive = value->get_ptr<const json::number_unsigned_t *>()) {
    if (*positive > static_cast<uint64_t>(INT64_MAX))
      return error(
          absl::StrCat("is ", *positive, ", at most ", high, " is allowed"));
    number = static_cast<int64_t>(*positive);
  } else if (auto *any = value->get_ptr<const json::number_integer_t *>()) {
    number = *any;
  } else {
    return wrongType("an integer");
  }
  if (number < low || number > high)
    return error(absl::StrCat("is ", number, ", expected ", low, " to ", high));
  return number;
}

absl::StatusOr<double> Field::number() const {
  if (auto *real = value->get_ptr<const json::number_float_t *>())
    return *real;
  if (auto *positive = value->get_ptr<const json::number_unsigned_t *>())
    return static_cast<double>(*positive);
  if (auto *any = value->get_ptr<const json::number_integer_t *>())
    return static_cast<double>(*any);
  return wrongType("a number");
}

absl::Status Field::expectArray() const {
  return value->is_array() ? absl::OkStatus() : wrongType("an array");
}
absl::Status Field::expectObject() const {
  return value->is_object() ? absl::OkStatus() : wrongType("an object");
}

absl::StatusOr<std::string_view>
Field::stringOr(std::string_view fallback) const {
  if (isNull())
    return fallback;
  return string();
}

absl::StatusOr<bool> Field::booleanOr(bool fallback) const {
  if (isNull())
    return fallback;
  return boolean();
}

absl::StatusOr<json> parseJson(std::string_view text, std::string_view what) {
  if (text.size() > maxJsonBytes)
    return absl::InvalidArgumentError(
        absl::StrCat(view(what), " has ", text.size(), " bytes, at most ",
                     maxJsonBytes, " are supported"));
  json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded())
    return absl::InvalidArgumentError(
        absl::StrCat(view(what), " isn't valid JSON"));
  return parsed;
}

} // namespace sol::text
