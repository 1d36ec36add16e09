//===- size_expression.cpp - sizes of a plan's ports ----------------------===//
//
// A recursive-descent evaluator. Written here because the grammar is the
// compiler's own and the runtime links none of it.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/size_expression.h"

#include "runtime/plan/plan_file.h"

#include <algorithm>
#include <cctype>
#include <functional>

namespace sol {
namespace {

using Lookup = std::function<std::optional<int64_t>(const std::string &)>;

class Evaluator {
public:
  Evaluator(std::string_view text, const Lookup &lookup)
      : text(text), lookup(lookup) {}

  std::optional<int64_t> run() {
    std::optional<int64_t> value = sum(0);
    skipSpace();
    return position == text.size() ? value : std::nullopt;
  }

  /// Reads one symbol at the current position; empty if there is none.
  std::string symbol() {
    skipSpace();
    std::string name;
    if (position < text.size() && text[position] == '\'')
      return quotedSymbol();
    auto isStart = [](unsigned char c) {
      return std::isalpha(c) || c == '_' || c == '@' || c >= 0x80;
    };
    if (position >= text.size() || !isStart(text[position]))
      return name;
    while (position < text.size() &&
           (isStart(text[position]) ||
            std::isdigit(static_cast<unsigned char>(text[position])) ||
            std::string_view(".#:$").find(text[position]) !=
                std::string_view::npos))
      name += text[position++];
    return name;
  }
  bool atEnd() const { return position == text.size(); }

private:
  std::string quotedSymbol() {
    std::string name;
    ++position;
    while (position < text.size() && text[position] != '\'') {
      if (text[position] == '\\' && position + 2 < text.size()) {
        std::string hex(text.substr(position + 1, 2));
        name += static_cast<char>(std::strtol(hex.c_str(), nullptr, 16));
        position += 3;
      } else {
        name += text[position++];
      }
    }
    ++position;
    return name;
  }

  void skipSpace() {
    while (position < text.size() && text[position] == ' ')
      ++position;
  }
  bool accept(char c) {
    skipSpace();
    if (position >= text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  std::optional<int64_t> sum(int depth) {
    if (depth > planMaxSizeDepth)
      return std::nullopt;
    bool negative = accept('-');
    std::optional<int64_t> total = product(depth);
    if (total && negative)
      *total = -*total;
    while (total) {
      bool plus = accept('+');
      if (!plus && !accept('-'))
        return total;
      std::optional<int64_t> next = product(depth);
      if (!next)
        return std::nullopt;
      int64_t result;
      bool overflow = plus ? __builtin_add_overflow(*total, *next, &result)
                           : __builtin_sub_overflow(*total, *next, &result);
      if (overflow)
        return std::nullopt;
      total = result;
    }
    return total;
  }

  std::optional<int64_t> product(int depth) {
    std::optional<int64_t> total = factor(depth);
    while (total && accept('*')) {
      std::optional<int64_t> next = factor(depth);
      int64_t result;
      if (!next || __builtin_mul_overflow(*total, *next, &result))
        return std::nullopt;
      total = result;
    }
    return total;
  }

  std::optional<int64_t> factor(int depth) {
    skipSpace();
    if (position < text.size() &&
        std::isdigit(static_cast<unsigned char>(text[position])))
      return number();
    std::string name = symbol();
    if (name.empty())
      return std::nullopt;
    if (accept('('))
      return call(name, depth + 1);
    return lookup(name);
  }

  std::optional<int64_t> number() {
    int64_t value = 0;
    while (position < text.size() &&
           std::isdigit(static_cast<unsigned char>(text[position])))
      if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
          __builtin_add_overflow(value, int64_t{text[position++] - '0'},
                                 &value))
        return std::nullopt;
    return value;
  }

  std::optional<int64_t> call(const std::string &name, int depth) {
    std::optional<int64_t> result = sum(depth);
    while (result && accept(',')) {
      std::optional<int64_t> next = sum(depth);
      if (!next)
        return std::nullopt;
      result = apply(name, *result, *next);
    }
    return accept(')') ? result : std::nullopt;
  }

  static std::optional<int64_t> apply(const std::string &name, int64_t a,
                                      int64_t b) {
    if (name == "max")
      return std::max(a, b);
    if (name == "min")
      return std::min(a, b);
    if (b == 0 || (b == -1 && a == INT64_MIN))
      return std::nullopt;
    int64_t quotient = a / b, rest = a % b;
    bool below = rest != 0 && (rest < 0) != (b < 0);
    if (name == "floordiv")
      return quotient - below;
    if (name == "ceildiv")
      return quotient + (rest != 0 && !below);
    if (name == "mod")
      return below ? rest + b : rest;
    return std::nullopt;
  }

  std::string_view text;
  const Lookup &lookup;
  size_t position = 0;
};

std::optional<int64_t> evaluateWith(std::string_view text,
                                    const Lookup &lookup) {
  return Evaluator(text, lookup).run();
}

} // namespace

std::optional<int64_t> evaluateSize(std::string_view text,
                                    const SizeBindings &bindings) {
  return evaluateWith(text,
                      [&](const std::string &name) -> std::optional<int64_t> {
                        auto found = bindings.find(name);
                        if (found == bindings.end())
                          return std::nullopt;
                        return found->second;
                      });
}

std::optional<std::string> symbolOf(std::string_view text) {
  Lookup none = [](const std::string &) { return std::nullopt; };
  Evaluator evaluator(text, none);
  std::string name = evaluator.symbol();
  if (name.empty() || !evaluator.atEnd())
    return std::nullopt;
  return name;
}

void solveSize(std::string_view text, int64_t value, SizeBindings &bindings) {
  std::string unknown;
  bool several = false;
  auto at = [&](int64_t trial) {
    return evaluateWith(text,
                        [&](const std::string &name) -> std::optional<int64_t> {
                          auto found = bindings.find(name);
                          if (found != bindings.end())
                            return found->second;
                          several |= !unknown.empty() && unknown != name;
                          unknown = name;
                          return trial;
                        });
  };
  // A summand by itself: the value grows by one as the unknown does.
  std::optional<int64_t> atZero = at(0), atOne = at(1), atTwo = at(2);
  if (unknown.empty() || several || !atZero || !atOne || !atTwo ||
      *atOne - *atZero != 1 || *atTwo - *atOne != 1 || value < *atZero)
    return;
  bindings[unknown] = value - *atZero;
}

} // namespace sol
