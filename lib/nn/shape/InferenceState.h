//===- InferenceState.h - what one run of shape inference carries ---------===//
//
// Shared by Inference.cpp and RegionInference.cpp; nobody else needs it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_SHAPE_INFERENCESTATE_H
#define SOL_LIB_NN_SHAPE_INFERENCESTATE_H

#include "lib/nn/shape/Inference.h"
#include "lib/nn/shape/rules/Rules.h"

namespace sol::nn {

class InferenceState {
public:
  explicit InferenceState(ElementFacts &elements) : elements(elements) {}

  mlir::LogicalResult run(mlir::func::FuncOp function);

private:
  // Inference.cpp
  void inferArguments(mlir::func::FuncOp function);
  void inferBlock(mlir::Block &block);
  void inferOperation(mlir::Operation *op);
  /// Gives `value` the sizes, or better ones that its type states already;
  /// unknown ones become symbols named after `base` and the axis.
  void setType(mlir::Value value, const std::optional<Sizes> &sizes,
               const std::string &base);
  void setElements(mlir::Value value, const std::optional<Elements> &known);
  std::string baseName(mlir::Operation *op, unsigned result) const;
  /// A symbol that no other value has.
  SymbolicSize freshSymbol(const std::string &base, mlir::Region *owner);
  /// `size`, or unknown if it depends on a symbol that is bound in a region
  /// that `region` can't see: such a symbol has another value in each
  /// iteration.
  SymbolicSize visibleIn(const SymbolicSize &size, mlir::Region *region) const;
  void noteSymbols(mlir::Type type, mlir::Region *owner);
  void noteAllSymbols(mlir::func::FuncOp function);

  // RegionInference.cpp
  void inferIf(mlir::Operation *op);
  void inferLoop(mlir::Operation *op);
  void inferScan(mlir::Operation *op);
  void forgetBody(mlir::Region &region);
  /// What holds for a value that is `a` or `b`.
  std::optional<Sizes> join(const std::optional<Sizes> &a,
                            const std::optional<Sizes> &b,
                            mlir::Region *region) const;
  /// Finds types of the carried values that each iteration keeps: `arguments`
  /// start as `initial` and `yielded` take their place. Infers the body.
  llvm::SmallVector<std::optional<Sizes>>
  inferCarried(mlir::Operation *op, mlir::ValueRange initial,
               mlir::ValueRange arguments, mlir::ValueRange yielded);

  ElementFacts &elements;
  llvm::StringMap<mlir::Region *> owners; ///< where each symbol is bound
  bool failed = false;
};

} // namespace sol::nn

#endif // SOL_LIB_NN_SHAPE_INFERENCESTATE_H
