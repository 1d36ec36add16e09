//===- EvaluateConstant.h - the bytes of a constant -----------------------===//
//
// Evaluates `nn.constant`, `nn.weight` and `nn.folded`, and single operators on
// known operands, with the kernels of the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SUPPORT_EVALUATECONSTANT_H
#define SOL_LIB_SUPPORT_EVALUATECONSTANT_H

#include "dialects/nn/NnDialect.h"
#include "runtime/cpu/kernel.h"

#include <functional>
#include <memory>

namespace sol {

/// A tensor whose bytes are known; `owner` keeps them alive if they aren't in a
/// mapped file.
struct ConstantBytes {
  Tensor tensor;
  std::shared_ptr<void> owner;
};

/// Gives the bytes of a weight, from wherever the model's files are; reports an
/// error at the operation if they can't be read.
using WeightReader =
    std::function<llvm::FailureOr<ConstantBytes>(nn::WeightOp)>;

/// Evaluates constants one at a time; keeps none of them.
class ConstantEvaluator {
public:
  /// Values of more than `limitBytes` are refused.
  ConstantEvaluator(WeightReader readWeight, int64_t limitBytes);
  ~ConstantEvaluator();

  /// The bytes of a value made by one of the three constant operations.
  llvm::FailureOr<ConstantBytes> evaluate(mlir::Value constant);

  /// The results of `op` on `operands` (a missing one has type None). Fails
  /// without a diagnostic if no kernel computes it; if the kernel refuses the
  /// operands, `error` (where given) gets its reason.
  llvm::FailureOr<llvm::SmallVector<ConstantBytes>>
  run(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
      std::string *error = nullptr);

private:
  llvm::FailureOr<ConstantBytes> evaluateFolded(nn::FoldedOp folded);

  WeightReader readWeight;
  int64_t limitBytes;
  std::unique_ptr<KernelContext> context;
};

/// The elements of an attribute in the order and packing of memory.
llvm::FailureOr<ConstantBytes> bytesOf(mlir::ElementsAttr elements);

/// The attribute of that type with those elements; null if the type is dynamic
/// or has no attribute form.
mlir::DenseElementsAttr elementsOf(mlir::ShapedType type, const Tensor &tensor);

} // namespace sol

#endif // SOL_LIB_SUPPORT_EVALUATECONSTANT_H
