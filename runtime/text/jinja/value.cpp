//===- value.cpp - what a template computes with --------------------------===//
// Truth, order, equality and printing as Python has them.
#include "runtime/text/jinja/value.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utf8proc.h>

namespace sol::text::jinja {

Value Value::of(List items, bool tuple) {
  Value value(tuple ? Kind::Tuple : Kind::List);
  for (const Value &item : items)
    value.levels = std::max(value.levels, item.levels);
  ++value.levels;
  value.items = std::make_shared<const List>(std::move(items));
  return value;
}

Value Value::of(std::shared_ptr<const Dict> dict) {
  Value value(Kind::Dict);
  for (const auto &entry : dict->entries)
    value.levels = std::max(value.levels, entry.second.levels);
  ++value.levels;
  value.entries = std::move(dict);
  return value;
}

Value Value::of(std::shared_ptr<const Callable> callable) {
  Value value(Kind::Callable);
  value.levels = callable->self.levels + 1;
  value.function = std::move(callable);
  return value;
}

void Dict::set(const std::string &key, Value value) {
  auto [place, isNew] = index.try_emplace(key, entries.size());
  if (isNew)
    entries.emplace_back(key, std::move(value));
  else
    entries[place->second].second = std::move(value);
}

const Value *Dict::find(std::string_view key) const {
  auto found = index.find(absl::string_view(key.data(), key.size()));
  return found == index.end() ? nullptr : &entries[found->second].second;
}

bool Value::sameAs(const Value &other) const {
  if (valueKind != other.valueKind)
    return false;
  switch (valueKind) {
  case Kind::List:
  case Kind::Tuple:
    return items == other.items;
  case Kind::Dict:
    return entries == other.entries;
  case Kind::Namespace:
    return spacePointer == other.spacePointer;
  case Kind::Callable:
    return function == other.function;
  default:
    return equal(*this, other);
  }
}

bool isTrue(const Value &value) {
  switch (value.kind()) {
  case Kind::Undefined:
  case Kind::None:
    return false;
  case Kind::Bool:
  case Kind::Int:
    return value.integer() != 0;
  case Kind::Float:
    return value.real() != 0;
  case Kind::String:
    return !value.string().empty();
  case Kind::List:
  case Kind::Tuple:
    return !value.list().empty();
  case Kind::Dict:
    return !value.dict().entries.empty();
  default:
    return true;
  }
}

const char *typeName(const Value &value) {
  static constexpr const char *names[] = {
      "undefined", "None",  "bool", "int",       "float",   "str",
      "list",      "tuple", "dict", "namespace", "callable"};
  return names[static_cast<int>(value.kind())];
}

bool equal(const Value &a, const Value &b, int depth) {
  if (depth > maxValueDepth)
    return false;
  if (a.isNumber() && b.isNumber())
    return a.isInteger() && b.isInteger() ? a.integer() == b.integer()
                                          : a.real() == b.real();
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case Kind::String:
    return a.string() == b.string();
  case Kind::List:
  case Kind::Tuple:
    return std::equal(
        a.list().begin(), a.list().end(), b.list().begin(), b.list().end(),
        [&](const Value &x, const Value &y) { return equal(x, y, depth + 1); });
  case Kind::Dict: {
    if (a.dict().entries.size() != b.dict().entries.size())
      return false;
    for (const auto &[key, value] : a.dict().entries) {
      const Value *other = b.dict().find(key);
      if (!other || !equal(value, *other, depth + 1))
        return false;
    }
    return true;
  }
  case Kind::Namespace:
  case Kind::Callable:
    return a.sameAs(b);
  default:
    return true;
  }
}

absl::StatusOr<int> compare(const Value &a, const Value &b, int depth) {
  if (a.isNumber() && b.isNumber()) {
    if (a.isInteger() && b.isInteger())
      return a.integer() < b.integer() ? -1 : a.integer() > b.integer();
    return a.real() < b.real() ? -1 : a.real() > b.real();
  }
  if (a.is(Kind::String) && b.is(Kind::String)) {
    int order =
        a.string().compare(b.string()); // bytes of UTF-8 sort as code points do
    return order < 0 ? -1 : order > 0;
  }
  if (a.isList() && a.kind() == b.kind() && depth < maxValueDepth) {
    size_t common = std::min(a.list().size(), b.list().size());
    for (size_t i = 0; i < common; ++i)
      if (!equal(a.list()[i], b.list()[i]))
        return compare(a.list()[i], b.list()[i], depth + 1);
    return a.list().size() < b.list().size()
               ? -1
               : a.list().size() > b.list().size();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "values of types ", typeName(a), " and ", typeName(b), " have no order"));
}

