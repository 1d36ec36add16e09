//===- target_file.cpp - reads target files ------------------------------===//
//
// A file is an object of groups of constants, or names a target that it is
// based on and says only what differs (docs/targets.md).
//
//===----------------------------------------------------------------------===//
#include "machine/target/json_file.h"
#include "machine/target/target_fields.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

namespace sol {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int64_t schemaVersion = 1;
/// A base may have a base; more than this many are a circle or a mistake.
constexpr int mostBases = 8;

/// Which of the three the file says; a problem otherwise.
Certainty readCertainty(JsonObject &object) {
  std::string text = object.text("certainty");
  for (Certainty item : {Certainty::Sure, Certainty::Likely, Certainty::Free})
    if (text == certaintyName(item))
      return item;
  object.fail("certainty",
              absl::StrCat("is \"", text, "\", must be sure, likely or free"));
  return Certainty::Free;
}

/// Reads one constant's object.
absl::Status readConstant(JsonObject object, const TargetField &field,
                          TargetConstant &constant) {
  constant.path = field.path;
  constant.unit = object.text("unit");
  constant.value = constant.low = constant.high = object.number("value");
  constant.certainty = readCertainty(object);
  constant.source = object.text("source");
  if (object.has("low") || object.has("high") ||
      constant.certainty == Certainty::Free) {
    constant.low = object.number("low");
    constant.high = object.number("high");
  }
  if (constant.unit != field.unit)
    object.fail("unit", absl::StrCat("is \"", constant.unit, "\", must be \"",
                                     field.unit, "\""));
  for (auto [name, value] : {std::pair{"value", constant.value},
                             {"low", constant.low},
                             {"high", constant.high}}) {
    std::string problem = fieldProblem(field, value);
    if (!problem.empty())
      object.fail(name, problem);
  }
  if (constant.value < constant.low || constant.value > constant.high)
    object.fail("value",
                absl::StrCat("is ", constant.value, ", outside its range of ",
                             constant.low, " to ", constant.high));
  return object.status();
}

class TargetReader {
public:
  absl::StatusOr<Target> read(const std::string &path, int depth);

private:
  absl::Status readBase(JsonObject &top, const std::string &path, int depth);
  absl::Status readGroups(JsonObject &top, bool based);

  Target target;
};

absl::Status TargetReader::readBase(JsonObject &top, const std::string &path,
                                    int depth) {
  std::string base = top.text("base");
  if (absl::Status status = top.status(); base.empty())
    return status;
  if (depth == mostBases) {
    top.fail("base", absl::StrCat("is \"", base, "\", and the ", mostBases,
                                  " files before it have bases too: they "
                                  "must not go in a circle"));
    return top.status();
  }
  // Beside the file first, so that a folder of targets can be moved.
  fs::path beside = fs::path(path).parent_path() / (base + ".json");
  std::error_code ignored;
  absl::StatusOr<Target> read = TargetReader().read(
      fs::exists(beside, ignored) ? beside.string()
                                  : targetFolder() + "/" + base + ".json",
      depth + 1);
  if (!read.ok()) {
    if (absl::IsNotFound(read.status())) {
      top.fail("base", absl::StrCat("is \"", base, "\", and there is no ",
                                    beside.string(),
                                    ", nor a target of that "
                                    "name in ",
                                    targetFolder()));
      return top.status();
    }
    return read.status();
  }
  target.constants = std::move(read->constants);
  return absl::OkStatus();
}

absl::Status TargetReader::readGroups(JsonObject &top, bool based) {
  if (target.constants.empty())
    target.constants.resize(targetFields().size());
  size_t index = 0;
  // Fields of one group follow each other.
  for (auto begin = targetFields().begin(); begin != targetFields().end();) {
    std::string group = begin->path.substr(0, begin->path.find('.'));
    auto end = std::find_if(begin, targetFields().end(), [&](auto &field) {
      return field.path.substr(0, field.path.find('.')) != group;
    });
    if (based && !top.has(group)) {
      index += end - begin;
      begin = end;
      continue;
    }
    JsonObject object = top.object(group);
    if (!object.isObject())
      return object.status();
    for (; begin != end; ++begin, ++index) {
      std::string name = begin->path.substr(group.size() + 1);
      if (based && !object.has(name))
        continue;
      if (absl::Status status = readConstant(object.object(name), *begin,
                                             target.constants[index]);
          !status.ok())
        return status;
    }
    if (absl::Status status = object.status(); !status.ok())
      return status;
    begin = end;
  }
  return top.status();
}

absl::StatusOr<Target> TargetReader::read(const std::string &path, int depth) {
  absl::StatusOr<ordered_json> json = readJsonFile(path);
  if (!json.ok())
    return json.status();
  JsonObject top(path, "", *json);
  int64_t version = top.integer("schema_version", 1, 1 << 30);
  if (version != schemaVersion)
    top.fail("schema_version",
             absl::StrCat("is ", version, ", this Sol reads ", schemaVersion));
  target.file = path;
  target.name = top.text("name");
  target.description = top.text("description");
  bool based = top.has("base");
  if (based)
    if (absl::Status status = readBase(top, path, depth); !status.ok())
      return status;
  if (absl::Status status = readGroups(top, based); !status.ok())
    return status;
  for (size_t i = 0; i < targetFields().size(); ++i)
    setField(target, targetFields()[i], target.constants[i].value);
  if (std::string problem = targetProblem(target); !problem.empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", problem));
  return target;
}

} // namespace

absl::StatusOr<Target> loadTarget(const std::string &path) {
  return TargetReader().read(path, 0);
}

std::string targetFolder() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return "share/sol/targets";
  // A build tree has the programs of tests two folders deep, tools one.
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    fs::path candidate = folder / "share/sol/targets";
    if (fs::is_directory(candidate, error))
      return candidate.string();
  }
  return (program.parent_path().parent_path() / "share/sol/targets").string();
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(targetFolder(), error), end;
       !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".json")
      names.push_back(entry->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Target> findTarget(const std::string &nameOrFile) {
  if (absl::StrContains(nameOrFile, '/') || absl::EndsWith(nameOrFile, ".json"))
    return loadTarget(nameOrFile);
  std::string known;
  for (const std::string &name : targetNames()) {
    if (name == nameOrFile)
      return loadTarget(targetFolder() + "/" + name + ".json");
    absl::StrAppend(&known, known.empty() ? "" : ", ", name);
  }
  return absl::NotFoundError(absl::StrCat(
      "no target `", nameOrFile, "` in ", targetFolder(), ": there are ",
      known.empty() ? "none" : known, "; a file of your own ends in .json"));
}

} // namespace sol
