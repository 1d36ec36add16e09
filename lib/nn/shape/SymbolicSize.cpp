//===- SymbolicSize.cpp - sizes as expressions over symbols ---------------===//
//
// Canonical form and arithmetic. Reading and writing text is in SizeText.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/SizeAlgebra.h"

#include <algorithm>
#include <limits>

namespace sol::nn {

using Atom = SymbolicSize::Atom;
using AtomRef = SymbolicSize::AtomRef;
using Term = SymbolicSize::Term;

/// Above this many terms an expression is of no use and treated as unknown.
static constexpr size_t maxTerms = 64;
/// Likewise for calls of longer text.
static constexpr size_t maxText = 1024;

/// Bounds of a size; nullopt: unbounded on that side.
struct SymbolicSize::Bounds {
  std::optional<int64_t> low, high;
};

//===----------------------------------------------------------------------===//
// Canonical form
//===----------------------------------------------------------------------===//

/// Higher degree first, then by the factors' texts.
static int compareFactors(const Term &a, const Term &b) {
  if (a.factors.size() != b.factors.size())
    return a.factors.size() > b.factors.size() ? -1 : 1;
  for (size_t i = 0; i < a.factors.size(); ++i)
    if (int order = a.factors[i]->text.compare(b.factors[i]->text))
      return order;
  return 0;
}

SymbolicSize SymbolicSize::fromTerms(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), [](const Term &a, const Term &b) {
    return compareFactors(a, b) < 0;
  });
  SymbolicSize result;
  for (Term &term : terms) {
    if (!result.terms.empty() &&
        compareFactors(result.terms.back(), term) == 0) {
      if (__builtin_add_overflow(result.terms.back().coefficient,
                                 term.coefficient,
                                 &result.terms.back().coefficient))
        return {};
    } else {
      result.terms.push_back(std::move(term));
    }
  }
  std::erase_if(result.terms, [](const Term &t) { return t.coefficient == 0; });
  if (result.terms.size() > maxTerms)
    return {};
  result.known = true;
  return result;
}

SymbolicSize SizeAlgebra::fromAtom(Atom atom) {
  atom.text = atomText(atom);
  Term term;
  term.factors.push_back(std::make_shared<const Atom>(std::move(atom)));
  term.coefficient = 1;
  return SymbolicSize::fromTerms({term});
}

SymbolicSize SizeAlgebra::call(Atom::Kind kind,
                               std::vector<SymbolicSize> operands) {
  SymbolicSize size = fromAtom(Atom{kind, "", "", std::move(operands)});
  // Nesting without end would take memory without end.
  return size.terms[0].factors[0]->text.size() > maxText ? SymbolicSize()
                                                         : size;
}

/// The operands of `size` if it is exactly one atom of `kind`, else `size`.
static std::vector<SymbolicSize> flatten(const SymbolicSize &size,
                                         Atom::Kind kind) {
  const auto &terms = SizeAlgebra::terms(size);
  if (terms.size() == 1 && terms[0].coefficient == 1 &&
      terms[0].factors.size() == 1 && terms[0].factors[0]->kind == kind)
    return terms[0].factors[0]->operands;
  return {size};
}

SymbolicSize::SymbolicSize(int64_t constant) : known(true) {
  if (constant != 0)
    terms.push_back(Term{{}, constant});
}

SymbolicSize SymbolicSize::symbol(llvm::StringRef name) {
  return SizeAlgebra::fromAtom(Atom{Atom::Symbol, name.str(), "", {}});
}

std::optional<int64_t> SymbolicSize::constant() const {
  if (!known)
    return std::nullopt;
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms[0].factors.empty())
    return terms[0].coefficient;
  return std::nullopt;
}

std::optional<std::string> SymbolicSize::asSymbol() const {
  if (!known || terms.size() != 1 || terms[0].coefficient != 1 ||
      terms[0].factors.size() != 1 || terms[0].factors[0]->kind != Atom::Symbol)
    return std::nullopt;
  return terms[0].factors[0]->name;
}

std::vector<SymbolicSize> SymbolicSize::minimumOf() const {
  std::vector<SymbolicSize> operands = flatten(*this, Atom::Min);
  return operands.size() > 1 ? operands : std::vector<SymbolicSize>();
}

