//===- matrix_operand.cpp - operands of batched matrix products -----------===//
//
// See matrix_operand.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/product/matrix_operand.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

namespace sol::nn {
namespace {

/// The steps and sizes of one operand: its rows and columns before the
/// transposition are `rows` and `columns` after it.
struct OperandShape {
  MatrixOperand operand;
  Dims steps; ///< of the operand's own batch axes
  int64_t rows = 0, columns = 0;
};

OperandShape describeOperand(const Tensor &tensor, bool isRight, bool transpose,
                             bool batchInside) {
  OperandShape result;
  result.operand.tensor = &tensor;
  int rank = tensor.rank();
  if (rank == 1) {
    // A row on the left, a column on the right.
    result.rows = isRight ? tensor.dims[0] : 1;
    result.columns = isRight ? 1 : tensor.dims[0];
    result.operand.rowStep = isRight ? 1 : tensor.dims[0];
    result.operand.columnStep = 1;
    return result;
  }
  Dims steps(rank, 1);
  for (int i = rank - 2; i >= 0; --i)
    steps[i] = steps[i + 1] * tensor.dims[i + 1];
  // With `batchInside` the stored axes are [rows, batch..., columns].
  int rowAxis = batchInside ? 0 : rank - 2, firstBatch = batchInside ? 1 : 0;
  result.rows = tensor.dims[rowAxis];
  result.columns = tensor.dims[rank - 1];
  result.operand.rowStep = steps[rowAxis];
  result.operand.columnStep = 1;
  for (int i = 0; i < rank - 2; ++i) {
    result.operand.batchDims.push_back(tensor.dims[firstBatch + i]);
    result.steps.push_back(steps[firstBatch + i]);
  }
  if (transpose) {
    std::swap(result.rows, result.columns);
    std::swap(result.operand.rowStep, result.operand.columnStep);
  }
  return result;
}

/// Steps along the product's batch axes: zero where the operand is stretched.
Dims stretchedSteps(const OperandShape &shape, size_t batchRank) {
  Dims result(batchRank, 0);
  size_t own = shape.steps.size();
  for (size_t i = 0; i < own; ++i)
    if (shape.operand.batchDims[i] != 1)
      result[batchRank - own + i] = shape.steps[i];
  return result;
}

template <typename S, typename T>
void fillFrom(const S *source, int64_t rowStep, int64_t columnStep,
              int64_t depth, int64_t count, T *panel) {
  if (columnStep == 1 && count == panelWidth) {
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t c = 0; c < panelWidth; ++c)
        panel[k * panelWidth + c] = static_cast<T>(source[k * rowStep + c]);
    return;
  }
  // Eight rows of the panel at a time: a column of a transposed matrix is read
  // by cache lines.
  for (int64_t first = 0; first < depth; first += 8)
    for (int64_t c = 0; c < panelWidth; ++c)
      for (int64_t k = first, end = std::min(depth, first + 8); k < end; ++k)
        panel[k * panelWidth + c] =
            c < count ? static_cast<T>(source[k * rowStep + c * columnStep])
                      : T(0);
}

/// Converts one matrix of the left operand to dense rows.
template <typename T>
void denseRows(const MatrixOperand &operand, int64_t offset, int64_t rows,
               int64_t depth, T *values) {
  for (int64_t row = 0; row < rows; ++row) {
    // A row is the panel column of the transposed matrix, read one at a time.
    int64_t start = offset + row * operand.rowStep;
    if (operand.columnStep == 1 && std::is_floating_point_v<T>) {
      if constexpr (std::is_floating_point_v<T>)
        loadRow(*operand.tensor, start, depth, values + row * depth);
      continue;
    }
    MatrixOperand column = operand;
    column.rowStep = operand.columnStep;
    column.columnStep = 1;
    T panel[8 * panelWidth];
    for (int64_t k = 0; k < depth; k += 8) {
      int64_t count = std::min<int64_t>(8, depth - k);
      fillPanel(column, start + k * operand.columnStep, count, 0, 1, panel);
      for (int64_t i = 0; i < count; ++i)
        values[row * depth + k + i] = panel[i * panelWidth];
    }
  }
}

} // namespace

Dims MatrixProduct::resultDims() const {
  Dims dims = batchDims;
  if (!leftIsVector)
    dims.push_back(rows);
  if (!rightIsVector)
    dims.push_back(columns);
  return dims;
}

absl::StatusOr<MatrixProduct> describeProduct(const Tensor &left,
                                              const Tensor &right,
                                              bool transLeft, bool transRight,
                                              bool batchLeft, bool batchRight) {
  SOL_NN_TRY(checkRank(left, "A", 1, 16));
  SOL_NN_TRY(checkRank(right, "B", 1, 16));
  OperandShape a = describeOperand(left, false, transLeft, batchLeft);
  OperandShape b = describeOperand(right, true, transRight, batchRight);
  if (a.columns != b.rows)
    return invalid("operands `A` of shape ", dimsToString(left.dims),
                   " and `B` of shape ", dimsToString(right.dims),
                   " differ in the axis to sum over: ", a.columns, " and ",
                   b.rows);
  MatrixProduct product;
  SOL_NN_ASSIGN(product.batchDims,
                broadcastShapes(a.operand.batchDims, b.operand.batchDims));
  product.left = a.operand;
  product.right = b.operand;
  product.left.batchSteps = stretchedSteps(a, product.batchDims.size());
  product.right.batchSteps = stretchedSteps(b, product.batchDims.size());
  product.rows = a.rows;
  product.columns = b.columns;
  product.depth = a.columns;
  product.leftIsVector = left.rank() == 1;
  product.rightIsVector = right.rank() == 1;
  return product;
}

