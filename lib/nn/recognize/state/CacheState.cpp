//===- CacheState.cpp - past and present become state ---------------------===//
//
// A function argument that a concatenation lengthens, and a result that is the
// longer tensor, are one cache. The pair is taken only if the past serves for
// nothing else but its shape.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/state/BranchState.h"
#include "lib/nn/recognize/state/BufferState.h"
#include "lib/nn/recognize/state/GroupQueryState.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNCACHESTATEPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

struct Pair {
  BlockArgument past;
  Operation *concat = nullptr;
  unsigned result = 0; ///< which of the function's results is the present
};

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

void makeState(Pair pair, Operation *end) {
  // Identities between the concatenation and the function's end would change
  // the type of a cache.
  end->setOperand(pair.result, pair.concat->getResult(0));
  makeCache(pair.past);
  appendInstead(pair.concat, pair.past, end);
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
  convertBranches(function, states);
  convertBuffers(function, states);
  Block &block = function.getBody().front();
  Operation *end = block.getTerminator();
  for (const Pair &pair : findPairs(function)) {
    makeState(pair, end);
    states.push_back({pair.result, pair.past.getArgNumber()});
  }
  convertFixedPasts(function, !states.empty());
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
