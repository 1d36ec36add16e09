//===- RecognizeLinear.cpp - products with constant matrices --------------===//
//
// MatMul and Gemm with a known matrix become nn.linear. A matrix that is a
// transposed weight is taken as the weight itself, so that an embedding table
// that is also the output matrix stays one weight. Adding a known vector after
// the product becomes its bias: the sum is rounded the same way.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/match/Match.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNRECOGNIZELINEARPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

/// A known matrix, and whether rows of it are columns of the product's.
struct Matrix {
  Value value;
  bool transposed = false;
};

/// The one operation that a folded value computes from one weight, if it is a
/// transposition.
WeightOp transposedInFold(Value value) {
  auto folded = value.getDefiningOp<FoldedOp>();
  if (!folded)
    return {};
  Value given = folded.getBody().front().getTerminator()->getOperand(0);
  Operation *transpose = madeBy(given, "Transpose");
  if (!transpose || rankOf(given) != 2)
    return {};
  auto perm = intsAttr(transpose, "perm");
  if (!perm.empty() && perm != ArrayRef<int64_t>{1, 0})
    return {};
  return skipNoOps(transpose->getOperand(0)).getDefiningOp<WeightOp>();
}

/// `value` as a matrix for a product with contraction over its first axis, or
/// over its second if `transposed`; nullopt if it is not known before the run.
std::optional<Matrix> knownMatrix(Value value, bool transposed,
                                  PatternRewriter &rewriter) {
  value = skipNoOps(value);
  while (Operation *transpose = madeBy(value, "Transpose")) {
    auto perm = intsAttr(transpose, "perm");
    if (rankOf(value) != 2 || (!perm.empty() && perm[0] != 1))
      break;
    value = skipNoOps(transpose->getOperand(0));
    transposed = !transposed;
  }
  auto type = ranked(value);
  if (!type || type.getRank() != 2 || !type.hasStaticShape() ||
      !isKnown(value) || !isFloatStorage(value))
    return std::nullopt;
  if (WeightOp weight = transposedInFold(value)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(value.getDefiningOp());
    value = rewriter.clone(*weight)->getResult(0);
    transposed = !transposed;
  }
  return Matrix{value, transposed};
}

/// Whether `bias` is a known vector with an entry for each column of `product`.
bool isBias(Value bias, Value product) {
  return rankOf(bias) == 1 && isKnown(skipNoOps(bias)) &&
         staticSize(bias, 0) > 0 &&
         staticSize(bias, 0) == staticSize(product, -1) &&
         getElementTypeOrSelf(bias) == getElementTypeOrSelf(product);
}

Value createLinear(PatternRewriter &rewriter, Operation *at, Value x,
                   const Matrix &matrix, Value bias, Type type) {
  if (!bias)
    bias = createNone(rewriter, at->getLoc());
  return LinearOp::create(rewriter, at->getLoc(), type, x, matrix.value, bias,
                          matrix.transposed, /*packed=*/false,
                          /*columns=*/IntegerAttr());
}

struct FromMatMul : RewritePattern {
  FromMatMul(MLIRContext *context)
      : RewritePattern("onnx.MatMul", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value x = op->getOperand(0);
    if (rankOf(x) < 2 ||
        getElementTypeOrSelf(x) != getElementTypeOrSelf(op->getOperand(1)))
      return failure();
    // An x that is known as well is folding's to compute.
    auto matrix = isKnown(x) ? std::nullopt
                             : knownMatrix(op->getOperand(1), false, rewriter);
    if (!matrix)
      return failure();
    rewriter.replaceOp(op, createLinear(rewriter, op, x, *matrix, {},
                                        op->getResult(0).getType()));
    return success();
  }
};

struct FromGemm : RewritePattern {
  FromGemm(MLIRContext *context) : RewritePattern("onnx.Gemm", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value x = op->getOperand(0), bias = operandOrNull(op, 2);
    if (floatAttr(op, "alpha", 1) != 1 || floatAttr(op, "beta", 1) != 1 ||
        intAttr(op, "transA", 0) != 0 || rankOf(x) != 2 || isKnown(x) ||
        getElementTypeOrSelf(x) != getElementTypeOrSelf(op->getOperand(1)))
      return failure();
    Value result = op->getResult(0);
    if (bias && !isBias(bias, result))
      return failure();
    auto matrix =
        knownMatrix(op->getOperand(1), intAttr(op, "transB", 0) != 0, rewriter);
    if (!matrix)
      return failure();
    rewriter.replaceOp(
        op, createLinear(rewriter, op, x, *matrix, bias, result.getType()));
    return success();
  }
};

/// com.microsoft's product with transposed operands, of the second one only.
struct FromFusedMatMul : RewritePattern {
  FromFusedMatMul(MLIRContext *context)
      : RewritePattern("onnx.microsoft.FusedMatMul", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value x = op->getOperand(0);
    if (floatAttr(op, "alpha", 1) != 1 || intAttr(op, "transA", 0) != 0 ||
        intAttr(op, "transBatchA", 0) != 0 ||
        intAttr(op, "transBatchB", 0) != 0 || rankOf(x) < 2 || isKnown(x) ||
        getElementTypeOrSelf(x) != getElementTypeOrSelf(op->getOperand(1)))
      return failure();
    auto matrix =
        knownMatrix(op->getOperand(1), intAttr(op, "transB", 0) != 0, rewriter);
    if (!matrix)
      return failure();
    rewriter.replaceOp(op, createLinear(rewriter, op, x, *matrix, {},
                                        op->getResult(0).getType()));
    return success();
  }
};

/// In float32 only: a product in float16 is rounded before the addition.
struct BiasIntoLinear : RewritePattern {
  BiasIntoLinear(MLIRContext *context)
      : RewritePattern("onnx.Add", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto found = inEitherOrder(op, [](Value product, Value bias) {
      auto linear = skipNoOps(product).getDefiningOp<LinearOp>();
      return linear && isa<NoneType>(linear.getBias().getType()) &&
             linear->hasOneUse() && isBias(bias, product) &&
             getElementTypeOrSelf(product).isF32();
    });
    if (!found)
      return failure();
    auto linear = skipNoOps(found->first).getDefiningOp<LinearOp>();
    rewriter.replaceOp(
        op, createLinear(rewriter, op, linear.getX(),
                         {linear.getWeight(), linear.getTransposed()},
                         found->second, op->getResult(0).getType()));
    return success();
  }
};

struct RecognizeLinearPass
    : sol::nn::impl::NnRecognizeLinearPassBase<RecognizeLinearPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FromMatMul, FromGemm, FromFusedMatMul, BiasIntoLinear>(
        &getContext());
    applyRecognisers(getOperation(), std::move(patterns));
    getOperation()->walk([](Operation *op) {
      if (isOnnx(op, "MatMul") && isKnown(skipNoOps(op->getOperand(1))))
        remarkMissed(op, "linear",
                     "its matrix is not of rank 2, or of another "
                     "element type than kernels take");
    });
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
