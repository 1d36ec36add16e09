//===- SizeText.cpp - symbolic sizes to text and back ---------------------===//
//
// Writes the canonical text and reads it, together with the spellings that
// exporters use for formulas. What does not read as a formula is one symbol.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/SizeAlgebra.h"

#include "runtime/plan/plan_file.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace sol::nn {

using Atom = SymbolicSize::Atom;
using llvm::StringRef;

static constexpr const char *functionNames[] = {"",    "floordiv", "ceildiv",
                                                "mod", "max",      "min"};
/// Longer texts are no formulas that an exporter writes; deeper nesting is none
/// that a runtime would read.
static constexpr size_t maxFormula = 4096;
static constexpr int maxDepth = planMaxSizeDepth;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static bool isIdentifierStart(char c) {
  return llvm::isAlpha(c) || c == '_' || c == '@' || (c & 0x80);
}

static bool isIdentifierPart(char c) {
  return isIdentifierStart(c) || llvm::isDigit(c) || c == '.' || c == '#' ||
         c == ':' || c == '$';
}

static bool isFunctionName(StringRef name) {
  return llvm::StringSwitch<bool>(name.lower())
      .Cases({"floordiv", "ceildiv", "mod", "max", "min"}, true)
      .Cases({"floor", "ceil", "ceiling"}, true)
      .Default(false);
}

static std::string symbolText(StringRef name) {
  if (!name.empty() && isIdentifierStart(name.front()) &&
      llvm::all_of(name, isIdentifierPart) && !isFunctionName(name))
    return name.str();
  std::string text = "'";
  for (char c : name) {
    if (c == '\'' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ||
        c == 0x7f) {
      text += '\\';
      text += llvm::hexdigit((c >> 4) & 15);
      text += llvm::hexdigit(c & 15);
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string SizeAlgebra::atomText(const Atom &atom) {
  if (atom.kind == Atom::Symbol)
    return symbolText(atom.name);
  std::string text = functionNames[atom.kind];
  text += '(';
  for (size_t i = 0; i < atom.operands.size(); ++i)
    text += (i ? ", " : "") + atom.operands[i].text();
  return text + ")";
}

std::string SymbolicSize::text() const {
  if (!known)
    return "?";
  if (terms.empty())
    return "0";
  std::string text;
  for (const Term &term : terms) {
    bool negative = term.coefficient < 0;
    if (!text.empty())
      text += negative ? " - " : " + ";
    else if (negative)
      text += "-";
    uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(term.coefficient)
                                  : static_cast<uint64_t>(term.coefficient);
    bool first = true;
    if (magnitude != 1 || term.factors.empty()) {
      text += std::to_string(magnitude);
      first = false;
    }
    for (const AtomRef &factor : term.factors) {
      text += (first ? "" : "*") + factor->text;
      first = false;
    }
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Recursive descent; every function gives unknown on anything unexpected.
class FormulaParser {
public:
  explicit FormulaParser(StringRef text) : rest(text) {}

  SymbolicSize parse() {
    SymbolicSize size = sum(0);
    skipSpace();
    return rest.empty() ? size : SymbolicSize();
  }

private:
  void skipSpace() { rest = rest.ltrim(" \t"); }
  bool consume(StringRef token) {
    skipSpace();
    return rest.consume_front(token);
  }

  SymbolicSize sum(int depth) {
    if (depth > maxDepth)
      return {};
    bool negative = consume("-");
    SymbolicSize size = product(depth);
    if (negative)
      size = -size;
    while (size.isKnown()) {
      if (consume("+"))
        size = size + product(depth);
      else if (consume("-"))
        size = size - product(depth);
      else
        break;
    }
    return size;
  }

  SymbolicSize product(int depth) {
    SymbolicSize size = factor(depth);
    while (size.isKnown()) {
      if (rest.ltrim(" \t").starts_with("**"))
        return {};
      if (consume("*"))
        size = size * factor(depth);
      else if (consume("//"))
        size = SymbolicSize::floorDiv(size, factor(depth));
      else if (consume("%"))
        size = SymbolicSize::mod(size, factor(depth));
      else
        break;
    }
    return size;
  }

  SymbolicSize factor(int depth) {
    skipSpace();
    if (rest.empty())
      return {};
    if (llvm::isDigit(rest.front())) {
      StringRef digits = rest.take_while(llvm::isDigit);
      rest = rest.drop_front(digits.size());
      int64_t value;
      if (digits.getAsInteger(10, value) ||
          (!rest.empty() && isIdentifierPart(rest.front())))
        return {};
      return value;
    }
    if (rest.front() == '\'')
      return quoted();
    if (consume("(")) {
      SymbolicSize size = sum(depth + 1);
      return consume(")") ? size : SymbolicSize();
    }
    if (!isIdentifierStart(rest.front()))
      return {};
    StringRef name = identifier();
    if (isFunctionName(name))
      return consume("(") ? call(name.lower(), depth + 1) : SymbolicSize();
    return SymbolicSize::symbol(name);
  }

  /// A hyphen between a name and a letter, without spaces, is part of a name.
  StringRef identifier() {
    size_t end = 0;
    while (end < rest.size() && (isIdentifierPart(rest[end]) ||
                                 (rest[end] == '-' && end + 1 < rest.size() &&
                                  isIdentifierStart(rest[end + 1]))))
      ++end;
    StringRef name = rest.take_front(end);
    rest = rest.drop_front(end);
    return name;
  }

  SymbolicSize quoted() {
    std::string name;
    rest = rest.drop_front();
    while (!rest.empty() && rest.front() != '\'') {
      if (rest.front() == '\\') {
        if (rest.size() < 3 || !llvm::isHexDigit(rest[1]) ||
            !llvm::isHexDigit(rest[2]))
          return {};
        name += static_cast<char>(llvm::hexFromNibbles(rest[1], rest[2]));
        rest = rest.drop_front(3);
      } else {
        name += rest.front();
        rest = rest.drop_front();
      }
    }
    return rest.consume_front("'") ? SymbolicSize::symbol(name)
                                   : SymbolicSize();
  }

  SymbolicSize call(const std::string &name, int depth) {
    std::vector<SymbolicSize> operands;
    // `floor(a/b)` and `ceiling(a/b)` are the only places of a single slash.
    bool rounds = name == "floor" || name == "ceil" || name == "ceiling";
    do {
      operands.push_back(sum(depth));
      if (rounds && consume("/"))
        operands.push_back(product(depth));
    } while (!rounds && consume(","));
    if (!consume(")") || (operands.size() != 1 && operands.size() != 2 &&
                          name != "max" && name != "min"))
      return {};
    if (rounds && operands.size() == 1)
      return operands[0];
    if (name == "max" || name == "min") {
      SymbolicSize size = operands[0];
      for (size_t i = 1; i < operands.size(); ++i)
        size = name == "max" ? SymbolicSize::max(size, operands[i])
                             : SymbolicSize::min(size, operands[i]);
      return size;
    }
    if (operands.size() != 2)
      return {};
    if (name == "mod")
      return SymbolicSize::mod(operands[0], operands[1]);
    return name.starts_with("c")
               ? SymbolicSize::ceilDiv(operands[0], operands[1])
               : SymbolicSize::floorDiv(operands[0], operands[1]);
  }

  StringRef rest;
};
} // namespace

SymbolicSize SymbolicSize::parse(StringRef text) {
  if (text.size() <= maxFormula)
    if (SymbolicSize size = FormulaParser(text).parse(); size.isKnown())
      return size;
  return symbol(text);
}

} // namespace sol::nn
