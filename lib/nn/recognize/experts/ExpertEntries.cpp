//===- ExpertEntries.cpp - which tokens chose an expert, as coordinates ---===//
//
// See ExpertEntries.h. The axes of a mask are followed by what they count:
// tokens, choices or experts.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/experts/ExpertEntries.h"

#include "lib/nn/recognize/experts/ExpertParts.h"

using namespace mlir;

namespace sol::nn::recognize {
namespace {

enum class Axis { Token, Choice, Expert };

/// A tensor that is one where a token's choice is an expert, else zero.
struct Mask {
  Value picks;
  SmallVector<Axis> axes;
  int64_t expert = -1; ///< where there is no axis of experts
};

bool isZeroAndOne(Value value) {
  auto numbers = intConstant(value);
  return numbers && numbers->size() == 2 && (*numbers)[0] == 0 &&
         ((*numbers)[1] == 1 || getElementTypeOrSelf(value).isInteger(1));
}

/// Whether the elements of the vector `value` are 0, 1, 2, ...
bool counts(Value value) {
  auto numbers = intConstant(value);
  if (!numbers || rankOf(value) != 1)
    return false;
  for (size_t i = 0; i < numbers->size(); ++i)
    if ((*numbers)[i] != int64_t(i))
      return false;
  return true;
}

/// picks == expert, or picks with an axis behind them == (0, 1, 2, ...).
std::optional<Mask> matchEqual(Operation *equal) {
  Mask mask;
  auto found = inEitherOrder(equal, [&](Value picks, Value number) {
    picks = skipNoOps(picks);
    mask = {};
    if (auto expert = oneInt(number);
        expert && rankOf(number) <= 2 && rankOf(picks) == 2) {
      mask = {picks, {Axis::Token, Axis::Choice}, *expert};
      return true;
    }
    if (rankOf(picks) != 3 || staticSize(picks, 2) != 1 || !counts(number))
      return false;
    mask = {
        beforeUnitAxes(picks), {Axis::Token, Axis::Choice, Axis::Expert}, -1};
    return rankOf(mask.picks) == 2 && sameSize(mask.picks, 0, picks, 0) &&
           sameSize(mask.picks, 1, picks, 1);
  });
  return found ? std::optional(mask) : std::nullopt;
}

std::optional<Mask> matchOneHot(Operation *hot) {
  Value picks = skipNoOps(hot->getOperand(0));
  int64_t axis = fromStart(intAttr(hot, "axis", -1), 3);
  if (rankOf(picks) != 2 || axis < 0 || axis > 2 ||
      !isZeroAndOne(hot->getOperand(2)))
    return std::nullopt;
  Mask mask{picks, {Axis::Token, Axis::Choice}, -1};
  mask.axes.insert(mask.axes.begin() + axis, Axis::Expert);
  return mask;
}

std::optional<Mask> matchMask(Value value);

/// One expert of a mask, by Gather or Slice: its axis goes, or has size 1.
std::optional<Mask> matchSelected(Operation *op) {
  bool slice = isOnnx(op, "Slice");
  auto mask = matchMask(op->getOperand(0));
  auto from = oneInt(operandOrNull(op, 1));
  if (!mask || !from || mask->expert >= 0)
    return std::nullopt;
  int64_t rank = int64_t(mask->axes.size()), axis = intAttr(op, "axis", 0);
  if (slice) {
    auto to = oneInt(operandOrNull(op, 2)), at = oneInt(operandOrNull(op, 3));
    Value step = operandOrNull(op, 4);
    if (!to || !at || *to != *from + 1 || (step && oneInt(step) != 1))
      return std::nullopt;
    axis = *at;
  }
  axis = fromStart(axis, rank);
  if (axis < 0 || axis >= rank || mask->axes[axis] != Axis::Expert || *from < 0)
    return std::nullopt;
  mask->axes.erase(mask->axes.begin() + axis);
  mask->expert = *from;
  return mask;
}

/// What `value` is as a mask. Axes of size 1 that a selection leaves are not
/// counted among its axes.
std::optional<Mask> matchMask(Value value) {
  value = beforeUnitAxes(value);
  Operation *op = value.getDefiningOp();
  if (isOnnx(op, "Cast"))
    return matchMask(op->getOperand(0));
  if (isOnnx(op, "OneHot"))
    return matchOneHot(op);
  if (isOnnx(op, "Equal"))
    return matchEqual(op);
  if (isOnnx(op, "Gather") || isOnnx(op, "Slice"))
    return matchSelected(op);
  if (!isOnnx(op, "Transpose"))
    return std::nullopt;
  auto mask = matchMask(op->getOperand(0));
  SmallVector<int64_t> perm = intsAttr(op, "perm");
  if (!mask || perm.size() != mask->axes.size() ||
      rankOf(value) != int64_t(perm.size()))
    return std::nullopt;
  SmallVector<Axis> before = mask->axes;
  for (size_t i = 0; i < perm.size(); ++i)
    mask->axes[i] = before[perm[i]];
  return mask;
}

} // namespace

Coordinates coordinatesOf(Value value) {
  value = beforeUnitAxes(value);
  Operation *op = value.getDefiningOp();
  int64_t axis = op ? intAttr(op, "axis", 0) : 0, which = -1;
  if (isOnnx(op, "Split")) {
    which = cast<OpResult>(value).getResultNumber();
    if (op->getNumResults() != 2)
      return {};
  } else if (isOnnx(op, "Gather")) {
    which = oneInt(op->getOperand(1)).value_or(-1);
  } else if (isOnnx(op, "Slice")) {
    auto from = oneInt(operandOrNull(op, 1)), to = oneInt(operandOrNull(op, 2)),
         at = oneInt(operandOrNull(op, 3));
    Value step = operandOrNull(op, 4);
    if (!from || !to || !at || *to != *from + 1 || (step && oneInt(step) != 1))
      return {};
    which = *from;
    axis = *at;
  } else {
    return {};
  }
  Value all = skipNoOps(op->getOperand(0));
  if (rankOf(all) != 2 || which < 0 || which > 1)
    return {};
  axis = fromStart(axis, 2);
  if (staticSize(all, axis) != 2)
    return {};
  if (Operation *transpose = madeBy(all, "Transpose")) {
    if (intsAttr(transpose, "perm") != SmallVector<int64_t>{1, 0})
      return {};
    axis = 1 - axis;
    all = transpose->getOperand(0);
  }
  Operation *nonZero = madeBy(all, "NonZero");
  return nonZero && axis == 0 ? Coordinates{nonZero, which} : Coordinates{};
}

bool ExpertEntries::areTokens(Value value) const {
  Coordinates found = coordinatesOf(value);
  return found.nonZero == nonZero && found.axis == tokenAxis;
}

bool ExpertEntries::areChoices(Value value) const {
  Coordinates found = coordinatesOf(value);
  return found.nonZero == nonZero && found.axis != tokenAxis;
}

std::optional<ExpertEntries> matchEntries(Operation *nonZero) {
  Value matrix = nonZero->getOperand(0);
  auto mask = matchMask(matrix);
  if (!mask || mask->expert < 0 || mask->axes.size() != 2 ||
      rankOf(matrix) != 2)
    return std::nullopt;
  return ExpertEntries{nonZero, mask->picks, mask->expert,
                       mask->axes[0] == Axis::Token ? 0 : 1};
}

Value selectedTokens(Value rows, const ExpertEntries &entries) {
  rows = beforeUnitAxes(rows);
  if (Operation *gather = madeBy(rows, "GatherND")) {
    Value tokens = skipNoOps(gather->getOperand(0)),
          index = gather->getOperand(1);
    bool good = intAttr(gather, "batch_dims", 0) == 0 && rankOf(tokens) == 2 &&
                rankOf(index) == 2 && staticSize(index, 1) == 1 &&
                entries.areTokens(index);
    return good ? tokens : Value();
  }
  Operation *gather = madeBy(rows, "Gather");
  if (!gather || !entries.areTokens(gather->getOperand(1)))
    return {};
  Value from = skipNoOps(gather->getOperand(0)), tokens = beforeUnitAxes(from);
  int64_t axis = fromStart(intAttr(gather, "axis", 0), rankOf(from));
  if (rankOf(tokens) != 2 || axis < 0 || axis >= rankOf(from) ||
      !sameSize(from, axis, tokens, 0))
    return {};
  // Beside it there is the width, and axes of size 1.
  for (int64_t i = 0; i < rankOf(from); ++i)
    if (i != axis && staticSize(from, i) != 1 && i + 1 != rankOf(from))
      return {};
  return axis + 1 < rankOf(from) && sameSize(from, -1, tokens, 1) ? tokens
                                                                  : Value();
}

/// token * count + choice, as a place in the weights' elements in order.
static bool isPlace(Value value, const ExpertEntries &entries, int64_t count) {
  Operation *sum = madeBy(beforeUnitAxes(value), "Add");
  return sum && inEitherOrder(sum, [&](Value scaled, Value choices) {
           Operation *mul = madeBy(beforeUnitAxes(scaled), "Mul");
           return mul && entries.areChoices(choices) &&
                  inEitherOrder(mul, [&](Value tokens, Value factor) {
                    return entries.areTokens(tokens) && oneInt(factor) == count;
                  });
         });
}

Value selectedWeights(Value column, const ExpertEntries &entries,
                      int64_t count) {
  column = beforeUnitAxes(column);
  Value weights;
  if (Operation *gather = madeBy(column, "Gather")) {
    if (fromStart(intAttr(gather, "axis", 0), rankOf(gather->getOperand(0))) !=
            0 ||
        !isPlace(gather->getOperand(1), entries, count))
      return {};
    weights = beforeColumn(gather->getOperand(0));
  } else if (Operation *gather = madeBy(column, "GatherND")) {
    Operation *pair = madeBy(gather->getOperand(1), "Concat");
    if (!pair || pair->getNumOperands() != 2 ||
        intAttr(gather, "batch_dims", 0) != 0 ||
        fromStart(intAttr(pair, "axis", 0), 2) != 1 ||
        !entries.areTokens(pair->getOperand(0)) ||
        !entries.areChoices(pair->getOperand(1)))
      return {};
    weights = beforeUnitAxes(gather->getOperand(0));
  }
  return weights && rankOf(weights) == 2 && staticSize(weights, 1) == count
             ? weights
             : Value();
}

} // namespace sol::nn::recognize
