//===- functions.cpp - functions, tests and methods of templates ----------===//
// The global functions that transformers offers, Jinja's tests, and the methods
// of Python's strings, lists and dictionaries that change nothing.
#include "absl/strings/str_cat.h"
#include "runtime/text/jinja/evaluator.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>
#include <ctime>
#include <utf8proc.h>

namespace sol::text::jinja {
namespace {

constexpr int64_t maxRange = 100'000;

std::string textArgument(Evaluator &evaluator, const Arguments &arguments,
                         size_t position, const char *name) {
  const Value *value = arguments.find(position, name);
  if (value && value->is(Kind::String))
    return value->string();
  evaluator.fail(absl::StrCat("expected a string for `", name, "`, got ",
                              value ? typeName(*value) : "nothing"));
  return {};
}

// The integer given, or `fallback` for nothing and None.
int64_t integerArgument(Evaluator &evaluator, const Arguments &arguments,
                        size_t position, const char *name, int64_t fallback) {
  const Value *value = arguments.find(position, name);
  if (!value || value->is(Kind::None))
    return fallback;
  if (!value->isInteger()) {
    evaluator.fail(absl::StrCat("expected an integer for `", name, "`, got ",
                                typeName(*value)));
    return fallback;
  }
  return value->integer();
}

//===- Functions
//-----------------------------------------------------------===//

Value raiseException(Evaluator &evaluator, const Arguments &arguments) {
  const Value *message = arguments.find(0, "message");
  return evaluator.fail(absl::StrCat("the chat template refuses: ",
                                     message ? toText(*message) : ""));
}

Value strftimeNow(Evaluator &evaluator, const Arguments &arguments) {
  std::string format = textArgument(evaluator, arguments, 0, "format");
  if (!evaluator.ok() || format.empty())
    return Value::of(std::string());
  if (format.size() > 256)
    return evaluator.fail("the format of strftime_now has more than 256 bytes");
  std::time_t now = static_cast<std::time_t>(evaluator.now());
  std::tm parts{};
  localtime_r(&now, &parts);
  char buffer[4096];
  size_t length = std::strftime(buffer, sizeof(buffer), format.c_str(), &parts);
  return evaluator.text(replaceInvalidUtf8({buffer, length}));
}

Value range(Evaluator &evaluator, const Arguments &arguments) {
  int64_t first = integerArgument(evaluator, arguments, 0, "start", 0);
  bool onlyStop = arguments.positional.size() < 2;
  int64_t start = onlyStop ? 0 : first;
  int64_t stop =
      onlyStop ? first : integerArgument(evaluator, arguments, 1, "stop", 0);
  int64_t step = integerArgument(evaluator, arguments, 2, "step", 1);
  if (!evaluator.ok())
    return Value();
  if (arguments.positional.empty() || step == 0)
    return evaluator.fail(step == 0 ? "range: the step is zero"
                                    : "range: expected 1 to 3 integers");
  List items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (static_cast<int64_t>(items.size()) >= maxRange)
      return evaluator.fail(
          absl::StrCat("range: more than ", maxRange, " numbers"));
    items.push_back(Value::of(i));
    if (__builtin_add_overflow(i, step, &i))
      break;
  }
  evaluator.spend(static_cast<int64_t>(items.size()),
                  static_cast<int64_t>(items.size() * sizeof(Value)));
  return Value::of(std::move(items));
}

Value makeNamespace(Evaluator &evaluator, const Arguments &arguments) {
  evaluator.spend(1, sizeof(Namespace));
  Namespace *space = evaluator.newNamespace();
  for (const Value &value : arguments.positional)
    if (value.is(Kind::Dict))
      for (const auto &[name, item] : value.dict().entries)
        space->values[name] = item;
  for (const auto &[name, value] : arguments.named)
    space->values[name] = value;
  return Value::of(space);
}

Value makeDict(Evaluator &, const Arguments &arguments) {
  auto dict = std::make_shared<Dict>();
  for (const Value &value : arguments.positional)
    if (value.is(Kind::Dict))
      for (const auto &[name, item] : value.dict().entries)
        dict->set(name, item);
  for (const auto &[name, value] : arguments.named)
    dict->set(name, value);
  return Value::of(std::shared_ptr<const Dict>(std::move(dict)));
}

using Function = Value (*)(Evaluator &, const Arguments &);
const absl::flat_hash_map<std::string, Function> &functions() {
  static const auto &table = *new absl::flat_hash_map<std::string, Function>{
      {"raise_exception", raiseException},
      {"strftime_now", strftimeNow},
      {"range", range},
      {"namespace", makeNamespace},
      {"dict", makeDict}};
  return table;
}

//===- Tests
//---------------------------------------------------------------===//

using Test = bool (*)(Evaluator &, const Value &, const Value &);

bool compareTest(Evaluator &evaluator, const Value &left, const Value &right,
                 bool (*accept)(int)) {
  absl::StatusOr<int> order = compare(left, right);
  if (!order.ok())
    evaluator.fail(order.status().message());
  return order.ok() && accept(*order);
}

bool remainderIs(Evaluator &evaluator, const Value &value, int64_t divisor,
                 int64_t rest) {
  if (!value.isInteger() || divisor == 0) {
    evaluator.fail("a test for divisibility needs integers, and no zero");
    return false;
  }
  return divisor == -1 ||
         ((value.integer() % divisor) + divisor) % divisor == rest;
}

bool inTest(Evaluator &evaluator, const Value &value, const Value &container) {
  if (container.is(Kind::String) && value.is(Kind::String))
    return container.string().find(value.string()) != std::string::npos;
  for (const Value &item : evaluator.iterate(container))
    if (equal(item, value))
      return true;
  return false;
}

bool equalTest(Evaluator &, const Value &a, const Value &b) {
  return equal(a, b);
}
bool lessTest(Evaluator &e, const Value &a, const Value &b) {
  return compareTest(e, a, b, [](int o) { return o < 0; });
}
bool greaterTest(Evaluator &e, const Value &a, const Value &b) {
  return compareTest(e, a, b, [](int o) { return o > 0; });
}

const absl::flat_hash_map<std::string, Test> &tests() {
  static const auto &table = *new absl::flat_hash_map<std::string, Test>{
      {"defined", [](Evaluator &, const Value &v, const Value &) { return !v.is(Kind::Undefined); }},
      {"undefined", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::Undefined); }},
      {"none", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::None); }},
      {"string", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::String); }},
      {"mapping", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::Dict); }},
      {"iterable",
       [](Evaluator &, const Value &v, const Value &) {
         return v.isList() || v.is(Kind::String) || v.is(Kind::Dict) || v.is(Kind::Undefined);
       }},
      {"sequence",
       [](Evaluator &, const Value &v, const Value &) {
         return v.isList() || v.is(Kind::String) || v.is(Kind::Dict) || v.is(Kind::Undefined);
       }},
      {"number", [](Evaluator &, const Value &v, const Value &) { return v.isNumber(); }},
      {"integer", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::Int); }},
      {"float", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::Float); }},
      {"boolean", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::Bool); }},
      {"true", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::Bool) && v.integer() == 1; }},
      {"false", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::Bool) && v.integer() == 0; }},
      {"callable", [](Evaluator &, const Value &v, const Value &) { return v.is(Kind::Callable); }},
      {"sameas", [](Evaluator &, const Value &v, const Value &other) { return v.sameAs(other); }},
      {"equalto", equalTest},
      {"eq", equalTest},
      {"ne", [](Evaluator &, const Value &v, const Value &other) { return !equal(v, other); }},
      {"lt", lessTest},
      {"lessthan", lessTest},
      {"gt", greaterTest},
      {"greaterthan", greaterTest},
      {"le",
       [](Evaluator &e, const Value &v, const Value &other) {
         return compareTest(e, v, other, [](int o) { return o <= 0; });
       }},
      {"ge",
       [](Evaluator &e, const Value &v, const Value &other) {
         return compareTest(e, v, other, [](int o) { return o >= 0; });
       }},
      {"in", inTest},
      {"odd", [](Evaluator &e, const Value &v, const Value &) { return remainderIs(e, v, 2, 1); }},
      {"even", [](Evaluator &e, const Value &v, const Value &) { return remainderIs(e, v, 2, 0); }},
      {"divisibleby",
       [](Evaluator &e, const Value &v, const Value &by) {
         return remainderIs(e, v, by.isInteger() ? by.integer() : 0, 0);
       }},
      {"lower", [](Evaluator &, const Value &v, const Value &) { return lowerText(toText(v)) == toText(v); }},
      {"upper", [](Evaluator &, const Value &v, const Value &) { return upperText(toText(v)) == toText(v); }},
  };
  return table;
}

