//===- SizeAlgebra.h - the inside of symbolic sizes -----------------------===//
//
// What SymbolicSize.cpp and SizeText.cpp share; nobody else needs it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_SHAPE_SIZEALGEBRA_H
#define SOL_LIB_NN_SHAPE_SIZEALGEBRA_H

#include "lib/nn/shape/SymbolicSize.h"

namespace sol::nn {

/// A factor that arithmetic does not look into.
struct SymbolicSize::Atom {
  enum Kind : uint8_t { Symbol, FloorDiv, CeilDiv, Mod, Max, Min };
  Kind kind;
  std::string name;                   ///< of a symbol
  std::string text;                   ///< canonical text; identifies the atom
  std::vector<SymbolicSize> operands; ///< of the other kinds
};

/// Access to the canonical form.
struct SizeAlgebra {
  static const std::vector<SymbolicSize::Term> &
  terms(const SymbolicSize &size) {
    return size.terms;
  }
  static SymbolicSize fromTerm(SymbolicSize::Term term) {
    return SymbolicSize::fromTerms({std::move(term)});
  }
  /// One factor; its text is written here.
  static SymbolicSize fromAtom(SymbolicSize::Atom atom);
  static SymbolicSize call(SymbolicSize::Atom::Kind kind,
                           std::vector<SymbolicSize> operands);
  static std::string atomText(const SymbolicSize::Atom &atom);
};

} // namespace sol::nn

#endif // SOL_LIB_NN_SHAPE_SIZEALGEBRA_H
