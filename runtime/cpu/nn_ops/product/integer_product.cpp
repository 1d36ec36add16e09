//===- integer_product.cpp - products of 8-bit operands with zero points --===//
//
// See integer_product.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/product/integer_product.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

namespace sol::nn {

absl::StatusOr<PerLine> PerLine::create(const Tensor *tensor,
                                        std::string_view name,
                                        const Dims &batchDims, int64_t lines,
                                        bool isColumn) {
  PerLine result;
  result.tensor = tensor;
  result.lines = lines;
  if (!tensor)
    return result;
  Dims dims = tensor->dims;
  if (dims.size() > 1) {
    // The axis that is summed over: the last of the left operand, the one
    // before it of the right.
    auto summed = isColumn ? dims.end() - 2 : dims.end() - 1;
    if (*summed != 1)
      return invalid("operand `", name, "` has shape ",
                     dimsToString(tensor->dims),
                     ", must have size 1 in the axis to sum over");
    dims.erase(summed);
  }
  result.shape = batchDims;
  result.shape.push_back(lines);
  SOL_NN_ASSIGN(result.steps, broadcastSteps(dims, result.shape, name));
  return result;
}

int32_t PerLine::integer(int64_t batch, int64_t line) const {
  int64_t at = offset(batch, line);
  switch (tensor->type) {
  case DType::U8:
    return tensor->as<uint8_t>()[at];
  case DType::I8:
    return tensor->as<int8_t>()[at];
  default:
    return tensor->as<int32_t>()[at];
  }
}

float PerLine::real(int64_t batch, int64_t line) const {
  float value;
  loadAsF32(tensor->type, tensor->data, offset(batch, line), 1, &value);
  return value;
}

absl::StatusOr<IntegerProduct> IntegerProduct::create(const Tensor &left,
                                                      const Tensor &right,
                                                      const Tensor *leftZero,
                                                      const Tensor *rightZero) {
  IntegerProduct result;
  SOL_NN_TRY(checkType(left, "A", {DType::U8, DType::I8}));
  SOL_NN_TRY(checkType(right, "B", {DType::U8, DType::I8}));
  if (leftZero)
    SOL_NN_TRY(checkSameType(*leftZero, "a_zero_point", left.type));
  if (rightZero)
    SOL_NN_TRY(checkSameType(*rightZero, "b_zero_point", right.type));
  SOL_NN_ASSIGN(result.product, describeProduct(left, right));
  const MatrixProduct &product = result.product;
  SOL_NN_ASSIGN(result.leftZero,
                PerLine::create(leftZero, "a_zero_point", product.batchDims,
                                product.rows, false));
  SOL_NN_ASSIGN(result.rightZero,
                PerLine::create(rightZero, "b_zero_point", product.batchDims,
                                product.columns, true));
  return result;
}

absl::Status IntegerProduct::run(
    KernelContext &context,
    absl::FunctionRef<void(int64_t, int64_t, int64_t, int64_t, const int32_t *)>
        store) const {
  int64_t batches = elementCount(product.batchDims);
  int64_t rows = product.rows, depth = product.depth;
  ScratchLayout layout;
  size_t leftRows = layout.add<uint32_t>(batches * rows * depth);
  size_t workspace = layout.add<uint32_t>(
      productWorkspace(context.threadCount(), batches, product.columns, depth));
  SOL_NN_TRY(layout.take(context));
  auto offsetOf = [&](const MatrixOperand &operand, int64_t batch) {
    return steppedOffset(batch, product.batchDims, operand.batchSteps);
  };
  uint32_t *values = layout.at<uint32_t>(leftRows);
  for (int64_t line = 0; line < batches * rows; ++line) {
    int64_t batch = line / rows, row = line % rows;
    int64_t first = offsetOf(product.left, batch) + row * product.left.rowStep;
    int32_t zero = leftZero.present() ? leftZero.integer(batch, row) : 0;
    uint32_t *to = values + line * depth;
    bool isSigned = product.left.tensor->type == DType::I8;
    const uint8_t *from = product.left.tensor->as<uint8_t>() + first;
    for (int64_t k = 0; k < depth; ++k)
      to[k] = static_cast<uint32_t>(
          (isSigned ? static_cast<int8_t>(from[k]) : int32_t(from[k])) - zero);
  }
  auto left = [&](int64_t batch) -> const uint32_t * {
    return values + batch * rows * depth;
  };
  auto fill = [&](int64_t batch, int64_t column, int64_t count,
                  uint32_t *panel) {
    fillPanel(product.right, offsetOf(product.right, batch), depth, column,
              count, panel);
    if (!rightZero.present())
      return;
    uint32_t zeros[panelWidth] = {};
    for (int64_t c = 0; c < count; ++c)
      zeros[c] = static_cast<uint32_t>(rightZero.integer(batch, column + c));
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t c = 0; c < panelWidth; ++c)
        panel[k * panelWidth + c] -= zeros[c];
  };
  auto keep = [&](int64_t batch, int64_t row, int64_t column, int64_t count,
                  const uint32_t *sums) {
    store(batch, row, column, count, reinterpret_cast<const int32_t *>(sums));
  };
  runPanelProduct<uint32_t>(
      context, {batches, rows, product.columns, depth, left, fill, keep},
      layout.at<uint32_t>(workspace));
  return absl::OkStatus();
}

} // namespace sol::nn