//===- Methods of strings
//----------------------------------------------------===//

bool isCased(char32_t c) {
  utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}

List splitText(Evaluator &evaluator, const std::string &text,
               const Arguments &arguments, bool fromRight) {
  const Value *separator = arguments.find(0, "sep");
  int64_t most = integerArgument(evaluator, arguments, 1, "maxsplit", -1);
  std::vector<std::string> parts;
  evaluator.spend(static_cast<int64_t>(text.size() / 16),
                  static_cast<int64_t>(text.size()));
  auto full = [&] {
    return most >= 0 && static_cast<int64_t>(parts.size()) >= most;
  };
  if (separator && separator->is(Kind::String)) {
    const std::string &by = separator->string();
    if (by.empty()) {
      evaluator.fail("split: the separator is empty");
      return {};
    }
    size_t begin = 0, end = text.size();
    while (!full()) {
      size_t found = fromRight
                         ? (end >= by.size() ? text.rfind(by, end - by.size())
                                             : std::string::npos)
                         : text.find(by, begin);
      if (found == std::string::npos)
        break;
      if (fromRight) {
        parts.push_back(
            text.substr(found + by.size(), end - found - by.size()));
        end = found;
      } else {
        parts.push_back(text.substr(begin, found - begin));
        begin = found + by.size();
      }
    }
    parts.push_back(text.substr(begin, end - begin));
  } else if (fromRight) {
    evaluator.fail("rsplit without a separator isn't supported");
  } else {
    std::string rest = stripText(text, nullptr, 1);
    size_t begin = 0;
    for (size_t at = 0; at < rest.size() && !full();) {
      size_t start = at;
      if (!isWhiteSpace(nextCodePoint(rest, at)))
        continue;
      parts.push_back(rest.substr(begin, start - begin));
      while (at < rest.size()) {
        size_t probe = at;
        if (!isWhiteSpace(nextCodePoint(rest, probe)))
          break;
        at = probe;
      }
      begin = at;
    }
    if (begin < rest.size())
      parts.push_back(full() ? rest.substr(begin)
                             : stripText(rest.substr(begin), nullptr, 2));
  }
  if (fromRight)
    std::reverse(parts.begin(), parts.end());
  List items;
  for (std::string &part : parts)
    items.push_back(evaluator.text(std::move(part)));
  return items;
}

