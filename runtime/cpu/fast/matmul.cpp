//===- matmul.cpp - float32 MatMul, Gemm and FusedMatMul ------------------===//
//
// The same sums as the reference kernels, faster. Each override keeps the
// definition that it hides and hands it every call that is not float32 or whose
// operands have steps that the loops do not read.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/families.h"
#include "runtime/cpu/fast/hidden_kernel.h"
#include "runtime/cpu/fast/operands.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/nn_ops/product/matrix_operand.h"

#include <algorithm>

namespace sol::fast {
namespace {

using nn::MatrixOperand;
using nn::MatrixProduct;
using simd::simdKernels;

/// The hidden definitions; set once, before any kernel runs.
KernelDefinition referenceMatMul, referenceGemm, referenceFusedMatMul;

/// What becomes of each sum: alpha * sum + beta * C.
struct Finish {
  float alpha = 1, beta = 1;
  const float *added = nullptr;
  int64_t rowStep = 0, columnStep = 0; ///< of `added`
};

bool readable(const MatrixProduct &product) {
  const MatrixOperand &left = product.left, &right = product.right;
  return left.tensor->type == DType::F32 && right.tensor->type == DType::F32 &&
         (right.columnStep == 1 || right.rowStep == 1 || product.columns <= 1 ||
          product.depth <= 1);
}

int64_t batchOffset(int64_t batch, const MatrixProduct &product,
                    const MatrixOperand &operand) {
  return nn::steppedOffset(batch, product.batchDims, operand.batchSteps);
}

void finishPiece(const Finish &finish, int64_t columns, float *c, int64_t row,
                 int64_t rowEnd, int64_t first, int64_t last) {
  for (; row < rowEnd; ++row) {
    float *line = c + row * columns;
    for (int64_t n = first; n < last; ++n) {
      float value = finish.alpha == 1 ? line[n] : finish.alpha * line[n];
      if (finish.added)
        value += finish.beta *
                 finish.added[row * finish.rowStep + n * finish.columnStep];
      line[n] = value;
    }
  }
}

/// Copies the left operand row by row where its k axis is strided.
void gatherLeft(KernelContext &context, const MatrixProduct &product,
                int64_t batches, float *rows) {
  const MatrixOperand &left = product.left;
  context.parallelFor(batches * product.rows, rowGrain(product.depth),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          const float *from =
                              left.tensor->as<float>() +
                              batchOffset(i / product.rows, product, left) +
                              i % product.rows * left.rowStep;
                          float *to = rows + i * product.depth;
                          for (int64_t k = 0; k < product.depth; ++k)
                            to[k] = from[k * left.columnStep];
                        }
                      });
}

absl::Status multiply(KernelContext &context, const MatrixProduct &product,
                      const Finish &finish, Tensor &out) {
  if (out.size() == 0)
    return absl::OkStatus();
  int64_t batches = elementCount(product.batchDims);
  const MatrixOperand &left = product.left, &right = product.right;
  bool gather = left.columnStep != 1 && product.depth > 1;
  ScratchLayout layout;
  size_t rowsAt =
      layout.add<float>(gather ? batches * product.rows * product.depth : 0);
  if (gather) {
    SOL_NN_TRY(layout.take(context));
    gatherLeft(context, product, batches, layout.at<float>(rowsAt));
  }
  bool transposed = right.columnStep != 1 && product.columns > 1;
  int64_t strideB = transposed ? right.columnStep : right.rowStep;
  int64_t panels = (product.columns + 15) / 16;
  ProductCut cut = cutProduct(product.rows, product.depth, product.columns,
                              false, context.threadCount());
  auto piece = [&](int64_t index) {
    int64_t batch = index / cut.pieces();
    index %= cut.pieces();
    int64_t row = index % cut.rowPieces * cut.rowsEach;
    int64_t rowEnd = std::min(row + cut.rowsEach, product.rows);
    int64_t panel = index / cut.rowPieces * cut.panelsEach;
    int64_t panelEnd = std::min(panel + cut.panelsEach, panels);
    const float *a = gather ? layout.at<float>(rowsAt) +
                                  (batch * product.rows + row) * product.depth
                            : left.tensor->as<float>() +
                                  batchOffset(batch, product, left) +
                                  row * left.rowStep;
    simd::ProductShape shape{rowEnd - row, product.depth, product.columns,
                             gather ? product.depth : left.rowStep,
                             product.columns};
    float *c = out.as<float>() + batch * product.rows * product.columns;
    simdKernels().plainProduct(
        shape, a, simd::Storage::F32,
        right.tensor->as<float>() + batchOffset(batch, product, right), strideB,
        transposed, c + row * product.columns, panel, panelEnd);
    if (finish.alpha != 1 || finish.added)
      finishPiece(finish, product.columns, c, row, rowEnd, panel * 16,
                  std::min(panelEnd * 16, product.columns));
  };
  context.parallelFor(batches * cut.pieces(), cut.grain,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i)
                          piece(i);
                      });
  return absl::OkStatus();
}

