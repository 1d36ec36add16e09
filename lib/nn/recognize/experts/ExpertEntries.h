//===- ExpertEntries.h - which tokens chose an expert, as coordinates -----===//
//
// A block for one expert begins with the entries of the router's choice that
// name this expert: NonZero of a comparison or of a row of a one-hot tensor.
// These questions follow such coordinates to what they select.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_EXPERTS_EXPERTENTRIES_H
#define SOL_LIB_NN_RECOGNIZE_EXPERTS_EXPERTENTRIES_H

#include "lib/nn/recognize/match/Match.h"

namespace sol::nn::recognize {

/// Coordinates along one axis of all entries of a NonZero, a vector.
struct Coordinates {
  mlir::Operation *nonZero = nullptr; ///< null: it is no such vector
  int64_t axis = 0;                   ///< 0 or 1
};

/// What `value` gives of the entries of a NonZero of a matrix.
Coordinates coordinatesOf(mlir::Value value);

/// The choices (tokens x count) that name one expert.
struct ExpertEntries {
  mlir::Operation *nonZero = nullptr;
  mlir::Value picks; ///< experts, tokens x count
  int64_t expert = 0;
  int64_t tokenAxis = 0; ///< of the NonZero's matrix; choices are the other

  /// Whether `value` has the entries' tokens, or which of its choices each is.
  bool areTokens(mlir::Value value) const;
  bool areChoices(mlir::Value value) const;
};

/// Reads what the entries of `nonZero` mean.
std::optional<ExpertEntries> matchEntries(mlir::Operation *nonZero);

/// The tokens (N x width) of which `rows` has those of the entries.
mlir::Value selectedTokens(mlir::Value rows, const ExpertEntries &entries);
/// The weights (N x `count`) of which `column` has those of the entries.
mlir::Value selectedWeights(mlir::Value column, const ExpertEntries &entries,
                            int64_t count);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_EXPERTS_EXPERTENTRIES_H
