//===- json_file.cpp - reads the machine's JSON files strictly -----------===//
//
// See json_file.h. Never throws: the parser is asked not to, and every access
// is checked.
//
//===----------------------------------------------------------------------===//
#include "machine/target/json_file.h"

#include "absl/strings/str_cat.h"

#include <fstream>
#include <iterator>

namespace sol {
namespace {

using nlohmann::ordered_json;

const ordered_json nothing;

/// Refuses a second member of the same name, which the parser would take.
class DuplicateCheck {
public:
  bool operator()(int depth, ordered_json::parse_event_t event,
                  const ordered_json &parsed) {
    if (event == ordered_json::parse_event_t::object_start) {
      names.emplace_back();
    } else if (event == ordered_json::parse_event_t::object_end) {
      names.pop_back();
    } else if (event == ordered_json::parse_event_t::key) {
      std::string name = parsed.get<std::string>();
      if (!names.back().insert(name).second && duplicate.empty())
        duplicate = name;
    }
    return true;
  }
  std::string duplicate;

private:
  std::vector<std::set<std::string>> names;
};

} // namespace

absl::StatusOr<ordered_json> readJsonFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (!stream.is_open() || stream.bad())
    return absl::NotFoundError(absl::StrCat(path, ": can't be read"));
  // A file of that size is no description of a machine, and nesting is what a
  // parser stumbles over.
  if (text.size() > (64u << 20))
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": has ", text.size(), " bytes, at most 64 MiB are read"));
  DuplicateCheck check;
  ordered_json value = ordered_json::parse(
      text,
      [&](int depth, ordered_json::parse_event_t event, ordered_json &parsed) {
        return check(depth, event, parsed);
      },
      /*allow_exceptions=*/false);
  if (value.is_discarded())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": isn't valid JSON: check it with `python3 -m "
                           "json.tool`"));
  if (!check.duplicate.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": field `", check.duplicate, "`: is there twice: keep one"));
  if (!value.is_object())
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": holds a JSON ", value.type_name(), ", must be an object"));
  return value;
}

JsonObject::JsonObject(const std::string &file, std::string field,
                       const ordered_json &value)
    : file(file), field(std::move(field)), value(value) {
  if (!value.is_object())
    problem = absl::InvalidArgumentError(absl::StrCat(
        file, ": field `", this->field, "`: ",
        value.is_null()
            ? "is missing"
            : absl::StrCat("is ", value.dump(), ", must be an object")));
}

std::string JsonObject::fieldOf(std::string_view name) const {
  return field.empty() ? std::string(name)
                       : absl::StrCat(field, ".", std::string(name));
}

void JsonObject::fail(std::string_view name, std::string_view text) {
  if (problem.ok())
    problem = absl::InvalidArgumentError(absl::StrCat(
        file, ": field `", fieldOf(name), "`: ", std::string(text)));
}

bool JsonObject::has(std::string_view name) const {
  return value.is_object() && value.contains(std::string(name));
}

const ordered_json &JsonObject::member(std::string_view name) {
  asked.emplace(name);
  if (has(name))
    return value[std::string(name)];
  fail(name, "is missing");
  return nothing;
}

std::string JsonObject::text(std::string_view name) {
  const ordered_json &item = member(name);
  if (problem.ok() && (!item.is_string() || item.get<std::string>().empty()))
    fail(name, absl::StrCat("is ", item.dump(), ", must be a text"));
  return item.is_string() ? item.get<std::string>() : "";
}

double JsonObject::number(std::string_view name) {
  const ordered_json &item = member(name);
  if (problem.ok() && !item.is_number())
    fail(name, absl::StrCat("is ", item.dump(), ", must be a number"));
  return item.is_number() ? item.get<double>() : 0;
}

int64_t JsonObject::integer(std::string_view name, int64_t least,
                            int64_t most) {
  double number = this->number(name);
  if (problem.ok() &&
      !(number >= static_cast<double>(least) &&
        number <= static_cast<double>(most) &&
        number == static_cast<double>(static_cast<int64_t>(number))))
    fail(name,
         absl::StrCat("is ", member(name).dump(),
                      ", must be a whole number from ", least, " to ", most));
  return problem.ok() ? static_cast<int64_t>(number) : least;
}

JsonObject JsonObject::object(std::string_view name) {
  asked.emplace(name);
  return JsonObject(file, fieldOf(name),
                    has(name) ? value[std::string(name)] : nothing);
}

absl::Status JsonObject::status() const {
  if (!problem.ok())
    return problem;
  std::string known;
  for (const std::string &name : asked)
    absl::StrAppend(&known, known.empty() ? "" : ", ", name);
  for (const auto &[name, item] : value.items())
    if (!asked.contains(name))
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": field `", fieldOf(name),
                       "`: isn't known: what stands here is ", known));
  return absl::OkStatus();
}

} // namespace sol