bool SymbolicSize::operator==(const SymbolicSize &other) const {
  if (!known || !other.known || terms.size() != other.terms.size())
    return false;
  for (size_t i = 0; i < terms.size(); ++i)
    if (terms[i].coefficient != other.terms[i].coefficient ||
        compareFactors(terms[i], other.terms[i]) != 0)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

SymbolicSize SymbolicSize::operator+(const SymbolicSize &other) const {
  if (!known || !other.known)
    return {};
  std::vector<Term> sum = terms;
  sum.insert(sum.end(), other.terms.begin(), other.terms.end());
  return fromTerms(std::move(sum));
}

SymbolicSize SymbolicSize::operator-() const { return *this * -1; }

SymbolicSize SymbolicSize::operator-(const SymbolicSize &other) const {
  return *this + -other;
}

/// Product of two terms; false on overflow.
static bool multiplyTerms(const Term &a, const Term &b, Term &product) {
  product.factors = a.factors;
  product.factors.insert(product.factors.end(), b.factors.begin(),
                         b.factors.end());
  std::sort(
      product.factors.begin(), product.factors.end(),
      [](const AtomRef &x, const AtomRef &y) { return x->text < y->text; });
  return !__builtin_mul_overflow(a.coefficient, b.coefficient,
                                 &product.coefficient);
}

SymbolicSize SymbolicSize::operator*(const SymbolicSize &other) const {
  if (!known || !other.known || terms.size() * other.terms.size() > 1024)
    return {};
  std::vector<Term> products;
  for (const Term &a : terms)
    for (const Term &b : other.terms) {
      Term product;
      if (!multiplyTerms(a, b, product))
        return {};
      products.push_back(std::move(product));
    }
  return fromTerms(std::move(products));
}

/// The term q with q * divisor == term, if there is one.
static std::optional<Term> divideTerm(const Term &term, const Term &divisor) {
  bool overflows = divisor.coefficient == -1 &&
                   term.coefficient == std::numeric_limits<int64_t>::min();
  if (divisor.coefficient == 0 || overflows ||
      term.coefficient % divisor.coefficient != 0)
    return std::nullopt;
  Term quotient;
  quotient.coefficient = term.coefficient / divisor.coefficient;
  quotient.factors = term.factors;
  for (const AtomRef &factor : divisor.factors) {
    auto it =
        std::find_if(quotient.factors.begin(), quotient.factors.end(),
                     [&](const AtomRef &x) { return x->text == factor->text; });
    if (it == quotient.factors.end())
      return std::nullopt;
    quotient.factors.erase(it);
  }
  return quotient;
}

SymbolicSize SymbolicSize::exactDiv(const SymbolicSize &divisor) const {
  if (!known || !divisor.known || divisor.terms.empty())
    return {};
  // Long division by the leading term; both sides shrink in the term order.
  SymbolicSize rest = *this;
  std::vector<Term> quotient;
  for (size_t i = 0; i < maxTerms && !rest.terms.empty(); ++i) {
    std::optional<Term> q = divideTerm(rest.terms[0], divisor.terms[0]);
    if (!q)
      return {};
    quotient.push_back(*q);
    rest = rest - fromTerms({*q}) * divisor;
    if (!rest.known)
      return {};
  }
  return rest.terms.empty() ? fromTerms(std::move(quotient)) : SymbolicSize();
}

/// Splits `a` into multiples of the number `b` and the rest.
static void splitMultiples(const SymbolicSize &a, int64_t b,
                           SymbolicSize &quotient, SymbolicSize &rest) {
  quotient = 0;
  rest = 0;
  for (const Term &term : SizeAlgebra::terms(a)) {
    SymbolicSize one = SizeAlgebra::fromTerm(term);
    SymbolicSize q = one.exactDiv(b);
    if (q.isKnown()) {
      quotient = quotient + q;
    } else if (term.factors.empty()) {
      int64_t whole = term.coefficient / b;
      whole -= term.coefficient % b < 0;
      quotient = quotient + whole;
      rest = rest + (term.coefficient - whole * b);
    } else {
      rest = rest + one;
    }
  }
}

SymbolicSize SymbolicSize::floorDiv(const SymbolicSize &a,
                                    const SymbolicSize &b) {
  if (!a.known || !b.known || b.isConstant(0))
    return {};
  if (SymbolicSize exact = a.exactDiv(b); exact.known)
    return exact;
  std::optional<int64_t> divisor = b.constant();
  if (divisor && *divisor > 0) {
    SymbolicSize quotient, rest;
    splitMultiples(a, *divisor, quotient, rest);
    if (rest.isNonNegative() && rest.upperBound() &&
        *rest.upperBound() < *divisor)
      return quotient;
    return quotient + SizeAlgebra::call(Atom::FloorDiv, {rest, b});
  }
  return SizeAlgebra::call(Atom::FloorDiv, {a, b});
}

SymbolicSize SymbolicSize::ceilDiv(const SymbolicSize &a,
                                   const SymbolicSize &b) {
  if (!a.known || !b.known || b.isConstant(0))
    return {};
  if (SymbolicSize exact = a.exactDiv(b); exact.known)
    return exact;
  std::optional<int64_t> divisor = b.constant();
  if (divisor && *divisor > 0)
    return floorDiv(a + (*divisor - 1), b);
  return SizeAlgebra::call(Atom::CeilDiv, {a, b});
}

SymbolicSize SymbolicSize::mod(const SymbolicSize &a, const SymbolicSize &b) {
  if (!a.known || !b.known || b.isConstant(0))
    return {};
  if (a.exactDiv(b).known)
    return 0;
  std::optional<int64_t> divisor = b.constant();
  if (divisor && *divisor > 0) {
    SymbolicSize quotient, rest;
    splitMultiples(a, *divisor, quotient, rest);
    if (rest.isNonNegative() && rest.upperBound() &&
        *rest.upperBound() < *divisor)
      return rest;
    return SizeAlgebra::call(Atom::Mod, {rest, b});
  }
  return SizeAlgebra::call(Atom::Mod, {a, b});
}

/// max (`sign` 1) or min (`sign` -1) of all operands, dropping dominated ones.
static SymbolicSize extremum(const SymbolicSize &a, const SymbolicSize &b,
                             Atom::Kind kind) {
  if (!a.isKnown() || !b.isKnown())
    return {};
  std::vector<SymbolicSize> operands = flatten(a, kind);
  for (const SymbolicSize &x : flatten(b, kind))
    operands.push_back(x);
  std::vector<SymbolicSize> kept;
  auto dominates = [&](const SymbolicSize &x, const SymbolicSize &y) {
    SymbolicSize difference = kind == Atom::Max ? x - y : y - x;
    return difference.isNonNegative();
  };
  for (const SymbolicSize &x : operands) {
    bool needed = std::none_of(kept.begin(), kept.end(),
                               [&](const auto &y) { return dominates(y, x); });
    if (!needed)
      continue;
    std::erase_if(kept, [&](const auto &y) { return dominates(x, y); });
    kept.push_back(x);
  }
  if (kept.size() == 1)
    return kept[0];
  if (kept.size() > 8)
    return {};
  std::sort(kept.begin(), kept.end(),
            [](const auto &x, const auto &y) { return x.text() < y.text(); });
  return SizeAlgebra::call(kind, std::move(kept));
}

SymbolicSize SymbolicSize::max(const SymbolicSize &a, const SymbolicSize &b) {
  return extremum(a, b, Atom::Max);
}

SymbolicSize SymbolicSize::min(const SymbolicSize &a, const SymbolicSize &b) {
  return extremum(a, b, Atom::Min);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

using Bound = std::optional<int64_t>;

/// The larger (`upper`) or smaller bound of a max (`takeMax`) or min.
static Bound joinBounds(Bound a, Bound b, bool takeMax, bool upper) {
  // Unbounded is +inf above and -inf below.
  bool absorbs = takeMax == upper;
  if (!a || !b)
    return absorbs ? Bound() : (a ? a : b);
  return takeMax ? std::max(*a, *b) : std::min(*a, *b);
}

static Bound checkedAdd(Bound a, Bound b) {
  int64_t sum;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum))
    return std::nullopt;
  return sum;
}