List splitLines(Evaluator &evaluator, const std::string &text, bool keepEnds) {
  List lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    size_t start = at;
    char32_t c = nextCodePoint(text, at);
    bool ends = (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) ||
                c == 0x85 || c == 0x2028 || c == 0x2029;
    if (!ends)
      continue;
    if (c == '\r' && at < text.size() && text[at] == '\n')
      ++at;
    lines.push_back(
        evaluator.text(text.substr(begin, (keepEnds ? at : start) - begin)));
    begin = at;
  }
  if (begin < text.size())
    lines.push_back(evaluator.text(text.substr(begin)));
  return lines;
}

bool hasAffix(Evaluator &evaluator, const std::string &text,
              const Arguments &arguments, bool atEnd) {
  const Value *affix = arguments.find(0, "prefix");
  List all = affix && affix->is(Kind::Tuple) ? affix->list()
             : affix                         ? List{*affix}
                                             : List{};
  for (const Value &one : all) {
    if (!one.is(Kind::String)) {
      evaluator.fail(absl::StrCat("expected a string, got ", typeName(one)));
      return false;
    }
    if (atEnd ? text.ends_with(one.string()) : text.starts_with(one.string()))
      return true;
  }
  return false;
}

std::string titleText(const std::string &text) {
  std::string out;
  bool inWord = false;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = nextCodePoint(text, at);
    std::string one = text.substr(begin, at - begin);
    out += inWord ? lowerText(one) : upperText(one);
    inWord = isCased(c);
  }
  return out;
}

