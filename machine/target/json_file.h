//===- json_file.h - reads the machine's JSON files strictly -------------===//
//
// Reading a JSON object member by member, so that what nobody asked for, what
// is missing and what has another type is an error that names file and field.
// Knows nothing of targets.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_TARGET_JSON_FILE_H
#define SOL_MACHINE_TARGET_JSON_FILE_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <string_view>

namespace sol {

/// Parses a file: NotFound if it can't be read, InvalidArgument with the byte
/// if it is no JSON, or if an object has a member twice.
absl::StatusOr<nlohmann::ordered_json> readJsonFile(const std::string &path);

/// One object of a file. The first problem sticks; readers go on with
/// defaults and ask for status() at the end.
class JsonObject {
public:
  /// `field` is where the object stands in the file, empty for the whole.
  JsonObject(const std::string &file, std::string field,
             const nlohmann::ordered_json &value);

  bool isObject() const { return value.is_object(); }
  bool has(std::string_view name) const;
  /// A member as it is; null and a problem if it is missing.
  const nlohmann::ordered_json &member(std::string_view name);
  /// A text that is not empty.
  std::string text(std::string_view name);
  double number(std::string_view name);
  int64_t integer(std::string_view name, int64_t least, int64_t most);
  /// An object within this one; its problems, being absent among them, are told
  /// by its own status().
  JsonObject object(std::string_view name);

  /// Records a problem of member `name`.
  void fail(std::string_view name, std::string_view problem);
  /// The first problem, or one about members that were never asked for.
  absl::Status status() const;
  /// `group.name`.
  std::string fieldOf(std::string_view name) const;

private:
  const std::string &file;
  std::string field;
  const nlohmann::ordered_json &value;
  std::set<std::string, std::less<>> asked;
  absl::Status problem;
};

} // namespace sol

#endif // SOL_MACHINE_TARGET_JSON_FILE_H
