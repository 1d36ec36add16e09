//===- BatchedExperts.cpp - mixtures with matrices gathered for tokens ----===//
//
// For each token and each of its experts, that expert's two matrices are
// gathered, a gated network runs, and the results are weighted and summed.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/experts/ExpertParts.h"

using namespace mlir;

namespace sol::nn::recognize {
namespace {

/// What is gathered once for each element of `picks`: GatherND(known, column).
Value gatheredBy(Value value, Value picks) {
  Operation *gather = madeBy(value, "GatherND");
  if (!gather || intAttr(gather, "batch_dims", 0) != 0 ||
      staticSize(gather->getOperand(1), -1) != 1 ||
      rankOf(gather->getOperand(1)) != 2 ||
      beforeColumn(gather->getOperand(1)) != picks)
    return {};
  Value known = skipNoOps(gather->getOperand(0));
  return isKnown(known) ? known : Value();
}

/// `value` (rows x outputs) as the product of rows with their experts' matrices
/// and a bias. `rows` is set to the other factor.
std::optional<ExpertMatrix> matchProduct(Value value, Value picks,
                                         Value &rows) {
  ExpertMatrix matrix;
  value = beforeUnitAxes(beforeBias(beforeUnitAxes(value), [&](Value bias) {
    Value known = gatheredBy(bias, picks);
    if (known && rankOf(known) == 2)
      matrix.bias.push_back(known);
    return !matrix.bias.empty();
  }));
  Operation *product = madeBy(value, "MatMul");
  if (!product || rankOf(product->getResult(0)) != 3)
    return std::nullopt;
  for (bool transposed : {false, true}) {
    Value gathered = product->getOperand(transposed ? 1 : 0);
    Value other = product->getOperand(transposed ? 0 : 1);
    Value weights = gatheredBy(gathered, picks);
    if (!weights || rankOf(weights) != 3 || rankOf(other) != 3 ||
        staticSize(other, transposed ? 1 : 2) != 1)
      continue;
    matrix.weights.push_back(weights);
    matrix.transposed = transposed;
    rows = beforeUnitAxes(other);
    if (rankOf(rows) == 2)
      return matrix;
    matrix.weights.clear();
  }
  return std::nullopt;
}

/// The N x width tensor of which each row stands `count` times in `rows`.
Value beforeRepeatedRows(Value rows, int64_t count) {
  Operation *reshape = madeBy(rows, "Reshape");
  Operation *expand =
      reshape ? madeBy(reshape->getOperand(0), "Expand") : nullptr;
  if (!expand || rankOf(expand->getResult(0)) != 3 ||
      staticSize(expand->getResult(0), 1) != count)
    return {};
  Value single = skipNoOps(expand->getOperand(0)), wide = expand->getResult(0);
  Operation *insert = madeBy(single, "Unsqueeze");
  Value tokens = insert ? skipNoOps(insert->getOperand(0)) : Value();
  bool fits = tokens && rankOf(tokens) == 2 && rankOf(single) == 3 &&
              staticSize(single, 1) == 1 && sameSize(tokens, 0, single, 0) &&
              sameSize(tokens, 0, wide, 0) && sameSize(tokens, 1, wide, 2) &&
              staticSize(rows, 1) == staticSize(tokens, 1);
  return fits ? tokens : Value();
}

/// Reads everything off the sum over a token's experts.
std::optional<Mixture> matchMixture(Operation *sum) {
  auto axis = oneInt(operandOrNull(sum, 1));
  Operation *split = madeBy(sum->getOperand(0), "Reshape");
  if (!axis || intAttr(sum, "keepdims", 1) != 0 || !split ||
      rankOf(split->getResult(0)) != 3 || fromStart(*axis, 3) != 1)
    return std::nullopt;
  Operation *mul = madeBy(split->getOperand(0), "Mul");
  if (!mul || rankOf(mul->getResult(0)) != 2)
    return std::nullopt;
  std::optional<Router> router;
  auto found = inEitherOrder(mul, [&](Value, Value column) {
    Value weights = staticSize(column, 1) == 1 ? beforeColumn(column) : Value();
    router = weights ? matchRouter(weights) : std::nullopt;
    return router.has_value();
  });
  if (!found)
    return std::nullopt;
  Value picks = router->top->getResult(1), inner, rows;
  auto second = matchProduct(found->first, picks, inner);
  auto gated = second ? matchGated(inner) : std::nullopt;
  Mixture mixture;
  Value product =
      gated ? branchesOfOneProduct(*gated, mixture.interleaved) : Value();
  auto first = product ? matchProduct(product, picks, rows) : std::nullopt;
  if (!first)
    return std::nullopt;
  mixture.router = *router;
  mixture.gated = *gated;
  mixture.first = *first;
  mixture.second = *second;
  mixture.tokens = beforeRepeatedRows(rows, router->count);
  bool good = mixture.tokens &&
              sameSize(mixture.tokens, 0, split->getResult(0), 0) &&
              staticSize(split->getResult(0), 1) == router->count &&
              sameSize(router->logits, 0, mixture.tokens, 0) &&
              fits(mixture, sum->getResult(0));
  return good ? std::optional(mixture) : std::nullopt;
}

} // namespace

void populateBatchedExperts(RewritePatternSet &patterns) {
  addMixturePattern(patterns, "onnx.ReduceSum", matchMixture);
}

} // namespace sol::nn::recognize