std::string replaceText(Evaluator &evaluator, const std::string &text,
                        const std::string &from, const std::string &to,
                        int64_t most) {
  std::string out;
  size_t done = 0;
  for (int64_t count = 0; most < 0 || count < most; ++count) {
    size_t found = from.empty() ? done : text.find(from, done);
    if (found == std::string::npos ||
        !evaluator.spend(1, static_cast<int64_t>(to.size())))
      break;
    out.append(text, done, found - done).append(to);
    done = found + from.size();
    if (from.empty()) { // between all characters, and at both ends
      if (done >= text.size())
        return out;
      size_t next = done;
      nextCodePoint(text, next);
      out.append(text, done, next - done);
      done = next;
    }
  }
  return out.append(text, std::min(done, text.size()));
}

Value positionOf(Evaluator &evaluator, const std::string &text,
                 const std::string &name, const std::string &part) {
  size_t found = name == "rfind" ? text.rfind(part) : text.find(part);
  if (found == std::string::npos)
    return name == "index" ? evaluator.fail("index: the string isn't there")
                           : Value::of(int64_t{-1});
  return Value::of(static_cast<int64_t>(
      countCodePoints(std::string_view(text).substr(0, found))));
}

Value partition(Evaluator &evaluator, const std::string &text,
                const std::string &by, bool fromRight) {
  size_t found = by.empty()  ? std::string::npos
                 : fromRight ? text.rfind(by)
                             : text.find(by);
  if (found == std::string::npos) {
    Value empty = Value::of(std::string()), whole = Value::of(text);
    return Value::of(fromRight ? List{empty, empty, whole}
                               : List{whole, empty, empty},
                     true);
  }
  return Value::of(List{evaluator.text(text.substr(0, found)), Value::of(by),
                        evaluator.text(text.substr(found + by.size()))},
                   true);
}

bool allCharacters(const std::string &text, bool (*accept)(char32_t)) {
  for (size_t at = 0; at < text.size();)
    if (!accept(nextCodePoint(text, at)))
      return false;
  return !text.empty();
}

bool isLetter(char32_t c) {
  utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool isDecimal(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) ==
         UTF8PROC_CATEGORY_ND;
}

