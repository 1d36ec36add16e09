//===- value.h - what a template computes with ----------------------------===//
// The Python values that templates see: None, booleans, integers (64 bits),
// floats, strings, lists and tuples, ordered dictionaries; and namespaces,
// macros and bound methods, which live as long as the rendering. Lists and
// dictionaries never change once made.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sol::text::jinja {

class Value;
struct Node;
struct Scope;

using List = std::vector<Value>;
struct Dict;

/// A namespace object: the one thing that a template can change.
struct Namespace {
  absl::flat_hash_map<std::string, Value> values;
};

/// Something to call: a macro with the scope it was made in, or a built-in
/// function or method by name.
struct Callable;

enum class Kind {
  Undefined,
  None,
  Bool,
  Int,
  Float,
  String,
  List,
  Tuple,
  Dict,
  Namespace,
  Callable
};

/// A value; copying is cheap.
class Value {
public:
  Value() = default;
  static Value undefined(std::string_view name) {
    Value value;
    value.text = std::make_shared<const std::string>(name);
    return value;
  }
  static Value none() { return Value(Kind::None); }
  static Value of(bool flag) {
    Value value(Kind::Bool);
    value.number = flag;
    return value;
  }
  static Value of(int64_t number) {
    Value value(Kind::Int);
    value.number = number;
    return value;
  }
  static Value of(double number) {
    Value value(Kind::Float);
    value.realNumber = number;
    return value;
  }
  static Value of(std::string text) {
    Value value(Kind::String);
    value.text = std::make_shared<const std::string>(std::move(text));
    return value;
  }
  static Value of(List items, bool tuple = false);
  static Value of(std::shared_ptr<const Dict> dict);
  /// `space` must live as long as the rendering, which breaks the cycles that a
  /// namespace could form.
  static Value of(Namespace *space) {
    Value value(Kind::Namespace);
    value.spacePointer = space;
    return value;
  }
  static Value of(std::shared_ptr<const Callable> callable);

  Kind kind() const { return valueKind; }
  bool is(Kind kind) const { return valueKind == kind; }
  bool isList() const {
    return valueKind == Kind::List || valueKind == Kind::Tuple;
  }
  bool isInteger() const {
    return valueKind == Kind::Int || valueKind == Kind::Bool;
  }
  bool isNumber() const { return isInteger() || valueKind == Kind::Float; }

  /// Only for the kind that each name says (integer also for Bool).
  int64_t integer() const { return number; }
  double real() const {
    return valueKind == Kind::Float ? realNumber : static_cast<double>(number);
  }
  const std::string &string() const { return *text; }
  const List &list() const { return *items; }
  const Dict &dict() const { return *entries; }
  Namespace *space() const { return spacePointer; }
  const Callable &callable() const { return *function; }
  /// The name that was looked up in vain, for messages about an undefined
  /// value.
  std::string undefinedName() const { return text ? *text : "value"; }
  /// Levels of lists and dictionaries inside each other; 0 for plain values.
  /// Kept small by whoever makes values, so that freeing and printing never
  /// recurse far.
  int depth() const { return levels; }
  /// Whether both are the same object (or equal plain values).
  bool sameAs(const Value &other) const;

private:
  explicit Value(Kind kind) : valueKind(kind) {}
  Kind valueKind = Kind::Undefined;
  int levels = 0;
  union {
    int64_t number = 0;
    double realNumber;
    Namespace *spacePointer;
  };
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const List> items;
  std::shared_ptr<const Dict> entries;
  std::shared_ptr<const Callable> function;
};

/// An ordered dictionary with string keys (other keys are kept by their printed
/// form).
struct Dict {
  std::vector<std::pair<std::string, Value>> entries;
  absl::flat_hash_map<std::string, size_t> index;
  /// Sets or replaces.
  void set(const std::string &key, Value value);
  const Value *find(std::string_view key) const;
};

struct Callable {
  std::string name;
  Value self;                  // of a method
  const Node *macro = nullptr; // of a macro
  Scope *scope = nullptr;
};

/// Deepest nesting of values that is printed, compared or read from JSON.
constexpr int maxValueDepth = 100;

bool isTrue(const Value &value);
/// Python's name of the type, for messages.
const char *typeName(const Value &value);
bool equal(const Value &a, const Value &b, int depth = 0);
/// -1, 0 or 1; an error where Python wouldn't order them.
absl::StatusOr<int> compare(const Value &a, const Value &b, int depth = 0);
/// Python's str() and repr().
std::string toText(const Value &value);
std::string toRepr(const Value &value);
/// As Python prints a float.
std::string floatText(double value);
/// json.dumps without ASCII escapes. `indent` < 0 for one line.
absl::StatusOr<std::string> toJson(const Value &value, int64_t indent,
                                   std::string_view itemSeparator,
                                   std::string_view keySeparator,
                                   bool sortKeys);
/// From JSON; strings that aren't UTF-8 and too deep nesting are errors.
absl::StatusOr<Value> fromJson(const nlohmann::ordered_json &json,
                               int depth = 0);

} // namespace sol::text::jinja
