//===- RotaryPairs.cpp - entries of heads that are turned together --------===//
//
// Parts of pairs, values made of two parts, and tables that repeat each angle.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/RotaryPairs.h"

using namespace mlir;

namespace sol::nn::recognize {

bool samePiece(const Piece &a, const Piece &b) {
  return a.root && a.root == b.root && a.start == b.start && a.size == b.size;
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// Whether reshaping one of the values to the other only joins the last two
/// axes of `pairs`, ... x R x 2, to the last of `joined`, ... x 2R.
static bool onlyJoins(Value pairs, Value joined) {
  int64_t rank = rankOf(joined);
  if (rank < 1 || rankOf(pairs) != rank + 1 || staticSize(pairs, -1) != 2 ||
      staticSize(pairs, -2) < 1 ||
      staticSize(joined, -1) != 2 * staticSize(pairs, -2))
    return false;
  for (int64_t axis = 0; axis + 1 < rank; ++axis)
    if (!sameSize(joined, axis, pairs, axis))
      return false;
  return true;
}

/// `value`, ... x 2R, as ... x R x 2 before the last two axes were joined.
static Value beforeJoin(Value value) {
  Operation *join = madeBy(value, "Reshape");
  if (!join)
    return {};
  Value pairs = skipNoOps(join->getOperand(0));
  return onlyJoins(pairs, value) ? pairs : Value();
}

/// `pairs`, ... x R x 2, as ... x 2R before the last axis was split.
static Value beforeSplit(Value pairs) {
  Operation *split = madeBy(pairs, "Reshape");
  if (!split)
    return {};
  Value joined = skipNoOps(split->getOperand(0));
  return onlyJoins(pairs, joined) ? joined : Value();
}

/// Whether an axis attribute of `op` is the last axis of `value`.
static bool isAlongLast(Operation *op, Value value) {
  int64_t rank = rankOf(value);
  return rank > 0 && fromStart(intAttr(op, "axis", 0), rank) == rank - 1;
}

/// `value` before a last axis of size 1 was inserted.
static Value beforeLastUnit(Value value) {
  Operation *insert = madeBy(value, "Unsqueeze");
  return insert && isLastOf(intConstant(operandOrNull(insert, 1)),
                            rankOf(insert->getResult(0)))
             ? skipNoOps(insert->getOperand(0))
             : Value();
}

/// The ... x R x 2 of which `value` is entry `index` along the last axis,
/// without that axis.
static Value beforeChoice(Value value, int64_t index) {
  if (Operation *gather = madeBy(value, "Gather")) {
    Value from = gather->getOperand(0), at = gather->getOperand(1);
    auto chosen = rankOf(at) == 0 ? intConstant(at) : std::nullopt;
    return chosen && staticSize(from, -1) == 2 && isAlongLast(gather, from) &&
                   fromStart((*chosen)[0], 2) == index
               ? from
               : Value();
  }
  Operation *squeeze = madeBy(value, "Squeeze");
  if (!squeeze || !isLastOf(intConstant(operandOrNull(squeeze, 1)),
                            rankOf(squeeze->getOperand(0))))
    return {};
  Piece one = lastAxisPiece(squeeze->getOperand(0));
  return one.root && one.size == 1 && one.start == index &&
                 staticSize(one.root, -1) == 2
             ? one.root
             : Value();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Piece wholeOf(Value value, Part part, Pairing pairing) {
  if (pairing == Pairing::halves) {
    Piece piece = lastAxisPiece(value);
    if (part == Part::second)
      piece.start -= piece.size;
    piece.size *= 2;
    return piece.start < 0 ||
                   piece.start + piece.size > staticSize(piece.root, -1)
               ? Piece()
               : piece;
  }
  int64_t index = part == Part::second;
  Value whole = everySecond(value, index);
  if (!whole)
    if (Value pairs = beforeChoice(value, index))
      whole = beforeSplit(pairs);
  return whole ? lastAxisPiece(whole) : Piece();
}

std::optional<std::pair<Value, Value>> partsOf(Value value, Pairing pairing) {
  bool neighbours = pairing == Pairing::neighbours;
  Value whole = neighbours ? beforeJoin(value) : value;
  Operation *concat = whole ? madeBy(whole, "Concat") : nullptr;
  if (!concat || concat->getNumOperands() != 2 ||
      !isAlongLast(concat, concat->getResult(0)))
    return std::nullopt;
  Value first = concat->getOperand(0), second = concat->getOperand(1);
  if (neighbours) {
    first = beforeLastUnit(first);
    second = beforeLastUnit(second);
    if (!first || !second)
      return std::nullopt;
  }
  return std::pair(skipNoOps(first), skipNoOps(second));
}

//===----------------------------------------------------------------------===//
// Doubled tables
//===----------------------------------------------------------------------===//

/// `single`, ... x R x 1, of which `pairs`, ... x R x 2, has each entry twice;
/// null if there is none.
static Value beforeRepeating(Value pairs) {
  Operation *repeat = madeBy(pairs, "Expand");
  if (!repeat)
    repeat = madeBy(pairs, "Tile");
  Value single = repeat ? repeat->getOperand(0) : Value();
  if (!single || rankOf(single) != rankOf(pairs))
    return {};
  for (int64_t axis = 0; axis + 1 < rankOf(pairs); ++axis)
    if (!sameSize(single, axis, pairs, axis))
      return {};
  return single;
}

/// The table of which `value` has each entry twice, if that is the last thing
/// that was done to it; null if not.
static Value beforeDoubling(Value value, Pairing pairing) {
  Value table;
  if (auto both = partsOf(value, pairing))
    table = both->first == both->second ? both->first : Value();
  else if (pairing == Pairing::neighbours)
    if (Value pairs = beforeJoin(value))
      if (Value single = beforeRepeating(pairs))
        table = beforeLastUnit(single);
  return table && 2 * staticSize(table, -1) == staticSize(value, -1) ? table
                                                                     : Value();
}

/// Whether both entries of each pair have the same bytes, in all rows.
static bool repeatsInPairs(ElementsAttr table, Pairing pairing) {
  auto elements = dyn_cast<DenseElementsAttr>(table);
  if (!elements || elements.getNumElements() == 0)
    return false;
  if (elements.isSplat())
    return true;
  ArrayRef<char> bytes = elements.getRawData();
  size_t count = elements.getNumElements(), width = bytes.size() / count;
  size_t row = elements.getType().getShape().back();
  if (width == 0 || width * count != bytes.size())
    return false;
  size_t distance = pairing == Pairing::halves ? row / 2 : 1;
  for (size_t at = 0; at < count; ++at) {
    size_t inRow = at % row;
    bool isFirst =
        pairing == Pairing::halves ? inRow < row / 2 : inRow % 2 == 0;
    if (isFirst && bytes.slice(at * width, width) !=
                       bytes.slice((at + distance) * width, width))
      return false;
  }
  return true;
}

/// A value from whose rows `op` makes its own, each entry from the one at the
/// same place of the last axis and all in the same way, if their last axes have
/// the same size; null if there is none.
static Value rowsBehind(Operation *op) {
  static constexpr StringLiteral alike[] = {
      "Cos", "Sin", "Cast", "Unsqueeze", "Squeeze", "Reshape", "Expand"};
  Value first = op->getNumOperands() > 0 ? op->getOperand(0) : Value();
  if (llvm::any_of(alike, [&](StringRef name) { return isOnnx(op, name); }))
    return first;
  if (isOnnx(op, "Gather"))
    return isAlongLast(op, first) ? Value() : first;
  if (isOnnx(op, "Slice")) {
    auto axes = intConstant(operandOrNull(op, 3));
    int64_t rank = rankOf(first);
    return axes && llvm::none_of(*axes,
                                 [&](int64_t axis) {
                                   return fromStart(axis, rank) == rank - 1;
                                 })
               ? first
               : Value();
  }
  if (auto folded = dyn_cast<FoldedOp>(op))
    return folded.getBody().front().getTerminator()->getOperand(0);
  if (!isOnnx(op, "Mul"))
    return {};
  auto scaled = inEitherOrder(op, [](Value x, Value factor) {
    return scalarConstant(factor, rankOf(x)).has_value();
  });
  return scaled ? scaled->first : Value();
}

bool isDoubled(Value value, int64_t size, Pairing pairing) {
  if (rankOf(value) < 1 || rankOf(value) > 4 || size < 2 || size % 2 != 0)
    return false;
  for (;;) {
    value = skipNoOps(value);
    Operation *op = value.getDefiningOp();
    if (!op || staticSize(value, -1) != size)
      return false;
    if (beforeDoubling(value, pairing))
      return true;
    if (auto constant = dyn_cast<ConstantOp>(op))
      return repeatsInPairs(constant.getValue(), pairing);
    value = rowsBehind(op);
    if (!value)
      return false;
  }
}

Value createUndoubled(OpBuilder &builder, Value value, Pairing pairing) {
  value = skipNoOps(value);
  if (Value table = beforeDoubling(value, pairing))
    return table;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  int64_t axis = type.getRank() - 1, size = type.getDimSize(axis);
  if (pairing == Pairing::halves)
    return createPiece(builder, loc, value, 0, size / 2);
  return createOnnx(
      builder, loc, "Slice",
      {value, createInts(builder, loc, {0}), createInts(builder, loc, {size}),
       createInts(builder, loc, {axis}), createInts(builder, loc, {2})},
      withSize(type, axis, size / 2));
}

} // namespace sol::nn::recognize
