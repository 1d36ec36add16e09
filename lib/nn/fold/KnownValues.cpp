//===- KnownValues.cpp - values whose elements are known numbers ----------===//
//
// Replaces them by constants, so that what computed them dies.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/fold/Rewrites.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sol::nn {

int64_t byteSize(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrFloat())
    return -1;
  unsigned bits = tensor.getElementTypeBitWidth();
  Sizes sizes(tensor.getShape().begin(), tensor.getShape().end());
  // A bool takes a byte.
  SymbolicSize total =
      elementCount(sizes) * static_cast<int64_t>(std::max(bits, 1u));
  std::optional<int64_t> number = total.constant();
  if (!number)
    return -1;
  return bits == 1 ? *number : *number / 8 + (*number % 8 != 0);
}

void replaceKnownValues(func::FuncOp function, const ElementFacts &facts) {
  function.walk([&](Operation *op) {
    if (isa<ConstantOp>(op) || op->getParentOfType<FoldedOp>())
      return;
    OpBuilder builder(op);
    for (OpResult result : op->getResults()) {
      auto it = facts.find(result);
      if (it == facts.end() || result.use_empty() ||
          byteSize(result.getType()) > maxConstantBytes)
        continue;
      DenseElementsAttr value =
          constantOf(it->second, cast<RankedTensorType>(result.getType()));
      if (value)
        result.replaceAllUsesWith(
            ConstantOp::create(builder, op->getLoc(), result.getType(), value));
    }
  });
}

} // namespace sol::nn
