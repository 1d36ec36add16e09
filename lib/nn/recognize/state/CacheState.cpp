//===- CacheState.cpp - past and present become state ---------------------===//
//
// A function argument that a concatenation lengthens, and a result that is the
// longer tensor, are one cache. The pair is taken only if the past serves for
// nothing else but its shape.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/state/GroupQueryState.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNCACHESTATEPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {

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

namespace {

/// Length is the third axis of batch x heads x length x head size.
constexpr int64_t lengthAxis = 2;

struct Pair {
  BlockArgument past;
  Operation *concat = nullptr;
  unsigned result = 0; ///< which of the function's results is the present
};

/// Why `past`, lengthened by `concat`, can't be a cache; empty if it can.
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
  if (concat->getBlock() != past.getOwner())
    return "it doesn't grow in every run";
  for (Operation *user : past.getUsers())
    if (user != concat && !isOnnx(user, "Shape"))
      return "the past is used otherwise than for its shape";
  return {};
}

/// The function's results that are past arguments made longer. What doesn't
/// qualify stays tensors, with a remark.
SmallVector<Pair> findPairs(func::FuncOp function) {
  SmallVector<Pair> pairs;
  Block &block = function.getBody().front();
  Operation *end = block.getTerminator();
  for (OpOperand &operand : end->getOpOperands()) {
    Operation *concat = madeBy(operand.get(), "Concat");
    if (!concat)
      continue;
    auto isArgument = [&](Value part) {
      auto argument = dyn_cast<BlockArgument>(skipNoOps(part));
      return argument && argument.getOwner() == &block;
    };
    BlockArgument past;
    for (Value part : concat->getOperands())
      if (!past && isArgument(part))
        past = cast<BlockArgument>(skipNoOps(part));
    if (!past)
      continue;
    StringRef why = whyNoCache(past, concat);
    bool isGivenTwice = llvm::count_if(end->getOperands(), [&](Value value) {
                          return madeBy(value, "Concat") == concat;
                        }) > 1;
    if (why.empty() && isGivenTwice)
      why = "the present is given more than once";
    if (!why.empty()) {
      remarkMissed(concat, "cache", why);
      continue;
    }
    pairs.push_back({past, concat, operand.getOperandNumber()});
  }
  return pairs;
}

/// Replaces the uses of the longer tensor: attention reads the cache itself,
/// what is left reads a copy.
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

CacheType cacheType(Value tensor) {
  return CacheType::get(tensor.getContext(), ranked(tensor));
}

void makeState(Pair pair, Operation *end) {
  Operation *concat = pair.concat;
  CacheType before = cacheType(pair.past),
            after = cacheType(concat->getResult(0));
  // Identities between the concatenation and the function's end would change
  // the type of a cache.
  end->setOperand(pair.result, concat->getResult(0));

  // Sizes of the past are read before anything is appended.
  OpBuilder atStart(pair.past.getOwner(), pair.past.getOwner()->begin());
  replaceShapes(pair.past, pair.past, atStart);
  pair.past.setType(before);

  OpBuilder builder(concat);
  Value longer =
      CacheAppendOp::create(builder, concat->getLoc(), after, pair.past,
                            concat->getOperand(1), /*offsets=*/Value());
  replaceShapes(concat->getResult(0), longer, builder);
  replacePresent(concat->getResult(0), longer, end, builder);
  remarkFound(longer.getDefiningOp(), "cache");
  concat->erase();
}

/// Attention reads two caches or two tensors. Kernels see no types, so an
/// attribute tells them which.
void tellCached(func::FuncOp function) {
  function.walk([](AttentionOp attention) {
    bool keys = isa<CacheType>(attention.getKey().getType());
    bool values = isa<CacheType>(attention.getValue().getType());
    OpBuilder builder(attention);
    if (keys && values)
      attention->setAttr("cached", builder.getI64IntegerAttr(1));
    else if (keys || values)
      for (unsigned i : {1u, 2u})
        if (auto type = dyn_cast<CacheType>(attention->getOperand(i).getType()))
          attention->setOperand(i,
                                CacheReadOp::create(builder, attention.getLoc(),
                                                    type.getTensor(),
                                                    attention->getOperand(i)));
  });
}

void convert(func::FuncOp function) {
  SmallVector<std::pair<unsigned, unsigned>> states;
  convertGroupQueries(function, states);
  Block &block = function.getBody().front();
  Operation *end = block.getTerminator();
  for (const Pair &pair : findPairs(function)) {
    makeState(pair, end);
    states.push_back({pair.result, pair.past.getArgNumber()});
  }
  Builder builder(function.getContext());
  for (auto [result, argument] : states)
    function.setResultAttr(result, "nn.state_of",
                           builder.getI64IntegerAttr(argument));
  function.setType(builder.getFunctionType(block.getArgumentTypes(),
                                           end->getOperandTypes()));
  tellCached(function);
}

struct CacheStatePass : sol::nn::impl::NnCacheStatePassBase<CacheStatePass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && function.getBody().hasOneBlock())
        convert(function);
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