static Bound checkedMul(Bound a, Bound b) {
  int64_t product;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product))
    return std::nullopt;
  return product;
}

/// Lower and upper bound of one factor.
static void atomBounds(const Atom &atom, Bound &low, Bound &high) {
  low = high = std::nullopt;
  const auto &operands = atom.operands;
  switch (atom.kind) {
  case Atom::Symbol:
    low = 0;
    return;
  case Atom::FloorDiv:
  case Atom::CeilDiv:
    // A quotient of numbers >= 0 is >= 0 and at most the dividend.
    if (operands[0].isNonNegative() && operands[1].isNonNegative()) {
      low = 0;
      high = operands[0].upperBound();
    }
    return;
  case Atom::Mod:
    if (operands[1].isNonNegative()) {
      low = 0;
      high = checkedAdd(operands[1].upperBound(), -1);
    }
    return;
  case Atom::Max:
  case Atom::Min:
    low = operands[0].lowerBound();
    high = operands[0].upperBound();
    for (size_t i = 1; i < operands.size(); ++i) {
      low = joinBounds(low, operands[i].lowerBound(), atom.kind == Atom::Max,
                       false);
      high = joinBounds(high, operands[i].upperBound(), atom.kind == Atom::Max,
                        true);
    }
    return;
  }
}