std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                           std::chars_format::scientific)
                 .ptr;
  std::string scientific(buffer, end);
  size_t mark = scientific.find('e');
  int exponent =
      static_cast<int>(std::strtol(scientific.c_str() + mark + 1, nullptr, 10));
  if (exponent < -4 || exponent >= 16)
    return scientific; // Python also writes two digits of exponent at least
  end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                      std::chars_format::fixed)
            .ptr;
  std::string fixed(buffer, end);
  if (fixed.find('.') == std::string::npos)
    fixed += ".0";
  return fixed;
}

namespace {

bool isPrintable(char32_t c) {
  if (c == ' ')
    return true;
  utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS;
}

void appendHex(std::string &out, const char *prefix, char32_t c, int digits) {
  out += prefix;
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
    out += "0123456789abcdef"[(c >> shift) & 0xF];
}

std::string quoted(const std::string &text) {
  char quote = text.find('\'') != std::string::npos &&
                       text.find('"') == std::string::npos
                   ? '"'
                   : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    char32_t c = nextCodePoint(text, at);
    if (c == static_cast<char32_t>(quote) || c == '\\')
      (out += '\\') += static_cast<char>(c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (isPrintable(c))
      appendUtf8(out, c);
    else if (c < 0x100)
      appendHex(out, "\\x", c, 2);
    else if (c < 0x10000)
      appendHex(out, "\\u", c, 4);
    else
      appendHex(out, "\\U", c, 8);
  }
  return out + quote;
}

void print(std::string &out, const Value &value, bool repr, int depth) {
  if (depth > maxValueDepth) {
    out += "...";
    return;
  }
  switch (value.kind()) {
  case Kind::Undefined:
    break;
  case Kind::None:
    out += "None";
    break;
  case Kind::Bool:
    out += value.integer() ? "True" : "False";
    break;
  case Kind::Int:
    out += std::to_string(value.integer());
    break;
  case Kind::Float:
    out += floatText(value.real());
    break;
  case Kind::String:
    out += repr ? quoted(value.string()) : value.string();
    break;
  case Kind::List:
  case Kind::Tuple: {
    bool tuple = value.is(Kind::Tuple);
    out += tuple ? '(' : '[';
    for (size_t i = 0; i < value.list().size(); ++i) {
      if (i > 0)
        out += ", ";
      print(out, value.list()[i], true, depth + 1);
    }
    if (tuple && value.list().size() == 1)
      out += ',';
    out += tuple ? ')' : ']';
    break;
  }
  case Kind::Dict: {
    out += '{';
    bool first = true;
    for (const auto &[key, item] : value.dict().entries) {
      if (!first)
        out += ", ";
      first = false;
      out += quoted(key) + ": ";
      print(out, item, true, depth + 1);
    }
    out += '}';
    break;
  }
  case Kind::Namespace:
    out += "<Namespace>";
    break;
  case Kind::Callable:
    out += "<function " + value.callable().name + ">";
    break;
  }
}

void jsonString(std::string &out, const std::string &text) {
  out += '"';
  for (char c : text) {
    switch (c) {
    case '"':
    case '\\':
      (out += '\\') += c;
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20)
        appendHex(out, "\\u", static_cast<unsigned char>(c), 4);
      else
        out += c;
    }
  }
  out += '"';
}

struct JsonWriter {
  int64_t indent;
  std::string_view itemSeparator, keySeparator;
  bool sortKeys;
  std::string out;
  absl::Status status;

  void newLine(int depth) {
    if (indent < 0)
      return;
    out += '\n';
    out.append(static_cast<size_t>(indent * depth), ' ');
  }