int64_t countText(const std::string &text, const std::string &part) {
  if (part.empty())
    return static_cast<int64_t>(countCodePoints(text)) + 1;
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

constexpr std::string_view stringMethods[] = {
    "strip",      "lstrip",     "rstrip",     "split",        "rsplit",
    "splitlines", "startswith", "endswith",   "replace",      "upper",
    "lower",      "title",      "find",       "rfind",        "index",
    "count",      "join",       "isdigit",    "isalpha",      "isalnum",
    "isspace",    "isupper",    "islower",    "removeprefix", "removesuffix",
    "partition",  "rpartition", "capitalize", "zfill"};
constexpr std::string_view dictMethods[] = {"items", "keys", "values", "get",
                                            "copy"};
constexpr std::string_view listMethods[] = {"index", "count", "copy"};

Value callCaseOrAffix(Evaluator &evaluator, const std::string &text,
                      const std::string &name, const Arguments &arguments) {
  if (name == "upper")
    return evaluator.text(upperText(text));
  if (name == "lower")
    return evaluator.text(lowerText(text));
  if (name == "title")
    return evaluator.text(titleText(text));
  if (name == "capitalize")
    return evaluator.text(capitalizeText(text));
  if (name == "isdigit")
    return Value::of(allCharacters(text, isDecimal));
  if (name == "isalpha")
    return Value::of(allCharacters(text, isLetter));
  if (name == "isalnum")
    return Value::of(allCharacters(
        text, [](char32_t c) { return isLetter(c) || isNumeric(c); }));
  if (name == "isspace")
    return Value::of(allCharacters(text, isWhiteSpace));
  if (name == "isupper")
    return Value::of(upperText(text) == text && lowerText(text) != text);
  if (name == "islower")
    return Value::of(lowerText(text) == text && upperText(text) != text);
  std::string argument = textArgument(evaluator, arguments, 0, "sub");
  if (!evaluator.ok())
    return Value();
  if (name == "removeprefix")
    return evaluator.text(
        text.starts_with(argument) ? text.substr(argument.size()) : text);
  if (name == "removesuffix")
    return evaluator.text(text.ends_with(argument)
                              ? text.substr(0, text.size() - argument.size())
                              : text);
  if (name == "count")
    return Value::of(countText(text, argument));
  if (name == "partition" || name == "rpartition")
    return partition(evaluator, text, argument, name == "rpartition");
  return positionOf(evaluator, text, name, argument);
}

Value callStringMethod(Evaluator &evaluator, const std::string &text,
                       const std::string &name, const Arguments &arguments) {
  evaluator.spend(1 + static_cast<int64_t>(text.size() / 64));
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const Value *characters = arguments.find(0, "chars");
    bool given = characters && characters->is(Kind::String);
    return evaluator.text(stripText(text,
                                    given ? &characters->string() : nullptr,
                                    name == "strip"    ? 3
                                    : name == "lstrip" ? 1
                                                       : 2));
  }
  if (name == "split" || name == "rsplit")
    return Value::of(splitText(evaluator, text, arguments, name == "rsplit"));
  if (name == "splitlines") {
    const Value *keep = arguments.find(0, "keepends");
    return Value::of(splitLines(evaluator, text, keep && isTrue(*keep)));
  }
  if (name == "startswith" || name == "endswith")
    return Value::of(hasAffix(evaluator, text, arguments, name == "endswith"));
  if (name == "replace") {
    std::string from = textArgument(evaluator, arguments, 0, "old"),
                to = textArgument(evaluator, arguments, 1, "new");
    int64_t most = integerArgument(evaluator, arguments, 2, "count", -1);
    return evaluator.ok()
               ? evaluator.text(replaceText(evaluator, text, from, to, most))
               : Value();
  }
  if (name == "join") {
    const Value *items = arguments.find(0, "iterable");
    std::string out;
    bool first = true;
    for (const Value &item : evaluator.iterate(items ? *items : Value())) {
      if (!item.is(Kind::String))
        return evaluator.fail(
            absl::StrCat("join: expected strings, got ", typeName(item)));
      if (!evaluator.spend(
              1, static_cast<int64_t>(item.string().size() + text.size())))
        return Value();
      out += first ? item.string() : text + item.string();
      first = false;
    }
    return evaluator.text(std::move(out));
  }
  if (name == "zfill") {
    int64_t width = std::min<int64_t>(
        integerArgument(evaluator, arguments, 0, "width", 0), 1000);
    size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    int64_t missing = width - static_cast<int64_t>(countCodePoints(text));
    return evaluator.text(std::string(text).insert(
        sign, static_cast<size_t>(std::max<int64_t>(missing, 0)), '0'));
  }
  return callCaseOrAffix(evaluator, text, name, arguments);
}

