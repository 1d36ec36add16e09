//===- AttentionParts.cpp - the parts that an attention is made of --------===//
//
// Repeated heads and masks.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/attention/AttentionParts.h"

#include <cmath>

using namespace mlir;

namespace sol::nn::recognize {

/// A number that leaves nothing of a score that it is added to, and of whose
/// exponential nothing is left beside an allowed key's.
static constexpr double lowest = -1e30;

/// Whether two lists of axes agree in size, pairwise.
static bool sameSizes(Value a, ArrayRef<int64_t> axesOfA, Value b,
                      ArrayRef<int64_t> axesOfB) {
  for (auto [axisOfA, axisOfB] : llvm::zip(axesOfA, axesOfB))
    if (!sameSize(a, axisOfA, b, axisOfB))
      return false;
  return true;
}

Value beforeRepeatedHeads(Value value) {
  Operation *reshape = madeBy(value, "Reshape");
  Operation *expand =
      reshape ? madeBy(reshape->getOperand(0), "Expand") : nullptr;
  if (!expand)
    return {};
  Value wide = expand->getResult(0);
  Value narrow = skipNoOps(expand->getOperand(0));
  Operation *insert = narrow.getDefiningOp();
  if (!isOnnx(insert, "Unsqueeze") && !isOnnx(insert, "Reshape"))
    return {};
  Value heads = skipNoOps(insert->getOperand(0));
  if (rankOf(heads) != 4 || rankOf(narrow) != 5 || rankOf(wide) != 5 ||
      rankOf(value) != 4)
    return {};
  // batch, heads, length, size -> batch, heads, 1, length, size -> batch,
  // heads, times, length, size -> batch, heads * times, length, size.
  int64_t count = staticSize(heads, 1), times = staticSize(wide, 2);
  if (count < 1 || times < 1 || staticSize(value, 1) != count * times ||
      staticSize(narrow, 2) != 1)
    return {};
  if (!sameSizes(heads, {0, 1, 2, 3}, narrow, {0, 1, 3, 4}) ||
      !sameSizes(heads, {0, 1, 2, 3}, wide, {0, 1, 3, 4}) ||
      !sameSizes(heads, {0, 2, 3}, value, {0, 2, 3}))
    return {};
  return heads;
}

/// The condition of Where(condition, 0, low) or of its inverse.
static std::optional<Mask> choiceOfZeroAndLow(Value value) {
  Operation *where = madeBy(value, "Where");
  if (!where)
    return std::nullopt;
  Value condition = skipNoOps(where->getOperand(0));
  int64_t rank = rankOf(condition);
  auto ifTrue = scalarConstant(where->getOperand(1), rank);
  auto ifFalse = scalarConstant(where->getOperand(2), rank);
  if (rank < 0 || !ifTrue || !ifFalse || !isFloatStorage(value))
    return std::nullopt;
  bool inverted = *ifFalse == 0;
  double low = inverted ? *ifTrue : *ifFalse;
  if ((inverted ? *ifFalse : *ifTrue) != 0 || !(low <= lowest))
    return std::nullopt;
  return Mask{condition, inverted, std::isinf(low) ? "nan" : "mean"};
}

/// The b of Cast(b) * low, a bool.
static std::optional<Mask> productWithLow(Value value) {
  Operation *mul = madeBy(value, "Mul");
  if (!mul)
    return std::nullopt;
  std::optional<double> low;
  auto found = inEitherOrder(mul, [&](Value cast, Value constant) {
    Operation *conversion = madeBy(cast, "Cast");
    low = scalarConstant(constant, rankOf(cast));
    // An infinite number times 0 would be no number.
    return conversion && low && *low <= lowest && !std::isinf(*low) &&
           getElementTypeOrSelf(conversion->getOperand(0)).isInteger(1);
  });
  if (!found)
    return std::nullopt;
  Value flag = skipNoOps(madeBy(found->first, "Cast")->getOperand(0));
  if (Operation *inverse = madeBy(flag, "Not"))
    return Mask{skipNoOps(inverse->getOperand(0)), false, "mean"};
  return Mask{flag, true, "mean"};
}

Mask maskFromNumbers(Value added) {
  if (auto mask = choiceOfZeroAndLow(added))
    return *mask;
  if (auto mask = productWithLow(added))
    return *mask;
  return Mask{added};
}

std::optional<Mask> maskFromChoice(Value value, Value &scores) {
  Operation *where = madeBy(value, "Where");
  if (!where || !isFloatStorage(value))
    return std::nullopt;
  for (bool inverted : {false, true}) {
    Value kept = where->getOperand(inverted ? 2 : 1);
    auto low =
        scalarConstant(where->getOperand(inverted ? 1 : 2), rankOf(kept));
    if (!low || *low > lowest || !sameShape(kept, value))
      continue;
    scores = kept;
    return Mask{skipNoOps(where->getOperand(0)), inverted,
                std::isinf(*low) ? "nan" : "mean"};
  }
  return std::nullopt;
}

/// Sum(Cast(mask), last axis, kept) < 1.
bool isEmptyRowTest(Value condition, const Mask &mask) {
  Operation *less = madeBy(condition, "Less");
  Operation *sum = less ? madeBy(less->getOperand(0), "ReduceSum") : nullptr;
  if (!sum || mask.inverted || intAttr(sum, "keepdims", 1) != 1)
    return false;
  Value counted = sum->getOperand(0);
  auto limit = scalarConstant(less->getOperand(1), rankOf(counted));
  auto axes = intConstant(operandOrNull(sum, 1));
  if (!limit || *limit <= 0 || *limit > 1 || !axes || axes->size() != 1 ||
      fromStart((*axes)[0], rankOf(counted)) != rankOf(counted) - 1)
    return false;
  Operation *cast = madeBy(counted, "Cast");
  return cast && skipNoOps(cast->getOperand(0)) == skipNoOps(mask.value) &&
         getElementTypeOrSelf(cast->getOperand(0)).isInteger(1);
}

bool maskFits(Value mask, Value query, Value key) {
  int64_t rank = rankOf(mask);
  if (rank < 0 || rank > 4)
    return false;
  for (int64_t axis = 4 - rank; axis < 4; ++axis) {
    int64_t own = axis - (4 - rank);
    if (staticSize(mask, own) == 1)
      continue;
    if (axis < 3 ? !sameSize(mask, own, query, axis)
                 : !sameSize(mask, own, key, 2))
      return false;
  }
  return true;
}

AttentionOp createAttention(OpBuilder &builder, Location loc,
                            const AttentionParts &parts, Type type) {
  Value mask = parts.mask.value;
  if (mask && parts.mask.inverted)
    mask = createOnnx(builder, loc, "Not", mask, mask.getType());
  if (!mask)
    mask = createNone(builder, loc);
  Value sinks = parts.sinks ? parts.sinks : createNone(builder, loc);
  return AttentionOp::create(
      builder, loc, type, parts.query, parts.key, parts.value, mask, sinks,
      /*offsets=*/Value(), builder.getF32FloatAttr(parts.scale),
      builder.getF32FloatAttr(parts.softcap),
      builder.getStringAttr(parts.mask.maskedRows), /*causal=*/UnitAttr(),
      /*window=*/IntegerAttr());
}

} // namespace sol::nn::recognize