absl::Status runMatMul(const KernelCall &call, KernelContext &context,
                       Inputs in, Outputs out) {
  SOL_NN_ASSIGN(MatrixProduct product, nn::describeProduct(in[0], in[1]));
  if (!readable(product))
    return referenceMatMul.run(call, context, in, out);
  return multiply(context, product, {}, out[0]);
}

absl::Status runFusedMatMul(const KernelCall &call, KernelContext &context,
                            Inputs in, Outputs out) {
  const Attributes &attributes = call.attributes;
  Finish finish;
  SOL_NN_ASSIGN(int64_t transA, attributes.integer("transA", 0));
  SOL_NN_ASSIGN(int64_t transB, attributes.integer("transB", 0));
  SOL_NN_ASSIGN(int64_t batchA, attributes.integer("transBatchA", 0));
  SOL_NN_ASSIGN(int64_t batchB, attributes.integer("transBatchB", 0));
  SOL_NN_ASSIGN(finish.alpha, attributes.real("alpha", 1));
  // Operands with moved batch axes are rare; vectors have nothing to transpose.
  if (batchA || batchB || in[0].rank() < 2 || in[1].rank() < 2)
    return referenceFusedMatMul.run(call, context, in, out);
  SOL_NN_ASSIGN(MatrixProduct product,
                nn::describeProduct(in[0], in[1], transA != 0, transB != 0));
  if (!readable(product))
    return referenceFusedMatMul.run(call, context, in, out);
  return multiply(context, product, finish, out[0]);
}

absl::Status runGemm(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  Finish finish;
  SOL_NN_ASSIGN(int64_t transA, call.attributes.integer("transA", 0));
  SOL_NN_ASSIGN(int64_t transB, call.attributes.integer("transB", 0));
  SOL_NN_ASSIGN(finish.alpha, call.attributes.real("alpha", 1));
  SOL_NN_ASSIGN(finish.beta, call.attributes.real("beta", 1));
  SOL_NN_ASSIGN(MatrixProduct product,
                nn::describeProduct(in[0], in[1], transA != 0, transB != 0));
  const Tensor *added = operandAt(in, 2);
  if (!readable(product) || (added && added->type != DType::F32))
    return referenceGemm.run(call, context, in, out);
  if (added) {
    SOL_NN_ASSIGN(
        Dims steps,
        nn::broadcastSteps(added->dims, {product.rows, product.columns}, "C"));
    finish.added = added->as<float>();
    finish.rowStep = steps[0];
    finish.columnStep = steps[1];
  }
  return multiply(context, product, finish, out[0]);
}

} // namespace

void registerMatMulOverrides() {
  hideKernel("onnx.MatMul", referenceMatMul, runMatMul);
  hideKernel("onnx.Gemm", referenceGemm, runGemm);
  hideKernel("onnx.microsoft.FusedMatMul", referenceFusedMatMul,
             runFusedMatMul);
}

} // namespace sol::fast
