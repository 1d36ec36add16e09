//===- matrix_operand.h - operands of batched matrix products -------------===//
//
// A tensor read as a stack of matrices with any steps, and the product of two
// such stacks. Knows nothing of operators: MatMul, Gemm and FusedMatMul
// describe their operands with it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_PRODUCT_MATRIX_OPERAND_H
#define SOL_RUNTIME_CPU_NN_OPS_PRODUCT_MATRIX_OPERAND_H

#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/nn_ops/product/panel_product.h"

namespace sol::nn {

/// One operand. Steps count elements.
struct MatrixOperand {
  const Tensor *tensor = nullptr;
  int64_t rowStep = 0, columnStep = 0;
  Dims batchDims;  ///< of this operand, before broadcasting
  Dims batchSteps; ///< of the product: one for each axis of its batch
};

/// A product of two stacks: [batch..., rows, depth] x [batch..., depth,
/// columns].
struct MatrixProduct {
  MatrixOperand left, right;
  Dims batchDims;
  int64_t rows = 0, columns = 0, depth = 0;
  bool leftIsVector = false, rightIsVector = false; ///< 1-D operands of MatMul
  /// Shape of the result, vectors' axes dropped.
  Dims resultDims() const;
};

/// MatMul's reading of two shapes, as numpy.matmul does; `transLeft` and
/// `transRight` swap the last two axes, `batchLeft` and `batchRight` say that
/// the axes are stored as [rows, batch..., depth] (FusedMatMul).
absl::StatusOr<MatrixProduct>
describeProduct(const Tensor &left, const Tensor &right, bool transLeft = false,
                bool transRight = false, bool batchLeft = false,
                bool batchRight = false);

/// Writes columns [column, column + count) of a matrix that begins at element
/// `offset` as a panel, converted to T; the rest of the sixteen is zero.
template <typename T>
void fillPanel(const MatrixOperand &operand, int64_t offset, int64_t depth,
               int64_t column, int64_t count, T *panel);

/// Runs the product; `store(resultElement, count, sums)` takes runs of
/// consecutive elements of one row. T as `arithmeticOf` says.
template <typename T>
absl::Status
multiply(KernelContext &context, const MatrixProduct &product,
         absl::FunctionRef<void(int64_t element, int64_t count, const T *sums)>
             store);

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_PRODUCT_MATRIX_OPERAND_H
