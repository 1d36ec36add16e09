//===- EvaluateOperators.cpp - operators on constants ---------------------===//
//
// Runs the runtime's kernels on constants of the IR and keeps the results that
// are small. Weights are not read.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/fold/Rewrites.h"

#include "dialects/nn/NnDialect.h"
#include "lib/support/EvaluateConstant.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sol::nn {

/// True for an operator whose operands are all constants of the IR, at least
/// one.
static bool hasConstantOperands(Operation *op) {
  bool any = op->getName().getStringRef() == "onnx.ConstantOfShape";
  for (Value operand : op->getOperands()) {
    if (isa<NoneType>(operand.getType()))
      continue;
    if (!operand.getDefiningOp<ConstantOp>())
      return false;
    any = true;
  }
  return any;
}

/// Whether running the operator could give something worth keeping.
static bool isCandidate(Operation *op) {
  if (op->getName().getDialectNamespace() != "onnx" || op->getNumRegions() ||
      op->getNumResults() == 0 || op->use_empty() ||
      op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op) ||
      op->getParentOfType<FoldedOp>() || !hasConstantOperands(op))
    return false;
  // A large result becomes part of nn.folded instead.
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    return byteSize(type) <= maxConstantBytes;
  });
}

/// Replaces the results of `op` by what the kernel gives.
static void evaluate(Operation *op, ConstantEvaluator &evaluator) {
  SmallVector<ConstantBytes> operands;
  SmallVector<Tensor> tensors;
  for (Value operand : op->getOperands()) {
    FailureOr<ConstantBytes> bytes = ConstantBytes();
    if (!isa<NoneType>(operand.getType()))
      bytes = evaluator.evaluate(operand);
    if (failed(bytes))
      return;
    operands.push_back(*bytes);
    tensors.push_back(bytes->tensor);
  }
  // A refusal is not ours to report: the operator may never run.
  std::string reason;
  FailureOr<SmallVector<ConstantBytes>> results =
      evaluator.run(op, tensors, &reason);
  if (failed(results))
    return;
  OpBuilder builder(op);
  for (auto [result, bytes] : llvm::zip(op->getResults(), *results)) {
    auto type = dyn_cast<TensorType>(result.getType());
    if (!type || result.use_empty())
      continue;
    const Dims &dims = bytes.tensor.dims;
    auto exact = RankedTensorType::get(
        ArrayRef<int64_t>(dims.data(), dims.size()), type.getElementType());
    DenseElementsAttr value = sol::elementsOf(exact, bytes.tensor);
    if (value && byteSize(exact) <= maxConstantBytes)
      result.replaceAllUsesWith(
          ConstantOp::create(builder, op->getLoc(), exact, value));
  }
}

void evaluateOperators(func::FuncOp function) {
  ConstantEvaluator evaluator(
      [](WeightOp) -> FailureOr<ConstantBytes> { return failure(); },
      maxConstantBytes);
  // In program order, so that one walk folds whole chains.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isCandidate(op))
      evaluate(op, evaluator);
  });
}

} // namespace sol::nn
