//===- matmul.cpp - MatMul, FusedMatMul, Gemm, FusedGemm ------------------===//
//
// float16 and bfloat16 are summed in float32 and rounded once; integers wrap.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/kernel_families.h"
#include "runtime/cpu/nn_ops/activation.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/product/families.h"
#include "runtime/cpu/nn_ops/product/matrix_operand.h"

namespace sol::nn {
namespace {

absl::Status checkNumeric(const Tensor &tensor, std::string_view name) {
  return checkType(tensor, name,
                   {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32,
                    DType::I64, DType::U32, DType::U64, DType::I8, DType::U8,
                    DType::I16, DType::U16});
}

/// Stores wrapped sums as elements of an integer type.
template <typename T>
void storeWrapped(const T *sums, int64_t count, Tensor &out, int64_t first) {
  for (int64_t i = 0; i < count; ++i)
    switch (bitWidth(out.type)) {
    case 8:
      out.as<uint8_t>()[first + i] = static_cast<uint8_t>(sums[i]);
      break;
    case 16:
      out.as<uint16_t>()[first + i] = static_cast<uint16_t>(sums[i]);
      break;
    case 32:
      out.as<uint32_t>()[first + i] = static_cast<uint32_t>(sums[i]);
      break;
    default:
      out.as<uint64_t>()[first + i] = sums[i];
    }
}

/// The product, each sum times `alpha`.
absl::Status runScaled(KernelContext &context, const MatrixProduct &product,
                       float alpha, Tensor &out) {
  if (out.type == DType::F64)
    return multiply<double>(
        context, product, [&](int64_t element, int64_t count, const double *s) {
          for (int64_t i = 0; i < count; ++i)
            out.as<double>()[element + i] = alpha == 1 ? s[i] : alpha * s[i];
        });
  if (isFloatStorage(out.type))
    return multiply<float>(context, product,
                           [&](int64_t element, int64_t count, const float *s) {
                             float scaled[panelWidth];
                             for (int64_t i = 0; i < count; ++i)
                               scaled[i] = alpha == 1 ? s[i] : alpha * s[i];
                             storeRow(scaled, count, out, element);
                           });
  if (bitWidth(out.type) == 64)
    return multiply<uint64_t>(
        context, product,
        [&](int64_t element, int64_t count, const uint64_t *s) {
          storeWrapped(s, count, out, element);
        });
  return multiply<uint32_t>(
      context, product, [&](int64_t element, int64_t count, const uint32_t *s) {
        storeWrapped(s, count, out, element);
      });
}

absl::Status inferMatMul(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 2));
  SOL_NN_TRY(checkNumeric(in[0], "A"));
  SOL_NN_TRY(checkSameType(in[1], "B", in[0].type));
  SOL_NN_ASSIGN(MatrixProduct product, describeProduct(in[0], in[1]));
  return setOutput(out, 0, in[0].type, product.resultDims());
}

absl::Status runMatMul(const KernelCall &call, KernelContext &context,
                       Inputs in, Outputs out) {
  SOL_NN_ASSIGN(MatrixProduct product, describeProduct(in[0], in[1]));
  return runScaled(context, product, 1, out[0]);
}

absl::StatusOr<MatrixProduct> describeFused(const KernelCall &call, Inputs in) {
  const Attributes &attributes = call.attributes;
  SOL_NN_ASSIGN(int64_t transA, attributes.integer("transA", 0));
  SOL_NN_ASSIGN(int64_t transB, attributes.integer("transB", 0));
  SOL_NN_ASSIGN(int64_t batchA, attributes.integer("transBatchA", 0));
  SOL_NN_ASSIGN(int64_t batchB, attributes.integer("transBatchB", 0));
  // A vector has nothing to transpose, and a matrix no batch to move.
  return describeProduct(in[0], in[1], transA && in[0].rank() > 1,
                         transB && in[1].rank() > 1, batchA && in[0].rank() > 2,
                         batchB && in[1].rank() > 2);
}

absl::Status inferFusedMatMul(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 2));
  SOL_NN_TRY(checkFloat(in[0], "A"));
  SOL_NN_TRY(checkSameType(in[1], "B", in[0].type));
  SOL_NN_ASSIGN(MatrixProduct product, describeFused(call, in));
  SOL_NN_TRY(call.attributes.real("alpha", 1).status());
  return setOutput(out, 0, in[0].type, product.resultDims());
}

absl::Status runFusedMatMul(const KernelCall &call, KernelContext &context,
                            Inputs in, Outputs out) {
  SOL_NN_ASSIGN(MatrixProduct product, describeFused(call, in));
  SOL_NN_ASSIGN(float alpha, call.attributes.real("alpha", 1));
  return runScaled(context, product, alpha, out[0]);
}

struct GemmCall {
  MatrixProduct product;
  float alpha = 1, beta = 1;
  const Tensor *added = nullptr;
  Dims addedSteps;
};

absl::StatusOr<GemmCall> describeGemm(const KernelCall &call, Inputs in) {
  GemmCall gemm;
  SOL_NN_TRY(checkRank(in[0], "A", 2, 2));
  SOL_NN_TRY(checkRank(in[1], "B", 2, 2));
  SOL_NN_ASSIGN(int64_t transA, call.attributes.integer("transA", 0));
  SOL_NN_ASSIGN(int64_t transB, call.attributes.integer("transB", 0));
  SOL_NN_ASSIGN(gemm.alpha, call.attributes.real("alpha", 1));
  SOL_NN_ASSIGN(gemm.beta, call.attributes.real("beta", 1));
  SOL_NN_ASSIGN(gemm.product,
                describeProduct(in[0], in[1], transA != 0, transB != 0));
  gemm.added = operandAt(in, 2);
  if (gemm.added) {
    SOL_NN_ASSIGN(gemm.addedSteps,
                  broadcastSteps(gemm.added->dims,
                                 {gemm.product.rows, gemm.product.columns},
                                 "C"));
  }
  return gemm;
}

