//===- SymbolicSize.h - sizes as expressions over symbols -----------------===//
//
// A size that is known before the run only as a function of others: polynomials
// with integer coefficients over symbols, with floordiv, ceildiv, mod, max and
// min of such polynomials as further factors. Every value is kept in one
// canonical form, so equal texts mean equal sizes; unequal texts say nothing.
//
// Text (what `#nn.dims` holds): `sum = ["-"] product {(" + " | " - ")
// product}`, `product = factor {"*" factor}`, `factor = number | symbol |
// call`, `call = ("floordiv" | "ceildiv" | "mod" | "max" | "min") "(" sum {", "
// sum} ")"`. A symbol is an identifier of letters, digits and `_ . @ # : $`,
// not starting with a digit, or any other name between single quotes with `\`
// and two hex digits for quotes, backslashes and control characters. Products
// and terms are sorted; coefficients lead; the constant comes last.
//
// Symbols starting with `@` are sizes that depend on data; all symbols are
// taken to be at least 0.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_SHAPE_SYMBOLICSIZE_H
#define SOL_LIB_NN_SHAPE_SYMBOLICSIZE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sol::nn {

/// One instruction of a size in postfix order; a stack of int64 runs it.
struct SizeStep {
  enum Kind : uint8_t {
    Constant, ///< push `value`
    Symbol,   ///< push what `symbol` is bound to
    Add,      ///< pop two, push their sum; likewise below
    Mul,
    FloorDiv,
    CeilDiv,
    Mod, ///< with the sign of the divisor
    Max,
    Min
  };
  Kind kind;
  int64_t value = 0;
  std::string symbol;
};

/// A size, or an integer computed from sizes, or "unknown", which spreads
/// through all arithmetic and equals nothing, not even itself. Arithmetic that
/// leaves int64 gives unknown.
class SymbolicSize {
public:
  SymbolicSize() = default;       ///< unknown
  SymbolicSize(int64_t constant); ///< a number
  static SymbolicSize symbol(llvm::StringRef name);
  /// Reads the text form and the formulas that exporters write (`2*s0`,
  /// `past + sequence`, `Max(1, s0)`, `(s0 + 1)//2`). Text that is no formula
  /// is one symbol of that name.
  static SymbolicSize parse(llvm::StringRef text);

  bool isKnown() const { return known; }
  /// The number, if it depends on no symbol.
  std::optional<int64_t> constant() const;
  bool isConstant(int64_t value) const { return constant() == value; }
  /// The symbol's name, if this is exactly one symbol.
  std::optional<std::string> asSymbol() const;
  /// The operands, if this is exactly one min; else empty.
  std::vector<SymbolicSize> minimumOf() const;
  /// Canonical text; `?` if unknown.
  std::string text() const;

  SymbolicSize operator+(const SymbolicSize &other) const;
  SymbolicSize operator-(const SymbolicSize &other) const;
  SymbolicSize operator*(const SymbolicSize &other) const;
  SymbolicSize operator-() const;
  /// The q with q * divisor == *this for all bindings, or unknown.
  SymbolicSize exactDiv(const SymbolicSize &divisor) const;
  /// Rounded towards minus infinity; unknown for a divisor of 0.
  static SymbolicSize floorDiv(const SymbolicSize &a, const SymbolicSize &b);
  static SymbolicSize ceilDiv(const SymbolicSize &a, const SymbolicSize &b);
  static SymbolicSize mod(const SymbolicSize &a, const SymbolicSize &b);
  static SymbolicSize max(const SymbolicSize &a, const SymbolicSize &b);
  static SymbolicSize min(const SymbolicSize &a, const SymbolicSize &b);

  /// True only if both are known and equal for all bindings.
  bool operator==(const SymbolicSize &other) const;
  bool operator!=(const SymbolicSize &other) const { return !(*this == other); }

  /// Bounds for all bindings of symbols to integers >= 0; nullopt: unbounded.
  std::optional<int64_t> lowerBound() const;
  std::optional<int64_t> upperBound() const;
  bool isNonNegative() const { return known && lowerBound().value_or(-1) >= 0; }
  bool isPositive() const { return known && lowerBound().value_or(0) >= 1; }

  /// Calls `visit` with the name of each symbol, repeated ones again.
  void forEachSymbol(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// The number under `binding` (nullopt: not bound); nullopt if a symbol is
  /// not bound, a divisor is 0 or the arithmetic leaves int64.
  std::optional<int64_t>
  evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> binding)
      const;
  /// The instructions that compute it; empty if unknown.
  std::vector<SizeStep> postfix() const;

  struct Atom;
  using AtomRef = std::shared_ptr<const Atom>;
  /// coefficient * product of the factors, which are sorted by text.
  struct Term {
    std::vector<AtomRef> factors;
    int64_t coefficient = 0;
  };

private:
  struct Bounds;
  friend struct SizeAlgebra;

  Bounds bounds() const;
  static SymbolicSize fromTerms(std::vector<Term> terms);

  bool known = false;
  std::vector<Term> terms; ///< sorted, coefficients not 0
};

} // namespace sol::nn

#endif // SOL_LIB_NN_SHAPE_SYMBOLICSIZE_H
