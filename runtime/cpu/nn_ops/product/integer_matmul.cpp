//===- integer_matmul.cpp - matrix products of quantized operands ---------===//
//
// MatMulInteger, QLinearMatMul and ONNX Runtime's MatMulIntegerToFloat and
// DynamicQuantizeMatMul. Sums are exact in 32 bits; no intermediate saturates.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/product/families.h"
#include "runtime/cpu/nn_ops/product/integer_product.h"
#include "runtime/cpu/nn_ops/quantization/dynamic_scale.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

namespace sol::nn {
namespace {

absl::Status inferMatMulInteger(const KernelCall &call, Inputs in,
                                Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 4));
  SOL_NN_ASSIGN(
      IntegerProduct product,
      IntegerProduct::create(in[0], in[1], operandAt(in, 2), operandAt(in, 3)));
  return setOutput(out, 0, DType::I32, product.product.resultDims());
}

absl::Status runMatMulInteger(const KernelCall &call, KernelContext &context,
                              Inputs in, Outputs out) {
  SOL_NN_ASSIGN(
      IntegerProduct product,
      IntegerProduct::create(in[0], in[1], operandAt(in, 2), operandAt(in, 3)));
  int32_t *result = out[0].as<int32_t>();
  return product.run(context, [&](int64_t batch, int64_t row, int64_t column,
                                  int64_t count, const int32_t *sums) {
    std::copy_n(sums, count, result + product.element(batch, row, column));
  });
}

/// Operands 0..7 of QLinearMatMul, checked.
struct QLinearCall {
  IntegerProduct product;
  PerLine leftScale, rightScale;
};

absl::StatusOr<QLinearCall> describeQLinear(Inputs in) {
  SOL_NN_TRY(checkCount(in, 8, 8));
  for (size_t i : {1, 4, 6})
    if (!isFloatStorage(in[i].type))
      return invalid("operand ", i, " is a scale of element type ",
                     dtypeName(in[i].type),
                     ", must be float32, float16 or bfloat16");
  SOL_NN_TRY(checkType(in[7], "y_zero_point", {DType::U8, DType::I8}));
  SOL_NN_TRY(checkElements(in[6], "y_scale", 1));
  SOL_NN_TRY(checkElements(in[7], "y_zero_point", 1));
  QLinearCall result;
  SOL_NN_ASSIGN(result.product,
                IntegerProduct::create(in[0], in[3], &in[2], &in[5]));
  const MatrixProduct &product = result.product.product;
  SOL_NN_ASSIGN(result.leftScale,
                PerLine::create(&in[1], "a_scale", product.batchDims,
                                product.rows, false));
  SOL_NN_ASSIGN(result.rightScale,
                PerLine::create(&in[4], "b_scale", product.batchDims,
                                product.columns, true));
  return result;
}

absl::Status inferQLinearMatMul(const KernelCall &call, Inputs in,
                                Outputs out) {
  SOL_NN_ASSIGN(QLinearCall described, describeQLinear(in));
  return setOutput(out, 0, in[7].type, described.product.product.resultDims());
}

absl::Status runQLinearMatMul(const KernelCall &call, KernelContext &context,
                              Inputs in, Outputs out) {
  SOL_NN_ASSIGN(QLinearCall described, describeQLinear(in));
  float outScale;
  loadRow(in[6], 0, 1, &outScale);
  bool isSigned = in[7].type == DType::I8;
  float zero =
      isSigned ? float(in[7].as<int8_t>()[0]) : float(in[7].as<uint8_t>()[0]);
  uint8_t *result = out[0].as<uint8_t>();
  return described.product.run(context, [&](int64_t batch, int64_t row,
                                            int64_t column, int64_t count,
                                            const int32_t *sums) {
    int64_t first = described.product.element(batch, row, column);
    float left = described.leftScale.real(batch, row);
    for (int64_t i = 0; i < count; ++i) {
      float scale =
          left * described.rightScale.real(batch, column + i) / outScale;
      float value = roundEven(static_cast<float>(sums[i]) * scale) + zero;
      result[first + i] = static_cast<uint8_t>(
          clampToInteger(value, isSigned ? -128 : 0, isSigned ? 127 : 255));
    }
  });
}

/// What MatMulIntegerToFloat and DynamicQuantizeMatMul do after the sums.
struct Rescaled {
  PerLine rightScale;
  const Tensor *bias = nullptr;

  static absl::StatusOr<Rescaled> create(const MatrixProduct &product,
                                         const Tensor &scale,
                                         const Tensor *bias, DType type) {
    Rescaled result;
    SOL_NN_TRY(checkSameType(scale, "b_scale", type));
    SOL_NN_ASSIGN(result.rightScale,
                  PerLine::create(&scale, "b_scale", product.batchDims,
                                  product.columns, true));
    result.bias = bias;
    if (bias) {
      SOL_NN_TRY(checkSameType(*bias, "bias", type));
      SOL_NN_TRY(checkDims(*bias, "bias", {product.columns}));
    }
    return result;
  }

  void store(const IntegerProduct &product, int64_t batch, int64_t row,
             int64_t column, int64_t count, const int32_t *sums,
             float leftScale, Tensor &out) const {
    float values[panelWidth], added[panelWidth];
    if (bias)
      loadRow(*bias, column, count, added);
    for (int64_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(sums[i]) *
                  (leftScale * rightScale.real(batch, column + i));
      if (bias)
        values[i] += added[i];
    }
    storeRow(values, count, out, product.element(batch, row, column));
  }
};

struct ToFloatCall {
  IntegerProduct product;
  PerLine leftScale;
  Rescaled rescaled;
};

