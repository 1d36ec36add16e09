//===- CacheParts.cpp - what becomes of the users of a cache's tensor -----===//
//
// See CacheParts.h.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/state/CacheParts.h"

using namespace mlir;

namespace sol::nn::recognize {

CacheType cacheType(Value tensor) {
  return CacheType::get(tensor.getContext(), ranked(tensor));
}

/// Entries `start` to `end` of a Shape, as it says with its attributes.
static Value partOfShape(OpBuilder &builder, Operation *shape, Value whole) {
  int64_t start = fromStart(intAttr(shape, "start", 0), 4);
  int64_t end = fromStart(intAttr(shape, "end", 4), 4);
  start = std::clamp<int64_t>(start, 0, 4);
  end = std::clamp<int64_t>(end, 0, 4);
  return createPiece(builder, shape->getLoc(), whole, start,
                     std::max<int64_t>(0, end - start));
}

void replaceShapes(Value tensor, Value cache, OpBuilder &builder) {
  Value whole;
  auto type = RankedTensorType::get({4}, builder.getIntegerType(64));
  for (Operation *user : llvm::make_early_inc_range(tensor.getUsers())) {
    if (!isOnnx(user, "Shape"))
      continue;
    if (!whole)
      whole = CacheShapeOp::create(builder, user->getLoc(), type, cache);
    user->getResult(0).replaceAllUsesWith(partOfShape(builder, user, whole));
    user->erase();
  }
}

void makeCache(BlockArgument past) {
  CacheType type = cacheType(past);
  OpBuilder atStart(past.getOwner(), past.getOwner()->begin());
  replaceShapes(past, past, atStart);
  past.setType(type);
}

bool servesOnlyFor(Operation *op, BlockArgument past) {
  unsigned uses = 0;
  for (Operation *user : past.getUsers()) {
    uses += user == op;
    if (user != op && !isOnnx(user, "Shape"))
      return false;
  }
  return uses == 1;
}

StringRef whyNoCache(BlockArgument past, Operation *concat) {
  Value present = concat->getResult(0);
  if (rankOf(past) != 4 || rankOf(present) != 4)
    return "it doesn't have four axes";
  if (concat->getNumOperands() != 2 || concat->getOperand(0) != past ||
      concat->getOperand(1) == past)
    return "the past isn't in front of one other operand";
  if (fromStart(intAttr(concat, "axis", 0), 4) != lengthAxis)
    return "it doesn't grow along its third axis";
  if (staticSize(past, 1) < 1 || staticSize(past, 3) < 1)
    return "its number or size of heads isn't known";
  if (!sameSize(past, 0, present, 0) || !sameSize(past, 1, present, 1) ||
      !sameSize(past, 3, present, 3))
    return "past and present differ in another axis than their length";
  if (!servesOnlyFor(concat, past))
    return "the past is used otherwise than for its shape";
  return {};
}

void replacePresent(Value present, Value cache, Operation *end,
                    OpBuilder &builder) {
  Value copy;
  for (OpOperand &use : llvm::make_early_inc_range(present.getUses())) {
    Operation *user = use.getOwner();
    bool readsCache = isa<AttentionOp>(user) && (use.getOperandNumber() == 1 ||
                                                 use.getOperandNumber() == 2);
    if (readsCache || user == end) {
      use.set(cache);
      continue;
    }
    if (!copy) {
      copy = CacheReadOp::create(builder, present.getLoc(), present.getType(),
                                 cache);
      remarkMissed(present.getDefiningOp(), "attention over a cache",
                   "something else reads the present as well");
    }
    use.set(copy);
  }
}

CacheAppendOp appendInstead(Operation *concat, BlockArgument past,
                            Operation *end) {
  OpBuilder builder(concat);
  Value present = concat->getResult(0);
  auto longer =
      CacheAppendOp::create(builder, concat->getLoc(), cacheType(present), past,
                            concat->getOperand(1), /*offsets=*/Value());
  replaceShapes(present, longer, builder);
  replacePresent(present, longer, end, builder);
  remarkFound(longer, "cache");
  concat->erase();
  return longer;
}

} // namespace sol::nn::recognize