Value callDictMethod(Evaluator &evaluator, const Value &self,
                     const std::string &name, const Arguments &arguments) {
  const Dict &dict = self.dict();
  if (name == "get") {
    const Value *key = arguments.find(0, "key"),
                *fallback = arguments.find(1, "default");
    if (!key)
      return evaluator.fail("get: expected a key");
    const Value *found =
        key->is(Kind::Undefined) ? nullptr : dict.find(toText(*key));
    return found ? *found : fallback ? *fallback : Value::none();
  }
  if (name == "copy")
    return self;
  List items;
  for (const auto &[key, value] : dict.entries)
    items.push_back(name == "keys" ? Value::of(key)
                    : name == "values"
                        ? value
                        : Value::of(List{Value::of(key), value}, true));
  evaluator.spend(static_cast<int64_t>(items.size()),
                  static_cast<int64_t>(items.size() * sizeof(Value)));
  return Value::of(std::move(items));
}

Value callListMethod(Evaluator &evaluator, const Value &self,
                     const std::string &name, const Arguments &arguments) {
  if (name == "copy")
    return self;
  const Value *item = arguments.find(0, "value");
  if (!item)
    return evaluator.fail(absl::StrCat(name, ": expected a value"));
  const List &list = self.list();
  evaluator.spend(static_cast<int64_t>(list.size()));
  auto matches = [&](const Value &other) { return equal(*item, other); };
  if (name == "count")
    return Value::of(
        static_cast<int64_t>(std::count_if(list.begin(), list.end(), matches)));
  auto found = std::find_if(list.begin(), list.end(), matches);
  return found == list.end()
             ? evaluator.fail("index: the value isn't in the list")
             : Value::of(static_cast<int64_t>(found - list.begin()));
}

} // namespace

bool isFunction(std::string_view name) {
  return functions().contains(absl::string_view(name.data(), name.size()));
}
bool isTest(std::string_view name) {
  return tests().contains(absl::string_view(name.data(), name.size()));
}

bool isMethod(Kind type, std::string_view name) {
  auto has = [&](auto &names) {
    return std::find(std::begin(names), std::end(names), name) !=
           std::end(names);
  };
  switch (type) {
  case Kind::String:
    return has(stringMethods);
  case Kind::Dict:
    return has(dictMethods);
  case Kind::List:
  case Kind::Tuple:
    return has(listMethods);
  case Kind::Namespace:
    return name == "cycle";
  default:
    return false;
  }
}

Value callFunction(Evaluator &evaluator, const std::string &name,
                   const Arguments &arguments) {
  auto found = functions().find(name);
  if (found == functions().end())
    return evaluator.fail(absl::StrCat("no function named `", name, "`"));
  return found->second(evaluator, arguments);
}

bool applyTest(Evaluator &evaluator, const std::string &name,
               const Value &value, const Arguments &arguments) {
  auto found = tests().find(name);
  if (found == tests().end()) {
    evaluator.fail(absl::StrCat("no test named `", name, "`"));
    return false;
  }
  const Value *other = arguments.find(0, "other");
  return found->second(evaluator, value, other ? *other : Value());
}

Value callMethod(Evaluator &evaluator, const Value &self,
                 const std::string &name, const Arguments &arguments) {
  switch (self.kind()) {
  case Kind::String:
    return callStringMethod(evaluator, self.string(), name, arguments);
  case Kind::Dict:
    return callDictMethod(evaluator, self, name, arguments);
  case Kind::List:
  case Kind::Tuple:
    return callListMethod(evaluator, self, name, arguments);
  case Kind::Namespace: { // loop.cycle
    auto index = self.space()->values.find("index0");
    if (index == self.space()->values.end() || arguments.positional.empty())
      return evaluator.fail("cycle: expected values, inside a loop");
    auto at = static_cast<size_t>(index->second.integer());
    return arguments.positional[at % arguments.positional.size()];
  }
  default:
    return evaluator.fail(absl::StrCat("a value of type ", typeName(self),
                                       " has no method `", name, "`"));
  }
}

} // namespace sol::text::jinja