/// Bounds of a product of factors: exact where all are >= 0, else only numbers.
static void termBounds(const Term &term, Bound &low, Bound &high) {
  low = high = 1;
  bool nonNegative = true;
  for (const AtomRef &factor : term.factors) {
    Bound factorLow, factorHigh;
    atomBounds(*factor, factorLow, factorHigh);
    nonNegative &= factorLow && *factorLow >= 0;
    low = checkedMul(low, factorLow);
    high = checkedMul(high, factorHigh);
  }
  if (!nonNegative && term.factors.size() > 1)
    low = high = std::nullopt;
  // A bound of 0 above makes the product 0 whatever the others are.
  low = checkedMul(low, term.coefficient);
  high = checkedMul(high, term.coefficient);
  if (term.coefficient < 0)
    std::swap(low, high);
}

SymbolicSize::Bounds SymbolicSize::bounds() const {
  Bounds sum{0, 0};
  for (const Term &term : terms) {
    Bound low, high;
    termBounds(term, low, high);
    sum.low = checkedAdd(sum.low, low);
    sum.high = checkedAdd(sum.high, high);
  }
  return sum;
}

std::optional<int64_t> SymbolicSize::lowerBound() const {
  return known ? bounds().low : std::nullopt;
}

std::optional<int64_t> SymbolicSize::upperBound() const {
  return known ? bounds().high : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

void SymbolicSize::forEachSymbol(
    llvm::function_ref<void(llvm::StringRef)> visit) const {
  for (const Term &term : terms)
    for (const AtomRef &factor : term.factors) {
      if (factor->kind == Atom::Symbol)
        visit(factor->name);
      for (const SymbolicSize &operand : factor->operands)
        operand.forEachSymbol(visit);
    }
}

static void appendPostfix(const SymbolicSize &size,
                          std::vector<SizeStep> &steps);

static void appendAtom(const Atom &atom, std::vector<SizeStep> &steps) {
  if (atom.kind == Atom::Symbol) {
    steps.push_back({SizeStep::Symbol, 0, atom.name});
    return;
  }
  static constexpr SizeStep::Kind kinds[] = {
      SizeStep::Symbol, SizeStep::FloorDiv, SizeStep::CeilDiv,
      SizeStep::Mod,    SizeStep::Max,      SizeStep::Min};
  appendPostfix(atom.operands[0], steps);
  for (size_t i = 1; i < atom.operands.size(); ++i) {
    appendPostfix(atom.operands[i], steps);
    steps.push_back({kinds[atom.kind], 0, ""});
  }
}

static void appendPostfix(const SymbolicSize &size,
                          std::vector<SizeStep> &steps) {
  const auto &terms = SizeAlgebra::terms(size);
  if (terms.empty())
    steps.push_back({SizeStep::Constant, 0, ""});
  for (size_t i = 0; i < terms.size(); ++i) {
    bool started = terms[i].coefficient != 1 || terms[i].factors.empty();
    if (started)
      steps.push_back({SizeStep::Constant, terms[i].coefficient, ""});
    for (const AtomRef &factor : terms[i].factors) {
      appendAtom(*factor, steps);
      if (started)
        steps.push_back({SizeStep::Mul, 0, ""});
      started = true;
    }
    if (i > 0)
      steps.push_back({SizeStep::Add, 0, ""});
  }
}

std::vector<SizeStep> SymbolicSize::postfix() const {
  std::vector<SizeStep> steps;
  if (known)
    appendPostfix(*this, steps);
  return steps;
}

/// Applies a binary step to two numbers; nullopt on overflow or division by 0.
static std::optional<int64_t> apply(SizeStep::Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
  case SizeStep::Add:
    return checkedAdd(a, b);
  case SizeStep::Mul:
    return checkedMul(a, b);
  case SizeStep::Max:
    return std::max(a, b);
  case SizeStep::Min:
    return std::min(a, b);
  default:
    break;
  }
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  result = a / b;
  bool inexact = a % b != 0;
  if (kind == SizeStep::CeilDiv)
    return result + (inexact && (a < 0) == (b < 0));
  result -= inexact && (a < 0) != (b < 0);
  return kind == SizeStep::Mod ? a - result * b : result;
}

std::optional<int64_t> SymbolicSize::evaluate(
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> binding) const {
  std::vector<int64_t> stack;
  for (const SizeStep &step : postfix()) {
    std::optional<int64_t> value = step.value;
    if (step.kind == SizeStep::Symbol) {
      value = binding(step.symbol);
    } else if (step.kind != SizeStep::Constant) {
      int64_t right = stack.back();
      stack.pop_back();
      value = apply(step.kind, stack.back(), right);
      stack.pop_back();
    }
    if (!value)
      return std::nullopt;
    stack.push_back(*value);
  }
  if (stack.empty())
    return std::nullopt;
  return stack.back();
}

} // namespace sol::nn
