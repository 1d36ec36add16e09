//===- CheckTokenMixing.cpp - do tokens change each other's numbers? ------===//
//
// Everything else in Sol gives a token the same numbers in any chunk and any
// company; operators that quantize a whole tensor by one scale can't.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNCHECKTOKENMIXINGPASS
#include "lib/nn/Passes.h.inc"

namespace {

/// True if one scale, taken at run time, holds for all of operand 0, whose size
/// differs between runs.
bool mixesTokens(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name != "onnx.DynamicQuantizeLinear" &&
      name != "onnx.microsoft.DynamicQuantizeMatMul")
    return false;
  auto type = dyn_cast<ShapedType>(op->getOperand(0).getType());
  return type && !type.hasStaticShape();
}

struct NnCheckTokenMixingPass
    : impl::NnCheckTokenMixingPassBase<NnCheckTokenMixingPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Operation *first = nullptr;
      int64_t count = 0;
      function.walk([&](Operation *op) {
        if (!mixesTokens(op))
          return;
        first = first ? first : op;
        ++count;
      });
      if (first)
        first->emitWarning("takes one scale from all tokens of a run, as ")
            << count << " operators of `" << function.getName()
            << "` do: results depend on chunks and on the batch";
    }
  }
};

} // namespace
} // namespace sol::nn