  void write(const Value &value, int depth) {
    if (depth > maxValueDepth) {
      status = absl::InvalidArgumentError("tojson: the value nests too deeply");
      return;
    }
    switch (value.kind()) {
    case Kind::None:
      out += "null";
      return;
    case Kind::Bool:
      out += value.integer() ? "true" : "false";
      return;
    case Kind::Int:
      out += std::to_string(value.integer());
      return;
    case Kind::Float:
      out += std::isnan(value.real()) ? "NaN"
             : std::isinf(value.real())
                 ? (value.real() < 0 ? "-Infinity" : "Infinity")
                 : floatText(value.real());
      return;
    case Kind::String:
      jsonString(out, value.string());
      return;
    case Kind::List:
    case Kind::Tuple:
      return writeList(value.list(), depth);
    case Kind::Dict:
      return writeDict(value.dict(), depth);
    default:
      status = absl::InvalidArgumentError(absl::StrCat(
          "tojson: a value of type ", typeName(value), " isn't JSON"));
    }
  }

  void writeList(const List &list, int depth) {
    out += '[';
    for (size_t i = 0; i < list.size() && status.ok(); ++i) {
      if (i > 0)
        out += itemSeparator;
      newLine(depth + 1);
      write(list[i], depth + 1);
    }
    if (!list.empty())
      newLine(depth);
    out += ']';
  }

  void writeDict(const Dict &dict, int depth) {
    std::vector<const std::pair<std::string, Value> *> entries;
    for (const auto &entry : dict.entries)
      entries.push_back(&entry);
    if (sortKeys)
      std::sort(entries.begin(), entries.end(),
                [](auto *a, auto *b) { return a->first < b->first; });
    out += '{';
    for (size_t i = 0; i < entries.size() && status.ok(); ++i) {
      if (i > 0)
        out += itemSeparator;
      newLine(depth + 1);
      jsonString(out, entries[i]->first);
      out += keySeparator;
      write(entries[i]->second, depth + 1);
    }
    if (!entries.empty())
      newLine(depth);
    out += '}';
  }
};

} // namespace

std::string toText(const Value &value) {
  std::string out;
  print(out, value, false, 0);
  return out;
}

std::string toRepr(const Value &value) {
  std::string out;
  print(out, value, true, 0);
  return out;
}

absl::StatusOr<std::string> toJson(const Value &value, int64_t indent,
                                   std::string_view itemSeparator,
                                   std::string_view keySeparator,
                                   bool sortKeys) {
  JsonWriter writer{std::min<int64_t>(indent, 64),
                    itemSeparator,
                    keySeparator,
                    sortKeys,
                    {},
                    {}};
  writer.write(value, 0);
  if (!writer.status.ok())
    return writer.status;
  return std::move(writer.out);
}

absl::StatusOr<Value> fromJson(const nlohmann::ordered_json &json, int depth) {
  using Json = nlohmann::ordered_json;
  if (depth > maxValueDepth)
    return absl::InvalidArgumentError("the variables nest too deeply");
  if (json.is_null())
    return Value::none();
  if (auto *flag = json.get_ptr<const Json::boolean_t *>())
    return Value::of(*flag);
  if (auto *number = json.get_ptr<const Json::number_unsigned_t *>();
      number && *number > uint64_t{INT64_MAX})
    return Value::of(static_cast<double>(*number));
  if (json.is_number_integer())
    return Value::of(json.get<int64_t>());
  if (auto *real = json.get_ptr<const Json::number_float_t *>())
    return Value::of(*real);
  if (auto *text = json.get_ptr<const Json::string_t *>()) {
    if (absl::Status status = checkUtf8(*text, "a string of the variables");
        !status.ok())
      return status;
    return Value::of(*text);
  }
  if (json.is_array()) {
    List items;
    for (const Json &item : json) {
      absl::StatusOr<Value> value = fromJson(item, depth + 1);
      if (!value.ok())
        return value.status();
      items.push_back(*std::move(value));
    }
    return Value::of(std::move(items));
  }
  if (!json.is_object())
    return absl::InvalidArgumentError(
        "the variables hold a value that isn't JSON");
  auto dict = std::make_shared<Dict>();
  for (const auto &[key, item] : json.items()) {
    if (absl::Status status = checkUtf8(key, "a key of the variables");
        !status.ok())
      return status;
    absl::StatusOr<Value> value = fromJson(item, depth + 1);
    if (!value.ok())
      return value.status();
    dict->set(key, *std::move(value));
  }
  return Value::of(std::shared_ptr<const Dict>(std::move(dict)));
}

} // namespace sol::text::jinja
