//===- filters.cpp - filters of templates ---------------------------------===//
// Jinja's filters, with tojson as transformers replaces it.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/text/jinja/evaluator.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utf8proc.h>

namespace sol::text::jinja {

std::string stripText(const std::string &text, const std::string *characters,
                      int sides) {
  auto strips = [&](size_t at) {
    char32_t c = nextCodePoint(text, at);
    if (!characters)
      return isWhiteSpace(c) || (c >= 0x1C && c <= 0x1F);
    for (size_t i = 0; i < characters->size();)
      if (nextCodePoint(*characters, i) == c)
        return true;
    return false;
  };
  size_t begin = 0, end = text.size();
  while ((sides & 1) && begin < end && strips(begin))
    nextCodePoint(text, begin);
  while ((sides & 2) && begin < end && strips(previousStart(text, end)))
    end = previousStart(text, end);
  return text.substr(begin, end - begin);
}

std::string upperText(const std::string &text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    char32_t c = nextCodePoint(text, at);
    if (c == 0xDF)
      out += "SS";
    else
      appendUtf8(out, static_cast<char32_t>(
                          utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
  return out;
}

std::string lowerText(const std::string &text) {
  auto isLetter = [](char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c)) <=
               UTF8PROC_CATEGORY_LT &&
           c >= 'A';
  };
  std::string out;
  bool afterLetter = false;
  for (size_t at = 0; at < text.size();) {
    char32_t c = nextCodePoint(text, at);
    size_t probe = at;
    bool atEnd = at >= text.size() || !isLetter(nextCodePoint(text, probe));
    if (c == 0x130)
      out += "i\xCC\x87";
    else if (c == 0x3A3 && afterLetter && atEnd)
      appendUtf8(out, 0x3C2); // sigma at the end of a word
    else
      appendUtf8(out, static_cast<char32_t>(
                          utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    afterLetter = isLetter(c);
  }
  return out;
}

std::string capitalizeText(const std::string &text) {
  if (text.empty())
    return text;
  size_t first = 0;
  nextCodePoint(text, first);
  return upperText(text.substr(0, first)) + lowerText(text.substr(first));
}

namespace {

using Filter = Value (*)(Evaluator &, const Value &, const Arguments &);

bool flagOf(const Arguments &arguments, size_t position,
            std::string_view name) {
  const Value *value = arguments.find(position, name);
  return value && isTrue(*value);
}

int64_t integerOf(const Arguments &arguments, size_t position,
                  std::string_view name, int64_t fallback) {
  const Value *value = arguments.find(position, name);
  return value && value->isInteger() ? value->integer() : fallback;
}

std::string textOf(const Arguments &arguments, size_t position,
                   std::string_view name, const char *fallback) {
  const Value *value = arguments.find(position, name);
  return value && !value->is(Kind::None) ? toText(*value) : fallback;
}

// The attribute `path` of an item: names and indices with dots between them.
Value attributeOf(Evaluator &evaluator, Value item, const Value &path) {
  if (path.isInteger())
    return evaluator.getItem(item, path);
  std::string rest = toText(path);
  for (size_t begin = 0; begin <= rest.size() && evaluator.ok();) {
    size_t dot = std::min(rest.find('.', begin), rest.size());
    std::string part = rest.substr(begin, dot - begin);
    int64_t index = 0;
    bool isIndex = !part.empty() &&
                   part.find_first_not_of("0123456789") == std::string::npos;
    if (isIndex && !absl::SimpleAtoi(part, &index))
      isIndex = false;
    item =
        evaluator.getItem(item, isIndex ? Value::of(index) : Value::of(part));
    begin = dot + 1;
  }
  return item;
}

Value keyOf(Evaluator &evaluator, const Value &item, const Value *attribute,
            bool caseSensitive) {
  Value key = attribute && !attribute->is(Kind::None)
                  ? attributeOf(evaluator, item, *attribute)
                  : item;
  return !caseSensitive && key.is(Kind::String)
             ? Value::of(lowerText(key.string()))
             : key;
}

Value lengthFilter(Evaluator &evaluator, const Value &value,
                   const Arguments &) {
  switch (value.kind()) {
  case Kind::Undefined:
    return Value::of(int64_t{0});
  case Kind::String:
    return Value::of(static_cast<int64_t>(countCodePoints(value.string())));
  case Kind::List:
  case Kind::Tuple:
    return Value::of(static_cast<int64_t>(value.list().size()));
  case Kind::Dict:
    return Value::of(static_cast<int64_t>(value.dict().entries.size()));
  default:
    return evaluator.fail(
        absl::StrCat("a value of type ", typeName(value), " has no length"));
  }
}

Value defaultFilter(Evaluator &, const Value &value,
                    const Arguments &arguments) {
  if (!value.is(Kind::Undefined) &&
      !(flagOf(arguments, 1, "boolean") && !isTrue(value)))
    return value;
  const Value *fallback = arguments.find(0, "default_value");
  return fallback ? *fallback : Value::of(std::string());
}

Value joinFilter(Evaluator &evaluator, const Value &value,
                 const Arguments &arguments) {
  std::string separator = textOf(arguments, 0, "d", ""), out;
  const Value *attribute = arguments.find(1, "attribute");
  bool first = true;
  for (const Value &item : evaluator.iterate(value)) {
    std::string part = toText(keyOf(evaluator, item, attribute, true));
    if (!evaluator.spend(1,
                         static_cast<int64_t>(part.size() + separator.size())))
      return Value();
    out += first ? part : separator + part;
    first = false;
  }
  return evaluator.text(std::move(out));
}

Value replaceFilter(Evaluator &evaluator, const Value &value,
                    const Arguments &arguments) {
  Arguments plain;
  plain.positional = {Value::of(textOf(arguments, 0, "old", "")),
                      Value::of(textOf(arguments, 1, "new", "")),
                      Value::of(integerOf(arguments, 2, "count", -1))};
  return callMethod(evaluator, Value::of(toText(value)), "replace", plain);
}

Value intFilter(Evaluator &, const Value &value, const Arguments &arguments) {
  if (value.isInteger())
    return Value::of(value.integer());
  const Value *given = arguments.find(0, "default");
  Value fallback = given ? *given : Value::of(int64_t{0});
  double real = 0;
  if (value.is(Kind::String)) {
    std::string text = stripText(value.string(), nullptr, 3);
    int64_t number = 0;
    if (absl::SimpleAtoi(text, &number))
      return Value::of(number);
    if (!absl::SimpleAtod(text, &real))
      return fallback;
  } else if (value.is(Kind::Float)) {
    real = value.real();
  } else {
    return fallback;
  }
  return std::abs(real) < 9.2e18 ? Value::of(static_cast<int64_t>(real))
                                 : fallback;
}

Value floatFilter(Evaluator &, const Value &value, const Arguments &arguments) {
  if (value.isNumber())
    return Value::of(value.real());
  double real = 0;
  if (value.is(Kind::String) &&
      absl::SimpleAtod(stripText(value.string(), nullptr, 3), &real))
    return Value::of(real);
  const Value *fallback = arguments.find(0, "default");
  return fallback ? *fallback : Value::of(0.0);
}

Value itemsFilter(Evaluator &evaluator, const Value &value,
                  const Arguments &arguments) {
  if (value.is(Kind::Undefined))
    return Value::of(List{});
  if (!value.is(Kind::Dict))
    return evaluator.fail(
        absl::StrCat("items: expected a dictionary, got ", typeName(value)));
  return callMethod(evaluator, value, "items", arguments);
}

// The arguments behind the first `count`.
Arguments tailOf(const Arguments &arguments, size_t count) {
  Arguments tail;
  if (arguments.positional.size() > count)
    tail.positional.assign(arguments.positional.begin() +
                               static_cast<ptrdiff_t>(count),
                           arguments.positional.end());
  tail.named = arguments.named;
  return tail;
}

Value mapFilter(Evaluator &evaluator, const Value &value,
                const Arguments &arguments) {
  List out;
  const Value *attribute = nullptr, *fallback = nullptr;
  for (const auto &[name, given] : arguments.named) {
    attribute = name == "attribute" ? &given : attribute;
    fallback = name == "default" ? &given : fallback;
  }
  if (!attribute && (arguments.positional.empty() ||
                     !isFilter(toText(arguments.positional[0]))))
    return evaluator.fail("map: expected a filter's name or an attribute");
  for (const Value &item : evaluator.iterate(value)) {
    if (!evaluator.spend(1, sizeof(Value)))
      return Value();
    Value made = attribute
                     ? attributeOf(evaluator, item, *attribute)
                     : applyFilter(evaluator, toText(arguments.positional[0]),
                                   item, tailOf(arguments, 1));
    out.push_back(attribute && fallback && made.is(Kind::Undefined) ? *fallback
                                                                    : made);
  }
  return Value::of(std::move(out));
}

Value choose(Evaluator &evaluator, const Value &value,
             const Arguments &arguments, bool byAttribute, bool keep) {
  size_t skip = byAttribute ? 1 : 0;
  if (byAttribute && arguments.positional.empty())
    return evaluator.fail("expected the name of an attribute");
  bool hasTest = arguments.positional.size() > skip;
  std::string test = hasTest ? toText(arguments.positional[skip]) : "";
  if (test == "==" || test == "!=")
    test = test == "==" ? "eq" : "ne";
  if (hasTest && !isTest(test))
    return evaluator.fail(absl::StrCat("no test named `", test, "`"));
  Arguments rest = tailOf(arguments, skip + 1);
  List out;
  for (const Value &item : evaluator.iterate(value)) {
    if (!evaluator.spend(1, sizeof(Value)))
      return Value();
    Value probe = byAttribute
                      ? attributeOf(evaluator, item, arguments.positional[0])
                      : item;
    bool accepted =
        hasTest ? applyTest(evaluator, test, probe, rest) : isTrue(probe);
    if (accepted == keep)
      out.push_back(item);
  }
  return Value::of(std::move(out));
}

// Sorts by `key`, stable; an error where two keys have no order.
void sortBy(Evaluator &evaluator, List &items, const std::vector<Value> &keys,
            bool reverse) {
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  for (size_t i = 1; i < keys.size() && evaluator.ok();
       ++i) // all comparable with each other, or sorting is undefined
    if (absl::StatusOr<int> result = compare(keys[0], keys[i]); !result.ok())
      evaluator.fail(result.status().message());
  if (!evaluator.ok() ||
      !evaluator.spend(static_cast<int64_t>(items.size()) * 20))
    return;
  auto before = [&](size_t a, size_t b) {
    absl::StatusOr<int> result = compare(keys[a], keys[b]);
    return result.ok() && (reverse ? *result > 0 : *result < 0);
  };
  // Merging stays inside its ranges whatever the order says; NaN has none,
  // which std::sort would not survive.
  std::vector<size_t> merged(order.size());
  for (size_t width = 1; width < order.size(); width *= 2) {
    for (size_t begin = 0; begin < order.size(); begin += 2 * width) {
      auto first = order.begin() + static_cast<ptrdiff_t>(begin);
      auto middle = order.begin() + static_cast<ptrdiff_t>(
                                        std::min(begin + width, order.size()));
      auto end = order.begin() + static_cast<ptrdiff_t>(
                                     std::min(begin + 2 * width, order.size()));
      std::merge(first, middle, middle, end,
                 merged.begin() + static_cast<ptrdiff_t>(begin), before);
    }
    order.swap(merged);
  }
  List sorted;
  for (size_t index : order)
    sorted.push_back(items[index]);
  items = std::move(sorted);
}

Value sortFilter(Evaluator &evaluator, const Value &value,
                 const Arguments &arguments) {
  List items = evaluator.iterate(value);
  std::vector<Value> keys;
  for (const Value &item : items)
    keys.push_back(keyOf(evaluator, item, arguments.find(2, "attribute"),
                         flagOf(arguments, 1, "case_sensitive")));
  sortBy(evaluator, items, keys, flagOf(arguments, 0, "reverse"));
  return Value::of(std::move(items));
}

Value dictsortFilter(Evaluator &evaluator, const Value &value,
                     const Arguments &arguments) {
  List items = itemsFilter(evaluator, value, {}).is(Kind::List)
                   ? callMethod(evaluator, value, "items", {}).list()
                   : List{};
  int64_t part = textOf(arguments, 1, "by", "key") == "value";
  Value index = Value::of(part);
  std::vector<Value> keys;
  for (const Value &item : items)
    keys.push_back(
        keyOf(evaluator, item, &index, flagOf(arguments, 0, "case_sensitive")));
  sortBy(evaluator, items, keys, flagOf(arguments, 2, "reverse"));
  return Value::of(std::move(items));
}

Value uniqueFilter(Evaluator &evaluator, const Value &value,
                   const Arguments &arguments) {
  List out;
  std::vector<Value> keys;
  for (const Value &item : evaluator.iterate(value)) {
    Value key = keyOf(evaluator, item, arguments.find(1, "attribute"),
                      flagOf(arguments, 0, "case_sensitive"));
    if (!evaluator.spend(static_cast<int64_t>(keys.size()) + 1))
      return Value();
    if (std::any_of(keys.begin(), keys.end(),
                    [&](const Value &other) { return equal(key, other); }))
      continue;
    keys.push_back(key);
    out.push_back(item);
  }
  return Value::of(std::move(out));
}

Value extreme(Evaluator &evaluator, const Value &value,
              const Arguments &arguments, int sign) {
  Value best = Value::undefined("item"), bestKey;
  for (const Value &item : evaluator.iterate(value)) {
    Value key = keyOf(evaluator, item, arguments.find(1, "attribute"),
                      flagOf(arguments, 0, "case_sensitive"));
    absl::StatusOr<int> order =
        best.is(Kind::Undefined) ? 1 * sign : compare(key, bestKey);
    if (!order.ok())
      return evaluator.fail(order.status().message());
    if (*order * sign > 0) {
      best = item;
      bestKey = key;
    }
  }
  return best;
}

Value sumFilter(Evaluator &evaluator, const Value &value,
                const Arguments &arguments) {
  const Value *start = arguments.find(1, "start");
  double real = start && start->isNumber() ? start->real() : 0;
  int64_t whole = start && start->isInteger() ? start->integer() : 0;
  bool allWhole = !start || start->isInteger();
  for (const Value &item : evaluator.iterate(value)) {
    Value number = keyOf(evaluator, item, arguments.find(0, "attribute"), true);
    if (!number.isNumber())
      return evaluator.fail(
          absl::StrCat("sum: expected numbers, got ", typeName(number)));
    real += number.real();
    allWhole = allWhole && number.isInteger();
    if (allWhole && __builtin_add_overflow(whole, number.integer(), &whole))
      return evaluator.fail("a number needs more than 64 bits");
  }
  return allWhole ? Value::of(whole) : Value::of(real);
}

Value roundFilter(Evaluator &evaluator, const Value &value,
                  const Arguments &arguments) {
  int64_t precision = integerOf(arguments, 0, "precision", 0);
  std::string method = textOf(arguments, 1, "method", "common");
  if (!value.isNumber() || precision < 0 || precision > 300)
    return evaluator.fail(
        "round: expected a number, and a precision from 0 to 300");
  if (method == "common") {
    if (value.isInteger())
      return Value::of(value.integer());
    char buffer[700];
    std::snprintf(buffer, sizeof(buffer), "%.*f", static_cast<int>(precision),
                  value.real());
    double rounded = 0;
    (void)absl::SimpleAtod(buffer, &rounded);
    return Value::of(rounded);
  }
  double scale = std::pow(10.0, static_cast<double>(precision));
  double scaled = value.real() * scale;
  return Value::of((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) /
                   scale);
}

Value titleFilter(Evaluator &evaluator, const Value &value, const Arguments &) {
  std::string text = toText(value), out;
  bool starts = true;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = nextCodePoint(text, at);
    std::string one = text.substr(begin, at - begin);
    bool breaks = isWhiteSpace(c) || c == '-' || c == '(' || c == '{' ||
                  c == '[' || c == '<';
    out += starts && !breaks ? upperText(one) : lowerText(one);
    starts = breaks;
  }
  return evaluator.text(std::move(out));
}

Value indentFilter(Evaluator &evaluator, const Value &value,
                   const Arguments &arguments) {
  const Value *width = arguments.find(0, "width");
  std::string by =
      width && width->is(Kind::String)
          ? width->string()
          : std::string(static_cast<size_t>(std::clamp<int64_t>(
                            integerOf(arguments, 0, "width", 4), 0, 1000)),
                        ' ');
  List lines =
      callMethod(evaluator, Value::of(toText(value) + "\n"), "splitlines", {})
              .is(Kind::List)
          ? callMethod(evaluator, Value::of(toText(value) + "\n"), "splitlines",
                       {})
                .list()
          : List{};
  std::string out = flagOf(arguments, 1, "first") ? by : "";
  bool blank = flagOf(arguments, 2, "blank");
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line = toText(lines[i]);
    if (!evaluator.spend(1, static_cast<int64_t>(line.size() + by.size())))
      return Value();
    if (i > 0)
      out += "\n" + (line.empty() && !blank ? "" : by);
    out += line;
  }
  return evaluator.text(std::move(out));
}

std::string asciiOnly(const std::string &json) {
  std::string out;
  char buffer[16];
  for (size_t at = 0; at < json.size();) {
    char32_t c = nextCodePoint(json, at);
    if (c < 0x80) {
      out += static_cast<char>(c);
      continue;
    }
    if (c >= 0x10000) {
      std::snprintf(buffer, sizeof(buffer), "\\u%04x",
                    static_cast<unsigned>(0xD800 + ((c - 0x10000) >> 10)));
      out += buffer;
      c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    std::snprintf(buffer, sizeof(buffer), "\\u%04x", static_cast<unsigned>(c));
    out += buffer;
  }
  return out;
}

Value tojsonFilter(Evaluator &evaluator, const Value &value,
                   const Arguments &arguments) {
  const Value *indent = arguments.find(1, "indent");
  bool lines = indent && indent->isInteger();
  std::string itemSeparator = lines ? "," : ", ", keySeparator = ": ";
  if (const Value *separators = arguments.find(2, "separators");
      separators && separators->isList() && separators->list().size() == 2) {
    itemSeparator = toText(separators->list()[0]);
    keySeparator = toText(separators->list()[1]);
  }
  absl::StatusOr<std::string> json =
      toJson(value, lines ? std::max<int64_t>(indent->integer(), 0) : -1,
             itemSeparator, keySeparator, flagOf(arguments, 3, "sort_keys"));
  if (!json.ok())
    return evaluator.fail(json.status().message());
  return evaluator.text(flagOf(arguments, 0, "ensure_ascii")
                            ? asciiOnly(*json)
                            : *std::move(json));
}

Value escapeFilter(Evaluator &evaluator, const Value &value,
                   const Arguments &) {
  std::string out;
  for (char c : toText(value))
    out += c == '&'    ? "&amp;"
           : c == '<'  ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '"'  ? "&#34;"
           : c == '\'' ? "&#39;"
                       : std::string(1, c);
  return evaluator.text(std::move(out));
}

Value endOf(Evaluator &evaluator, const Value &value, bool last) {
  List items = evaluator.iterate(value);
  return items.empty() ? Value::undefined("item")
         : last        ? items.back()
                       : items.front();
}

Value reverseFilter(Evaluator &evaluator, const Value &value,
                    const Arguments &) {
  List items = evaluator.iterate(value);
  std::reverse(items.begin(), items.end());
  if (!value.is(Kind::String))
    return Value::of(std::move(items));
  std::string out;
  for (const Value &item : items)
    out += item.string();
  return evaluator.text(std::move(out));
}

Value batchFilter(Evaluator &evaluator, const Value &value,
                  const Arguments &arguments) {
  int64_t count = integerOf(arguments, 0, "linecount", 0);
  const Value *fill = arguments.find(1, "fill_with");
  if (count < 1 || count > 100'000)
    return evaluator.fail("batch: expected a count from 1 to 100000");
  List rows, row;
  for (const Value &item : evaluator.iterate(value)) {
    row.push_back(item);
    if (static_cast<int64_t>(row.size()) == count)
      rows.push_back(Value::of(std::exchange(row, {})));
  }
  if (!row.empty()) {
    while (fill && static_cast<int64_t>(row.size()) < count &&
           evaluator.spend(1, sizeof(Value)))
      row.push_back(*fill);
    rows.push_back(Value::of(std::move(row)));
  }
  return Value::of(std::move(rows));
}

template <auto textFunction>
Value textFilter(Evaluator &evaluator, const Value &value, const Arguments &) {
  return evaluator.text(textFunction(toText(value)));
}

template <bool byAttribute, bool keep>
Value chooseFilter(Evaluator &evaluator, const Value &value,
                   const Arguments &arguments) {
  return choose(evaluator, value, arguments, byAttribute, keep);
}

Value listFilter(Evaluator &evaluator, const Value &value, const Arguments &) {
  return Value::of(evaluator.iterate(value));
}

Value stringFilter(Evaluator &evaluator, const Value &value,
                   const Arguments &) {
  return evaluator.text(toText(value));
}

struct NamedFilter {
  const char *name;
  Filter apply;
};

constexpr NamedFilter namedFilters[] = {
    {"trim",
     [](Evaluator &e, const Value &v, const Arguments &a) {
       std::string characters = textOf(a, 0, "chars", "");
       return e.text(
           stripText(toText(v), characters.empty() ? nullptr : &characters, 3));
     }},
    {"length", lengthFilter},
    {"count", lengthFilter},
    {"upper", textFilter<upperText>},
    {"lower", textFilter<lowerText>},
    {"capitalize", textFilter<capitalizeText>},
    {"title", titleFilter},
    {"string", stringFilter},
    {"safe", stringFilter},
    {"default", defaultFilter},
    {"d", defaultFilter},
    {"tojson", tojsonFilter},
    {"join", joinFilter},
    {"replace", replaceFilter},
    {"first", [](Evaluator &e, const Value &v,
                 const Arguments &) { return endOf(e, v, false); }},
    {"last", [](Evaluator &e, const Value &v,
                const Arguments &) { return endOf(e, v, true); }},
    {"int", intFilter},
    {"float", floatFilter},
    {"items", itemsFilter},
    {"map", mapFilter},
    {"select", chooseFilter<false, true>},
    {"reject", chooseFilter<false, false>},
    {"selectattr", chooseFilter<true, true>},
    {"rejectattr", chooseFilter<true, false>},
    {"list", listFilter},
    {"sort", sortFilter},
    {"dictsort", dictsortFilter},
    {"unique", uniqueFilter},
    {"min", [](Evaluator &e, const Value &v,
               const Arguments &a) { return extreme(e, v, a, -1); }},
    {"max", [](Evaluator &e, const Value &v,
               const Arguments &a) { return extreme(e, v, a, 1); }},
    {"sum", sumFilter},
    {"round", roundFilter},
    {"indent", indentFilter},
    {"escape", escapeFilter},
    {"e", escapeFilter},
    {"reverse", reverseFilter},
    {"batch", batchFilter},
    {"abs",
     [](Evaluator &e, const Value &v, const Arguments &) {
       if (v.isInteger() && v.integer() != INT64_MIN)
         return Value::of(std::abs(v.integer()));
       return v.is(Kind::Float) ? Value::of(std::abs(v.real()))
                                : e.fail("abs: expected a number");
     }},
    {"attr",
     [](Evaluator &e, const Value &v, const Arguments &a) {
       return e.getAttribute(v, textOf(a, 0, "name", ""));
     }},
    {"wordcount",
     [](Evaluator &e, const Value &v, const Arguments &) {
       Value words = callMethod(e, Value::of(toText(v)), "split", {});
       return Value::of(static_cast<int64_t>(
           words.is(Kind::List) ? words.list().size() : 0));
     }},
};

const absl::flat_hash_map<std::string, Filter> &filterTable() {
  static const auto &table = *[] {
    auto *made = new absl::flat_hash_map<std::string, Filter>;
    for (const NamedFilter &filter : namedFilters)
      made->emplace(filter.name, filter.apply);
    return made;
  }();
  return table;
}

} // namespace

bool isFilter(std::string_view name) {
  return filterTable().contains(absl::string_view(name.data(), name.size()));
}

Value applyFilter(Evaluator &evaluator, const std::string &name,
                  const Value &value, const Arguments &arguments) {
  auto found = filterTable().find(name);
  if (found == filterTable().end())
    return evaluator.fail(absl::StrCat("no filter named `", name, "`"));
  int64_t size = value.is(Kind::String)
                     ? static_cast<int64_t>(value.string().size() / 64)
                     : 0;
  return evaluator.spend(1 + size) ? found->second(evaluator, value, arguments)
                                   : Value();
}

} // namespace sol::text::jinja
