//===- ExpertParts.h - what mixtures of experts are made of ---------------===//
//
// The parts that all ways of writing a mixture of experts share: the router,
// the gated network, the matrices; and com.microsoft's MoE, which stands for
// the whole. How tokens and experts come together differs, and is matched in a
// file for each way.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_EXPERTS_EXPERTPARTS_H
#define SOL_LIB_NN_RECOGNIZE_EXPERTS_EXPERTPARTS_H

#include "lib/nn/recognize/match/Match.h"

#include <limits>

namespace sol::nn::recognize {

/// A matrix for each expert, and a vector behind the product.
struct ExpertMatrix {
  /// One value, experts x outputs x inputs, or one of rank 2 for each expert.
  llvm::SmallVector<mlir::Value> weights;
  /// None, one value of experts x outputs elements, or one for each expert.
  llvm::SmallVector<mlir::Value> bias;
  bool transposed = false; ///< inputs x outputs, not outputs x inputs
  int64_t outputs = 0, inputs = 0;

  /// Reads sizes off the weights; false if they are not static or the bias does
  /// not fit.
  bool readSizes(int64_t experts);
};

/// activation(gate) * (up + beta), where both branches are bounded by `limit`
/// and the activation is x * sigmoid(alpha * x).
struct Gated {
  mlir::Value gate, up; ///< before the bounds
  double alpha = 1, beta = 0, limit = std::numeric_limits<double>::infinity();
};

/// Which experts a token goes to.
struct Router {
  mlir::Operation *top = nullptr; ///< TopK: result 1 is tokens x count
  mlir::Value logits;             ///< tokens x experts
  int64_t experts = 0, count = 0;
  bool normalized = false; ///< a token's weights sum to one
};

/// A whole mixture.
struct Mixture {
  mlir::Value tokens; ///< tokens x width, or with the tokens on two axes
  Router router;
  Gated gated;
  bool interleaved = false; ///< gate and up alternate in the first product
  ExpertMatrix first;       ///< both branches, or the gate
  ExpertMatrix up;          ///< where it is a product of its own
  ExpertMatrix second;
};

/// `value` before axes of size 1 came or went.
mlir::Value beforeUnitAxes(mlir::Value value);
/// The value whose elements in order are those of the vector or column `value`;
/// null if it is neither.
mlir::Value beforeColumn(mlir::Value value);
/// The number that a constant of one integer holds.
std::optional<int64_t> oneInt(mlir::Value value);
/// Whether all elements of `value` certainly are zero.
bool isZero(mlir::Value value);

/// Reads activation(gate) * up.
std::optional<Gated> matchGated(mlir::Value value);
/// The product of which `gated`'s branches are the halves, or every second
/// column each (`interleaved`); null if they are not.
mlir::Value branchesOfOneProduct(const Gated &gated, bool &interleaved);
/// Reads the router off the tokens x count weights of the chosen experts.
std::optional<Router> matchRouter(mlir::Value weights);

/// `product` behind the addition of something that `isBias` accepts, which is
/// called with the other operand; `product` itself if it is no such addition.
mlir::Value beforeBias(mlir::Value product,
                       llvm::function_ref<bool(mlir::Value)> isBias);

/// Whether sizes and types fit each other and `result`, which has the shape of
/// the tokens. Also reads the sizes of the matrices.
bool fits(Mixture &mixture, mlir::Value result);

/// What a way of writing a mixture finds behind its last operator.
using MatchMixture = std::optional<Mixture> (*)(mlir::Operation *last);
/// Adds a pattern that replaces operators `root` by the mixtures that `match`
/// finds there.
void addMixturePattern(mlir::RewritePatternSet &patterns, llvm::StringRef root,
                       MatchMixture match);

/// Patterns for the ways in which mixtures are written: matrices gathered for
/// each token; every expert computing every token; a block for each expert;
/// rows sorted by expert.
void populateBatchedExperts(mlir::RewritePatternSet &patterns);
void populateDenseExperts(mlir::RewritePatternSet &patterns);
void populateExpertLoops(mlir::RewritePatternSet &patterns);
void populateGroupedExperts(mlir::RewritePatternSet &patterns);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_EXPERTS_EXPERTPARTS_H
