//===- PrintRecognized.cpp - what was recognised, in numbers --------------===//
//
// One line of JSON for each function. A network without a gate is counted as an
// MLP by the activation between its two products.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/match/Match.h"
#include "lib/nn/shape/SymbolicSize.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <array>

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNPRINTRECOGNIZEDPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

/// The counts in the order in which they are printed.
enum Kind : unsigned {
  Attention,
  CrossAttention,
  Cache,
  FixedCache,
  Norm,
  Rotary,
  Mlp,
  Experts,
  Linear,
  KindCount
};
constexpr StringLiteral kindNames[KindCount] = {
    "attention", "cross_attention", "cache", "fixed_cache", "norm", "rotary",
    "mlp",       "experts",         "linear"};
using Counts = std::array<int64_t, KindCount>;

bool isPlainActivation(Operation *op) {
  return isOnnx(op, "Gelu") || isOnnx(op, "Relu") ||
         isOnnx(op, "microsoft.QuickGelu");
}

/// Whether keys come from another sequence than queries: a cache that this
/// function never lengthens, or a length without the queries' symbols.
bool isCross(AttentionOp attention) {
  Value key = attention.getKey();
  if (isa<CacheType>(key.getType()))
    return isa<BlockArgument>(key);
  if (rankOf(key) != 4 || rankOf(attention.getQuery()) != 4)
    return false;
  StringAttr step = sizeText(ranked(attention.getQuery()), 2),
             length = sizeText(ranked(key), 2);
  if (!step || !length)
    return false;
  llvm::StringSet<> symbols;
  SymbolicSize::parse(step.getValue()).forEachSymbol([&](StringRef name) {
    symbols.insert(name);
  });
  bool isOther = !symbols.empty();
  SymbolicSize::parse(length.getValue()).forEachSymbol([&](StringRef name) {
    isOther &= !symbols.contains(name);
  });
  return isOther;
}

void countOperation(Operation *op, Counts &counts);

Counts countRegion(Region &region) {
  Counts counts = {};
  for (Block &block : region)
    for (Operation &op : block)
      countOperation(&op, counts);
  return counts;
}

/// What both branches of a condition have is counted once.
void countOperation(Operation *op, Counts &counts) {
  Counts inside = {};
  for (Region &region : op->getRegions())
    for (auto [all, own] : llvm::zip(inside, countRegion(region)))
      all = isOnnx(op, "If") ? std::max(all, own) : all + own;
  for (auto [all, own] : llvm::zip(counts, inside))
    all += own;
  if (auto attention = dyn_cast<AttentionOp>(op))
    ++counts[isCross(attention) ? CrossAttention : Attention];
  counts[Norm] += isa<RmsNormOp>(op) || isOnnx(op, "LayerNormalization");
  counts[Rotary] += isa<RotaryOp>(op);
  counts[Mlp] += isa<GateOp>(op) || isPlainActivation(op);
  counts[Experts] +=
      isOnnx(op, "microsoft.MoE") || isOnnx(op, "microsoft.QMoE");
  counts[Linear] += isa<LinearOp>(op);
}

Counts countIn(func::FuncOp function) {
  Counts counts = countRegion(function.getBody());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isa<CacheType>(function.getArgumentTypes()[i]))
      ++counts[function.getArgAttr(i, "nn.fixed") ? FixedCache : Cache];
  return counts;
}

struct PrintRecognizedPass
    : sol::nn::impl::NnPrintRecognizedPassBase<PrintRecognizedPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Counts counts = countIn(function);
      llvm::json::OStream json(llvm::outs());
      json.object([&] {
        json.attribute("function", function.getName());
        for (auto [name, count] : llvm::zip(kindNames, counts))
          json.attribute(name, count);
      });
      llvm::outs() << "\n";
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
