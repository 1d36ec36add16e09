//===- PrintRecognized.cpp - what was recognised, in numbers --------------===//
//
// One line of JSON for each function. A network without a gate is counted as an
// MLP by the activation between its two products.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/match/Match.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNPRINTRECOGNIZEDPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

struct Counts {
  int64_t attention = 0, cache = 0, norm = 0, rotary = 0, mlp = 0, experts = 0,
          linear = 0;
};

bool isPlainActivation(Operation *op) {
  return isOnnx(op, "Gelu") || isOnnx(op, "Relu") ||
         isOnnx(op, "microsoft.QuickGelu");
}

Counts countIn(func::FuncOp function) {
  Counts counts;
  for (Type type : function.getArgumentTypes())
    counts.cache += isa<CacheType>(type);
  function.walk([&](Operation *op) {
    counts.attention += isa<AttentionOp>(op);
    counts.norm += isa<RmsNormOp>(op) || isOnnx(op, "LayerNormalization");
    counts.rotary += isa<RotaryOp>(op);
    counts.mlp += isa<GateOp>(op) || isPlainActivation(op);
    counts.experts +=
        isOnnx(op, "microsoft.MoE") || isOnnx(op, "microsoft.QMoE");
    counts.linear += isa<LinearOp>(op);
  });
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
        json.attribute("attention", counts.attention);
        json.attribute("cache", counts.cache);
        json.attribute("norm", counts.norm);
        json.attribute("rotary", counts.rotary);
        json.attribute("mlp", counts.mlp);
        json.attribute("experts", counts.experts);
        json.attribute("linear", counts.linear);
      });
      llvm::outs() << "\n";
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
