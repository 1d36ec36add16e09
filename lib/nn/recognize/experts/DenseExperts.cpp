//===- DenseExperts.cpp - mixtures in which every expert sees every token -===//
//
// The tokens are repeated for each expert, all experts compute all of them in
// products with an axis for experts, and the results are weighted and summed
// over experts; the weights of experts that were not chosen are zero. They are
// not computed after recognition, so an expert whose result overflows for a
// token that did not choose it no longer spoils the sum.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/experts/ExpertParts.h"

using namespace mlir;

namespace sol::nn::recognize {
namespace {

/// The N x width tensor that `value`, experts x N x width, repeats for each
/// expert; null if it does not.
Value beforeRepeatedTokens(Value value, int64_t experts) {
  value = skipNoOps(value);
  Operation *reshape = madeBy(value, "Reshape");
  if (Operation *tile =
          reshape ? madeBy(reshape->getOperand(0), "Tile") : nullptr) {
    // All rows, again and again.
    auto times = intConstant(operandOrNull(tile, 1));
    Value tokens = skipNoOps(tile->getOperand(0));
    bool good = times && rankOf(tokens) == 2 && rankOf(value) == 3 &&
                *times == SmallVector<int64_t>{experts, 1} &&
                staticSize(value, 0) == experts &&
                sameSize(tokens, 0, value, 1) && sameSize(tokens, 1, value, 2);
    return good ? tokens : Value();
  }
  // Along an axis in front that the product or an Expand broadcasts.
  Value single = value;
  if (Operation *expand = madeBy(value, "Expand"))
    single = skipNoOps(expand->getOperand(0));
  if (rankOf(single) == 3 && staticSize(single, 0) != 1)
    return {};
  Value tokens = beforeUnitAxes(single);
  bool good =
      rankOf(tokens) == 2 && rankOf(single) >= 2 &&
      sameSize(tokens, 0, value, -2) && sameSize(tokens, 1, value, -1) &&
      sameSize(tokens, 0, single, -2) && sameSize(tokens, 1, single, -1);
  return good ? tokens : Value();
}

/// `value`, experts x N x outputs, as a product with known matrices and a bias.
/// `rows` is set to the other factor.
std::optional<ExpertMatrix> matchProduct(Value value, Value &rows) {
  ExpertMatrix matrix;
  matrix.transposed = true;
  int64_t experts = staticSize(value, 0);
  if (rankOf(value) != 3 || experts < 1)
    return std::nullopt;
  value = beforeBias(value, [&](Value bias) {
    bool good = isKnown(bias) && rankOf(bias) == 3 &&
                staticSize(bias, 0) == experts && staticSize(bias, 1) == 1 &&
                staticSize(bias, 2) == staticSize(value, 2);
    if (good)
      matrix.bias.push_back(bias);
    return good;
  });
  Operation *product = madeBy(value, "MatMul");
  if (!product)
    return std::nullopt;
  Value weights = skipNoOps(product->getOperand(1));
  if (!isKnown(weights) || rankOf(weights) != 3 ||
      staticSize(weights, 0) != experts)
    return std::nullopt;
  matrix.weights.push_back(weights);
  rows = product->getOperand(0);
  return matrix;
}

/// `value` before reshapes that keep its first axis and the order of elements,
/// down to rank `rank`.
Value beforeSplitTokens(Value value, int64_t rank) {
  int64_t experts = staticSize(value, 0);
  value = skipNoOps(value);
  for (;;) {
    Operation *op = value.getDefiningOp();
    bool reorders = !isOnnx(op, "Reshape") && !isOnnx(op, "Unsqueeze") &&
                    !isOnnx(op, "Squeeze");
    if (reorders || rankOf(value) == rank)
      break;
    value = skipNoOps(op->getOperand(0));
  }
  return rankOf(value) == rank && staticSize(value, 0) == experts ? value
                                                                  : Value();
}

/// The N x count weights that are spread over all experts in `column`, whose
/// sizes are experts x tokens x 1; `picks` is set to the chosen experts.
Value beforeSpread(Value column, Value &picks) {
  Value across =
      staticSize(column, -1) == 1 ? beforeSplitTokens(column, 2) : Value();
  Operation *transpose = across ? madeBy(across, "Transpose") : nullptr;
  if (!transpose || intsAttr(transpose, "perm") != SmallVector<int64_t>{1, 0})
    return {};
  Operation *scatter = madeBy(transpose->getOperand(0), "ScatterElements");
  auto reduction =
      scatter ? scatter->getAttrOfType<StringAttr>("reduction") : nullptr;
  if (!scatter || fromStart(intAttr(scatter, "axis", 0), 2) != 1 ||
      !isZero(scatter->getOperand(0)) ||
      (reduction && reduction.getValue() != "none"))
    return {};
  picks = skipNoOps(scatter->getOperand(1));
  return skipNoOps(scatter->getOperand(2));
}

/// The tokens x width tensor, or the one before its tokens were put on one
/// axis, whose shape is that of `result`.
Value asResult(Value tokens, Value result) {
  for (;;) {
    if (sameShape(tokens, result))
      return tokens;
    Operation *reshape = madeBy(tokens, "Reshape");
    if (!reshape || !sameSize(reshape->getOperand(0), -1, tokens, -1))
      return {};
    tokens = skipNoOps(reshape->getOperand(0));
  }
}

/// Reads everything off the sum over experts.
std::optional<Mixture> matchMixture(Operation *sum) {
  Value result = sum->getResult(0);
  auto axis = oneInt(operandOrNull(sum, 1));
  Operation *mul = madeBy(sum->getOperand(0), "Mul");
  if (!axis || !mul || intAttr(sum, "keepdims", 1) != 0 ||
      fromStart(*axis, rankOf(mul->getResult(0))) != 0)
    return std::nullopt;
  Value picks;
  std::optional<Router> router;
  auto found = inEitherOrder(mul, [&](Value outputs, Value column) {
    // Along all axes but the last, so that no token gets another's weight.
    for (int64_t i = 0; i + 1 < rankOf(outputs); ++i)
      if (!sameSize(outputs, i, column, i))
        return false;
    Value weights = rankOf(outputs) == rankOf(column)
                        ? beforeSpread(column, picks)
                        : Value();
    router = weights ? matchRouter(weights) : std::nullopt;
    return router && picks == router->top->getResult(1);
  });
  if (!found)
    return std::nullopt;
  Value outputs = beforeSplitTokens(found->first, 3), inner, rows;
  bool keepsRows = outputs && sameSize(outputs, -1, found->first, -1);
  auto second = keepsRows ? matchProduct(outputs, inner) : std::nullopt;
  auto gated = second ? matchGated(inner) : std::nullopt;
  Mixture mixture;
  Value product =
      gated ? branchesOfOneProduct(*gated, mixture.interleaved) : Value();
  auto first = product ? matchProduct(product, rows) : std::nullopt;
  Value tokens = first ? beforeRepeatedTokens(rows, router->experts) : Value();
  if (!tokens || !sameSize(tokens, 0, outputs, 1) ||
      !sameSize(router->logits, 0, tokens, 0))
    return std::nullopt;
  mixture.router = *router;
  mixture.gated = *gated;
  mixture.first = *first;
  mixture.second = *second;
  mixture.tokens = asResult(tokens, result);
  return mixture.tokens && fits(mixture, result) ? std::optional(mixture)
                                                 : std::nullopt;
}

} // namespace

void populateDenseExperts(RewritePatternSet &patterns) {
  addMixturePattern(patterns, "onnx.ReduceSum", matchMixture);
}

} // namespace sol::nn::recognize
