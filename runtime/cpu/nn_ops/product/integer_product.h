//===- integer_product.h - products of 8-bit operands with zero points ----===//
//
// The exact 32-bit sums that every quantized product begins with.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_PRODUCT_INTEGER_PRODUCT_H
#define SOL_RUNTIME_CPU_NN_OPS_PRODUCT_INTEGER_PRODUCT_H

#include "runtime/cpu/nn_ops/product/matrix_operand.h"

namespace sol::nn {

/// A number for each row (or column) of each matrix of a stack: a scalar, a
/// vector, or a tensor with 1 in place of the axis that is summed over.
class PerLine {
public:
  /// `lines` rows or columns under the product's `batchDims`; `isColumn` says
  /// which axis of an N-D tensor must be 1. A missing tensor reads as absent.
  static absl::StatusOr<PerLine> create(const Tensor *tensor,
                                        std::string_view name,
                                        const Dims &batchDims, int64_t lines,
                                        bool isColumn);
  bool present() const { return tensor != nullptr; }
  /// Element number for line `line` of matrix `batch`.
  int64_t offset(int64_t batch, int64_t line) const {
    return steppedOffset(batch * lines + line, shape, steps);
  }
  int32_t integer(int64_t batch, int64_t line) const;
  float real(int64_t batch, int64_t line) const;

private:
  const Tensor *tensor = nullptr;
  Dims shape, steps;
  int64_t lines = 1;
};

/// (A - zeroA) x (B - zeroB), summed in 32 bits.
struct IntegerProduct {
  MatrixProduct product;
  PerLine leftZero, rightZero;

  /// Checks operands; the zero points may be null.
  static absl::StatusOr<IntegerProduct> create(const Tensor &left,
                                               const Tensor &right,
                                               const Tensor *leftZero,
                                               const Tensor *rightZero);
  /// `store(batch, row, column, count, sums)` takes runs of one row.
  absl::Status
  run(KernelContext &context,
      absl::FunctionRef<void(int64_t batch, int64_t row, int64_t column,
                             int64_t count, const int32_t *sums)>
          store) const;
  /// Number of the result's element.
  int64_t element(int64_t batch, int64_t row, int64_t column) const {
    return (batch * product.rows + row) * product.columns + column;
  }
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_PRODUCT_INTEGER_PRODUCT_H
