//===- SizeCode.h - operators that compute symbolic sizes -----------------===//
//
// Writes integer tensors whose elements are symbolic sizes as few operators on
// sizes of the function's arguments.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_FOLD_SIZECODE_H
#define SOL_LIB_NN_FOLD_SIZECODE_H

#include "lib/nn/shape/Facts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace sol::nn {

/// Makes the code at the function's start, each expression once.
class SizeCode {
public:
  /// Marks the operators made here; they are not looked at again.
  static constexpr llvm::StringLiteral marker = "nn.size_code";

  explicit SizeCode(mlir::func::FuncOp function);

  /// A tensor of `type` (static, rank 0 or 1, int32 or int64) with these
  /// elements; null if one can't be computed from sizes of the arguments.
  mlir::Value create(const Elements &elements, mlir::RankedTensorType type);

private:
  /// A vector of one int64 with that size; null if it can't be computed.
  mlir::Value single(const SymbolicSize &size);
  mlir::Value compute(const SymbolicSize &size);
  mlir::Value constant(llvm::ArrayRef<int64_t> values);
  mlir::Value operation(llvm::StringRef name, mlir::ValueRange operands,
                        llvm::ArrayRef<int64_t> shape, mlir::Type element,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

  mlir::OpBuilder builder;
  mlir::Location location;
  /// Argument and axis that have exactly the size of that text.
  llvm::StringMap<std::pair<mlir::BlockArgument, int64_t>> bound;
  llvm::StringMap<mlir::Value> made;
};

} // namespace sol::nn

#endif // SOL_LIB_NN_FOLD_SIZECODE_H
