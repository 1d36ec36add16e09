//===- Float16Operators.h - what operators do with 16-bit floats ----------===//
//
// Which operators compute with float16 or bfloat16 operands, which only move
// them, and which mean the 16-bit values themselves.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_WIDEN_FLOAT16OPERATORS_H
#define SOL_LIB_NN_WIDEN_FLOAT16OPERATORS_H

#include "mlir/IR/Operation.h"

namespace sol::nn {

/// Largest constant, in bytes of float32, that is stored widened; operators
/// that read a larger one widen it at each run, if at all.
inline constexpr int64_t maxWidenedBytes = 64 << 10;

/// Whether `type` is a tensor of float16 or bfloat16.
bool isFloat16Tensor(mlir::Type type);
/// `type`, a tensor, with float32 elements.
mlir::Type withFloat32(mlir::Type type);
/// Whether `value` is a constant, a weight or an expression over weights.
bool isConstantOfModel(mlir::Value value);
/// Whether `value` is such a constant, too large to be stored widened.
bool isLargeConstant(mlir::Value value);

/// What to do with an operator that has 16-bit operands or results.
enum class Float16Kind {
  Compute, ///< arithmetic: from float32 to float32
  Follow,  ///< moves elements or looks at shapes: as its operands are
  Keep     ///< needs the values as the graph's types have them
};

/// The kind of `op`. For example Add is `Compute`, Reshape is `Follow`; Equal,
/// MatMulNBits, If and what nobody listed are `Keep`, and so is what could not
/// have float32 operands by its schema.
Float16Kind float16KindOf(mlir::Operation *op);

/// Whether the kernel of `op`, which computes, reads this operand in 16 bits
/// beside float32 ones: matrices of products, keys and values.
bool readsFloat16(mlir::OpOperand &operand);

} // namespace sol::nn

#endif // SOL_LIB_NN_WIDEN_FLOAT16OPERATORS_H
