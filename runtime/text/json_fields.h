//===- json_fields.h - reading fields of JSON with errors that name them --===//
// The settings files beside a model come from anywhere, so every access says
// what it expects and the error says where it wasn't so. No function here
// throws, and none recurses.
#pragma once

#include "absl/status/statusor.h"
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sol::text {

/// A JSON value and the way to it, such as `model.merges[3]`. The JSON must
/// outlive the field.
class Field {
public:
  Field(const nlohmann::json &json, std::string path)
      : value(&json), way(std::move(path)) {}

  const nlohmann::json &json() const { return *value; }
  const std::string &path() const { return way; }

  /// Member `name`, or a null field where it is missing or this is no object.
  Field member(std::string_view name) const;
  /// Element `index` of an array; `index` must be below its size.
  Field element(size_t index) const;

  bool isNull() const { return value->is_null(); }
  bool isObject() const { return value->is_object(); }
  bool isArray() const { return value->is_array(); }
  bool isString() const { return value->is_string(); }
  size_t size() const { return value->size(); }

  /// The value as the type named; an error that names the field where it is
  /// another or missing.
  absl::StatusOr<std::string_view> string() const;
  absl::StatusOr<bool> boolean() const;
  absl::StatusOr<int64_t> integer(int64_t low, int64_t high) const;
  absl::StatusOr<double> number() const;
  /// OK if this is an array (object).
  absl::Status expectArray() const;
  absl::Status expectObject() const;

  /// As above, with a value for a missing or null field.
  absl::StatusOr<std::string_view> stringOr(std::string_view fallback) const;
  absl::StatusOr<bool> booleanOr(bool fallback) const;

  /// InvalidArgument: "field `path` " + `what`.
  absl::Status error(std::string_view what) const;

private:
  absl::Status wrongType(std::string_view expected) const;

  const nlohmann::json *value;
  std::string way;
};

/// Parses `text`; the error names `what`. Refuses more than 512 MiB.
absl::StatusOr<nlohmann::json> parseJson(std::string_view text,
                                         std::string_view what);

} // namespace sol::text