template <typename T>
void fillPanel(const MatrixOperand &operand, int64_t offset, int64_t depth,
               int64_t column, int64_t count, T *panel) {
  auto from = [&](auto *source) {
    fillFrom(source + offset + column * operand.columnStep, operand.rowStep,
             operand.columnStep, depth, count, panel);
  };
  const Tensor &tensor = *operand.tensor;
  switch (tensor.type) {
  case DType::F32:
    return from(tensor.as<float>());
  case DType::F64:
    return from(tensor.as<double>());
  case DType::F16:
    return from(tensor.as<F16>());
  case DType::BF16:
    return from(tensor.as<BF16>());
  case DType::U8:
    return from(tensor.as<uint8_t>());
  case DType::I8:
    return from(tensor.as<int8_t>());
  case DType::U16:
    return from(tensor.as<uint16_t>());
  case DType::I16:
    return from(tensor.as<int16_t>());
  case DType::U32:
  case DType::I32:
    return from(tensor.as<uint32_t>());
  case DType::U64:
  case DType::I64:
    return from(tensor.as<uint64_t>());
  default: // inference admits no other type
    std::fill_n(panel, depth * panelWidth, T(0));
  }
}

template <typename T>
absl::Status
multiply(KernelContext &context, const MatrixProduct &given,
         absl::FunctionRef<void(int64_t element, int64_t count, const T *sums)>
             store) {
  MatrixProduct product = given;
  int64_t batches = elementCount(product.batchDims);
  // One matrix on the right and dense ones on the left are one tall product.
  bool dense =
      product.left.columnStep == 1 && product.left.rowStep == product.depth;
  bool sharedRight = elementCount(product.right.batchDims) == 1;
  if (dense && sharedRight && elementCount(product.left.batchDims) == batches) {
    product.rows *= batches;
    product.batchDims.clear();
    product.left.batchSteps.clear();
    product.right.batchSteps.clear();
    batches = 1;
  }
  constexpr DType direct = std::is_same_v<T, float>      ? DType::F32
                           : std::is_same_v<T, double>   ? DType::F64
                           : std::is_same_v<T, uint32_t> ? DType::U32
                                                         : DType::U64;
  DType type = product.left.tensor->type;
  bool isDirect = dense && (type == direct ||
                            (direct == DType::U32 && type == DType::I32) ||
                            (direct == DType::U64 && type == DType::I64));
  int64_t matrix = product.rows * product.depth;
  ScratchLayout layout;
  size_t copies = layout.add<T>(isDirect ? 0 : batches * matrix);
  size_t workspace = layout.add<T>(productWorkspace(
      context.threadCount(), batches, product.columns, product.depth));
  SOL_NN_TRY(layout.take(context));
  auto offsetOf = [&](const MatrixOperand &operand, int64_t batch) {
    return steppedOffset(batch, product.batchDims, operand.batchSteps);
  };
  T *values = layout.at<T>(copies);
  if (!isDirect)
    for (int64_t batch = 0; batch < batches; ++batch)
      denseRows(product.left, offsetOf(product.left, batch), product.rows,
                product.depth, values + batch * matrix);
  auto left = [&](int64_t batch) -> const T * {
    return isDirect
               ? product.left.tensor->as<T>() + offsetOf(product.left, batch)
               : values + batch * matrix;
  };
  auto fill = [&](int64_t batch, int64_t column, int64_t count, T *panel) {
    fillPanel(product.right, offsetOf(product.right, batch), product.depth,
              column, count, panel);
  };
  auto keep = [&](int64_t batch, int64_t row, int64_t column, int64_t count,
                  const T *sums) {
    store((batch * product.rows + row) * product.columns + column, count, sums);
  };
  runPanelProduct<T>(
      context,
      {batches, product.rows, product.columns, product.depth, left, fill, keep},
      layout.at<T>(workspace));
  return absl::OkStatus();
}

#define SOL_NN_INSTANTIATE(T)                                                  \
  template void fillPanel(const MatrixOperand &, int64_t, int64_t, int64_t,    \
                          int64_t, T *);                                       \
  template absl::Status multiply<T>(                                           \
      KernelContext &, const MatrixProduct &,                                  \
      absl::FunctionRef<void(int64_t, int64_t, const T *)>);
SOL_NN_INSTANTIATE(float)
SOL_NN_INSTANTIATE(double)
SOL_NN_INSTANTIATE(uint32_t)
SOL_NN_INSTANTIATE(uint64_t)
#undef SOL_NN_INSTANTIATE

} // namespace sol::nn