absl::StatusOr<ToFloatCall> describeToFloat(Inputs in) {
  SOL_NN_TRY(checkCount(in, 4, 7));
  SOL_NN_TRY(checkType(in[2], "a_scale", {DType::F32, DType::F16}));
  ToFloatCall result;
  SOL_NN_ASSIGN(
      result.product,
      IntegerProduct::create(in[0], in[1], operandAt(in, 4), operandAt(in, 5)));
  const MatrixProduct &product = result.product.product;
  SOL_NN_ASSIGN(result.leftScale,
                PerLine::create(&in[2], "a_scale", product.batchDims,
                                product.rows, false));
  SOL_NN_ASSIGN(result.rescaled,
                Rescaled::create(product, in[3], operandAt(in, 6), in[2].type));
  return result;
}

absl::Status inferToFloat(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(ToFloatCall described, describeToFloat(in));
  return setOutput(out, 0, in[2].type, described.product.product.resultDims());
}

absl::Status runToFloat(const KernelCall &call, KernelContext &context,
                        Inputs in, Outputs out) {
  SOL_NN_ASSIGN(ToFloatCall described, describeToFloat(in));
  return described.product.run(context, [&](int64_t batch, int64_t row,
                                            int64_t column, int64_t count,
                                            const int32_t *sums) {
    described.rescaled.store(described.product, batch, row, column, count, sums,
                             described.leftScale.real(batch, row), out[0]);
  });
}

struct DynamicCall {
  MatrixProduct product;
  PerLine rightZero;
  Rescaled rescaled;
};

absl::StatusOr<DynamicCall> describeDynamic(Inputs in) {
  SOL_NN_TRY(checkCount(in, 3, 5));
  SOL_NN_TRY(checkType(in[0], "A", {DType::F32}));
  SOL_NN_TRY(checkType(in[1], "B", {DType::U8, DType::I8}));
  DynamicCall result;
  SOL_NN_ASSIGN(result.product, describeProduct(in[0], in[1]));
  const Tensor *zero = operandAt(in, 3);
  if (zero)
    SOL_NN_TRY(checkSameType(*zero, "b_zero_point", in[1].type));
  SOL_NN_ASSIGN(result.rightZero,
                PerLine::create(zero, "b_zero_point", result.product.batchDims,
                                result.product.columns, true));
  SOL_NN_ASSIGN(
      result.rescaled,
      Rescaled::create(result.product, in[2], operandAt(in, 4), DType::F32));
  return result;
}

absl::Status inferDynamic(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(DynamicCall described, describeDynamic(in));
  return setOutput(out, 0, DType::F32, described.product.resultDims());
}

/// The left operand's codes take the zero point's place: (q - zero) is stored
/// as floats' integers in the product, so that no temporary tensor is needed.
absl::Status runDynamic(const KernelCall &call, KernelContext &context,
                        Inputs in, Outputs out) {
  SOL_NN_ASSIGN(DynamicCall described, describeDynamic(in));
  const MatrixProduct &product = described.product;
  int64_t batches = elementCount(product.batchDims), depth = product.depth;
  int64_t matrix = product.rows * depth;
  ScratchLayout layout;
  size_t codes = layout.add<uint32_t>(batches * matrix);
  size_t workspace = layout.add<uint32_t>(
      productWorkspace(context.threadCount(), batches, product.columns, depth));
  SOL_NN_TRY(layout.take(context));
  uint32_t *values = layout.at<uint32_t>(codes);
  const float *source = in[0].as<float>();
  DynamicScale scale = dynamicScale(source, in[0].size());
  auto offsetOf = [&](const MatrixOperand &operand, int64_t batch) {
    return steppedOffset(batch, product.batchDims, operand.batchSteps);
  };
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t i = 0; i < matrix; ++i)
      values[batch * matrix + i] =
          uint32_t(scale.quantize(source[offsetOf(product.left, batch) + i])) -
          scale.zeroPoint;
  auto left = [&](int64_t batch) -> const uint32_t * {
    return values + batch * matrix;
  };
  auto fill = [&](int64_t batch, int64_t column, int64_t count,
                  uint32_t *panel) {
    fillPanel(product.right, offsetOf(product.right, batch), depth, column,
              count, panel);
    for (int64_t c = 0; c < count && described.rightZero.present(); ++c) {
      auto zero = uint32_t(described.rightZero.integer(batch, column + c));
      for (int64_t k = 0; k < depth; ++k)
        panel[k * panelWidth + c] -= zero;
    }
  };
  IntegerProduct placed;
  placed.product = product;
  auto keep = [&](int64_t batch, int64_t row, int64_t column, int64_t count,
                  const uint32_t *sums) {
    described.rescaled.store(placed, batch, row, column, count,
                             reinterpret_cast<const int32_t *>(sums),
                             scale.scale, out[0]);
  };
  runPanelProduct<uint32_t>(
      context,
      {batches, product.rows, product.columns, depth, left, fill, keep},
      layout.at<uint32_t>(workspace));
  return absl::OkStatus();
}

} // namespace

void registerIntegerMatMulKernels() {
  registerKernel(
      {"onnx.MatMulInteger", nullptr, inferMatMulInteger, runMatMulInteger});
  registerKernel(
      {"onnx.QLinearMatMul", nullptr, inferQLinearMatMul, runQLinearMatMul});
  registerKernel({"onnx.microsoft.MatMulIntegerToFloat", nullptr, inferToFloat,
                  runToFloat});
  registerKernel({"onnx.microsoft.DynamicQuantizeMatMul", nullptr, inferDynamic,
                  runDynamic});
}

} // namespace sol::nn