absl::Status inferGemm(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 3));
  SOL_NN_TRY(checkNumeric(in[0], "A"));
  SOL_NN_TRY(checkSameType(in[1], "B", in[0].type));
  if (const Tensor *added = operandAt(in, 2))
    SOL_NN_TRY(checkSameType(*added, "C", in[0].type));
  SOL_NN_ASSIGN(GemmCall gemm, describeGemm(call, in));
  return setOutput(out, 0, in[0].type, gemm.product.resultDims());
}

/// A row of C as T, for `count` columns of the result from `element` on.
template <typename T>
void loadAdded(const GemmCall &gemm, int64_t element, int64_t count, T *row) {
  int64_t columns = gemm.product.columns;
  int64_t first = element / columns * gemm.addedSteps[0] +
                  element % columns * gemm.addedSteps[1];
  if (gemm.addedSteps[1] == 1) {
    loadRow(*gemm.added, first, count, row);
    return;
  }
  loadRow(*gemm.added, first, 1, row);
  std::fill_n(row + 1, count - 1, row[0]);
}

template <typename T>
absl::Status runFloatGemm(KernelContext &context, const GemmCall &gemm,
                          const Activation &activation, Tensor &out) {
  return multiply<T>(
      context, gemm.product, [&](int64_t element, int64_t count, const T *s) {
        T values[panelWidth], added[panelWidth] = {};
        if (gemm.added)
          loadAdded(gemm, element, count, added);
        for (int64_t i = 0; i < count; ++i) {
          values[i] = gemm.alpha == 1 ? s[i] : gemm.alpha * s[i];
          if (gemm.added)
            values[i] += gemm.beta * added[i];
          if (activation.kind != Activation::Kind::None)
            values[i] = activation.apply(static_cast<float>(values[i]));
        }
        storeRow(values, count, out, element);
      });
}

/// Integers: exact where alpha and beta are whole numbers, which they are.
absl::Status runIntegerGemm(KernelContext &context, const GemmCall &gemm,
                            Tensor &out) {
  if (gemm.alpha != std::trunc(gemm.alpha) ||
      gemm.beta != std::trunc(gemm.beta))
    return invalid("attributes `alpha` ", gemm.alpha, " and `beta` ", gemm.beta,
                   " must be whole numbers for integer operands");
  auto alpha = static_cast<uint64_t>(static_cast<int64_t>(gemm.alpha));
  auto beta = static_cast<uint64_t>(static_cast<int64_t>(gemm.beta));
  return multiply<uint64_t>(
      context, gemm.product,
      [&](int64_t element, int64_t count, const uint64_t *s) {
        int64_t columns = gemm.product.columns;
        for (int64_t i = 0; i < count; ++i) {
          uint64_t value = alpha * s[i];
          if (gemm.added) {
            MatrixOperand added{gemm.added, 1, 1, {}, {}};
            uint64_t panel[panelWidth];
            int64_t row = (element + i) / columns,
                    col = (element + i) % columns;
            fillPanel(added,
                      row * gemm.addedSteps[0] + col * gemm.addedSteps[1], 1, 0,
                      1, panel);
            value += beta * panel[0];
          }
          storeWrapped(&value, 1, out, element + i);
        }
      });
}

absl::Status runGemm(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  SOL_NN_ASSIGN(GemmCall gemm, describeGemm(call, in));
  if (out[0].type == DType::F64)
    return runFloatGemm<double>(context, gemm, {}, out[0]);
  if (isFloatStorage(out[0].type))
    return runFloatGemm<float>(context, gemm, {}, out[0]);
  return runIntegerGemm(context, gemm, out[0]);
}

absl::StatusOr<Activation> fusedActivation(const KernelCall &call) {
  SOL_NN_ASSIGN(std::string name, call.attributes.text("activation", ""));
  Activation activation;
  SOL_NN_ASSIGN(activation.alpha, call.attributes.real("activation_alpha", 0));
  SOL_NN_ASSIGN(activation.beta, call.attributes.real("activation_beta", 0));
  SOL_NN_TRY(activation.setKind(name));
  return activation;
}

absl::Status inferFusedGemm(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 3));
  if (!isFloatStorage(in[0].type))
    return invalid("operand `A` has element type ", dtypeName(in[0].type),
                   ", must be float32, float16 or bfloat16");
  SOL_NN_TRY(fusedActivation(call).status());
  return inferGemm(call, in, out);
}

absl::Status runFusedGemm(const KernelCall &call, KernelContext &context,
                          Inputs in, Outputs out) {
  SOL_NN_ASSIGN(GemmCall gemm, describeGemm(call, in));
  SOL_NN_ASSIGN(Activation activation, fusedActivation(call));
  return runFloatGemm<float>(context, gemm, activation, out[0]);
}

} // namespace

void registerMatMulKernels() {
  registerKernel({"onnx.MatMul", nullptr, inferMatMul, runMatMul});
  registerKernel({"onnx.Gemm", nullptr, inferGemm, runGemm});
  registerKernel({"onnx.microsoft.FusedMatMul", nullptr, inferFusedMatMul,
                  runFusedMatMul});
  registerKernel(
      {"onnx.microsoft.FusedGemm", nullptr, inferFusedGemm, runFusedGemm});
}

} // namespace sol::nn
