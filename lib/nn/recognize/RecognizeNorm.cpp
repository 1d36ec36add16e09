//===- RecognizeNorm.cpp - normalisations from their arithmetic -----------===//
//
// Root-mean-square norms become nn.rms_norm, decomposed layer norms become
// onnx.LayerNormalization. Statistics over another axis than the last, a scale
// that isn't one number for each entry of the last axis, and anything that is
// not computed in float32 stay as they are.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/match/Match.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNRECOGNIZENORMPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

bool isFloat32(Value value) { return getElementTypeOrSelf(value).isF32(); }

/// Whether something uses result `index`, which may not be there.
bool isUsed(Operation *op, unsigned index) {
  return index < op->getNumResults() && !op->getResult(index).use_empty();
}

/// Whether `scale` holds one number for each entry of the last axis of `x`.
bool fitsLastAxis(Value scale, Value x) {
  return rankOf(scale) == 1 && staticSize(scale, 0) > 0 &&
         staticSize(scale, 0) == staticSize(x, -1) &&
         getElementTypeOrSelf(scale) == getElementTypeOrSelf(x);
}

/// The operand of a mean over the last axis that keeps it; else null.
Value meanOverLastAxis(Value value) {
  Operation *mean = madeBy(value, "ReduceMean");
  if (!mean || intAttr(mean, "keepdims", 1) != 1)
    return {};
  auto axes = intConstant(operandOrNull(mean, 1));
  int64_t rank = rankOf(mean->getOperand(0));
  if (rank < 1 || !axes || axes->size() != 1 ||
      fromStart((*axes)[0], rank) != rank - 1)
    return {};
  return mean->getOperand(0);
}

/// Whether `value` is x*x or x^2.
bool isSquareOf(Value value, Value x) {
  x = skipNoOps(x);
  if (Operation *mul = madeBy(value, "Mul"))
    return skipNoOps(mul->getOperand(0)) == x &&
           skipNoOps(mul->getOperand(1)) == x;
  Operation *pow = madeBy(value, "Pow");
  return pow && skipNoOps(pow->getOperand(0)) == x &&
         scalarConstant(pow->getOperand(1), rankOf(x)) == 2.0;
}

/// The epsilon of sqrt(mean(x^2) + epsilon), if `value` is that.
std::optional<double> rootMeanSquareOf(Value value, Value x) {
  Operation *root = madeBy(value, "Sqrt");
  Operation *add = root ? madeBy(root->getOperand(0), "Add") : nullptr;
  if (!add)
    return std::nullopt;
  std::optional<double> epsilon;
  auto found = inEitherOrder(add, [&](Value mean, Value constant) {
    Value square = meanOverLastAxis(mean);
    epsilon = scalarConstant(constant, rankOf(mean));
    return square && epsilon && isSquareOf(square, x);
  });
  return found ? epsilon : std::nullopt;
}

/// The d of 1/d, if `value` is a reciprocal.
Value reciprocalOf(Value value) {
  if (Operation *reciprocal = madeBy(value, "Reciprocal"))
    return reciprocal->getOperand(0);
  Operation *div = madeBy(value, "Div");
  if (div &&
      scalarConstant(div->getOperand(0), rankOf(div->getOperand(1))) == 1.0)
    return div->getOperand(1);
  return {};
}

struct Normalised {
  Value x;
  double epsilon = 0;
};

/// x / sqrt(mean(x^2) + epsilon), as a product or as a quotient.
std::optional<Normalised> matchNormalised(Operation *op) {
  Normalised match;
  if (isOnnx(op, "Div")) {
    auto epsilon = rootMeanSquareOf(op->getOperand(1), op->getOperand(0));
    if (!epsilon)
      return std::nullopt;
    match = {op->getOperand(0), *epsilon};
  } else if (isOnnx(op, "Mul")) {
    auto found = inEitherOrder(op, [&](Value x, Value factor) {
      Value divisor = reciprocalOf(factor);
      auto epsilon = divisor ? rootMeanSquareOf(divisor, x) : std::nullopt;
      if (epsilon)
        match = {x, *epsilon};
      return epsilon.has_value();
    });
    if (!found)
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (!isFloat32(match.x) || !isFloat32(op->getResult(0)) ||
      !sameShape(match.x, op->getResult(0)))
    return std::nullopt;
  return match;
}

Value createRmsNorm(PatternRewriter &rewriter, Operation *at, Value x,
                    Value scale, double epsilon, Type type) {
  if (!scale)
    scale = createNone(rewriter, at->getLoc());
  remarkFound(at, "rms norm");
  return RmsNormOp::create(rewriter, at->getLoc(), type, x, scale,
                           rewriter.getF32FloatAttr(epsilon));
}

/// (x - mean(x)) as the operand of a norm: the x, if `value` is that.
Value centredFrom(Value value) {
  Operation *sub = madeBy(value, "Sub");
  if (!sub)
    return {};
  Value x = sub->getOperand(0), mean = meanOverLastAxis(sub->getOperand(1));
  return mean && skipNoOps(mean) == skipNoOps(x) && sameShape(x, value)
             ? x
             : Value();
}

/// The decomposed forms; a centred operand waits for its scale, since
/// LayerNormalization has no form without one.
struct FromArithmetic : RewritePattern {
  FromArithmetic(StringRef root, MLIRContext *context)
      : RewritePattern(root, 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto match = matchNormalised(op);
    if (!match)
      return failure();
    if (centredFrom(match->x))
      return rewriteLayerNorm(op, *match, rewriter);
    rewriter.replaceOp(op, createRmsNorm(rewriter, op, skipNoOps(match->x), {},
                                         match->epsilon,
                                         op->getResult(0).getType()));
    return success();
  }

  /// normalised * scale, or (normalised * scale) + bias.
  static LogicalResult rewriteLayerNorm(Operation *op, const Normalised &match,
                                        PatternRewriter &rewriter) {
    Value x = centredFrom(match.x), result = op->getResult(0);
    if (!result.hasOneUse())
      return failure();
    Operation *mul = *result.getUsers().begin();
    if (!isOnnx(mul, "Mul"))
      return failure();
    Value scale = mul->getOperand(mul->getOperand(0) == result ? 1 : 0);
    if (!fitsLastAxis(scale, x) || !sameShape(mul->getResult(0), x))
      return failure();
    Operation *last = mul;
    SmallVector<Value, 3> operands{skipNoOps(x), scale};
    Operation *add = mul->getResult(0).hasOneUse()
                         ? *mul->getResult(0).getUsers().begin()
                         : nullptr;
    if (isOnnx(add, "Add")) {
      Value bias =
          add->getOperand(add->getOperand(0) == mul->getResult(0) ? 1 : 0);
      if (fitsLastAxis(bias, x) && bias != mul->getResult(0)) {
        operands.push_back(bias);
        last = add;
      }
    }
    remarkFound(last, "layer norm");
    rewriter.setInsertionPoint(last);
    rewriter.replaceOp(
        last,
        createOnnx(
            rewriter, last->getLoc(), "LayerNormalization", operands,
            last->getResult(0).getType(),
            {rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(-1)),
             rewriter.getNamedAttr("epsilon",
                                   rewriter.getF32FloatAttr(match.epsilon))}));
    return success();
  }
};

/// A scale that follows a norm without one.
struct ScaleIntoNorm : RewritePattern {
  ScaleIntoNorm(MLIRContext *context)
      : RewritePattern("onnx.Mul", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto found = inEitherOrder(op, [](Value normalised, Value scale) {
      auto norm = skipNoOps(normalised).getDefiningOp<RmsNormOp>();
      return norm && isa<NoneType>(norm.getScale().getType()) &&
             norm->hasOneUse() && isFloat32(normalised) &&
             fitsLastAxis(scale, normalised);
    });
    if (!found || !sameShape(found->first, op->getResult(0)))
      return failure();
    auto norm = skipNoOps(found->first).getDefiningOp<RmsNormOp>();
    rewriter.replaceOpWithNewOp<RmsNormOp>(op, op->getResult(0).getType(),
                                           norm.getX(), found->second,
                                           norm.getEpsilonAttr());
    return success();
  }
};

/// RMSNormalization and SimplifiedLayerNormalization over the last axis.
struct FromRmsOperator : RewritePattern {
  FromRmsOperator(StringRef root, MLIRContext *context)
      : RewritePattern(root, 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value x = operandOrNull(op, 0), scale = operandOrNull(op, 1);
    if (!x || !scale || !isFloatStorage(x) || !fitsLastAxis(scale, x) ||
        isUsed(op, 1) ||
        fromStart(intAttr(op, "axis", -1), rankOf(x)) != rankOf(x) - 1)
      return failure();
    Value norm =
        createRmsNorm(rewriter, op, x, scale, floatAttr(op, "epsilon", 1e-5),
                      op->getResult(0).getType());
    rewriter.replaceAllUsesWith(op->getResult(0), norm);
    rewriter.eraseOp(op);
    return success();
  }
};

/// The sum of input, skip and bias, which the operator gives as its fourth
/// result, then the norm of the sum. `layer` norms have a shift as well.
struct FromSkipOperator : RewritePattern {
  FromSkipOperator(StringRef root, bool layer, MLIRContext *context)
      : RewritePattern(root, 1, context), layer(layer) {}
  bool layer;

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value x = operandOrNull(op, 0), skip = operandOrNull(op, 1),
          scale = operandOrNull(op, 2);
    Value shift = layer ? operandOrNull(op, 3) : Value();
    Value bias = operandOrNull(op, layer ? 4 : 3);
    if (!x || !skip || !scale || !isFloatStorage(x) || !sameShape(x, skip) ||
        !fitsLastAxis(scale, x) || isUsed(op, 1) || isUsed(op, 2) ||
        (bias && !fitsLastAxis(bias, x)) || (shift && !fitsLastAxis(shift, x)))
      return failure();
    Location loc = op->getLoc();
    Type type = op->getResult(0).getType();
    Value sum = createOnnx(rewriter, loc, "Add", {x, skip}, type);
    if (bias)
      sum = createOnnx(rewriter, loc, "Add", {sum, bias}, type);
    // Both operators default to 1e-12.
    double epsilon = floatAttr(op, "epsilon", 1e-12);
    Value norm;
    if (layer) {
      SmallVector<Value, 3> operands{sum, scale};
      if (shift)
        operands.push_back(shift);
      norm = createOnnx(
          rewriter, loc, "LayerNormalization", operands, type,
          {rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(-1)),
           rewriter.getNamedAttr("epsilon",
                                 rewriter.getF32FloatAttr(epsilon))});
      remarkFound(op, "layer norm");
    } else {
      norm = createRmsNorm(rewriter, op, sum, scale, epsilon, type);
    }
    rewriter.replaceAllUsesWith(op->getResult(0), norm);
    if (Value given = resultOrNull(op, 3))
      rewriter.replaceAllUsesWith(given, sum);
    rewriter.eraseOp(op);
    return success();
  }
};

struct RecognizeNormPass
    : sol::nn::impl::NnRecognizeNormPassBase<RecognizeNormPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FromArithmetic>("onnx.Mul", context);
    patterns.add<FromArithmetic>("onnx.Div", context);
    patterns.add<ScaleIntoNorm>(context);
    patterns.add<FromRmsOperator>("onnx.RMSNormalization", context);
    patterns.add<FromRmsOperator>("onnx.microsoft.SimplifiedLayerNormalization",
                                  context);
    patterns.add<FromSkipOperator>(
        "onnx.microsoft.SkipSimplifiedLayerNormalization", false, context);
    patterns.add<FromSkipOperator>("onnx.microsoft.SkipLayerNormalization",
                                   true, context);
    applyRecognisers(getOperation(), std::move(patterns));
    reportNearMisses();
  }

  /// A square root of a mean of squares that no norm took.
  void reportNearMisses() {
    getOperation()->walk([](Operation *op) {
      Operation *add =
          isOnnx(op, "Sqrt") ? madeBy(op->getOperand(0), "Add") : nullptr;
      if (add && (madeBy(add->getOperand(0), "ReduceMean") ||
                  madeBy(add->getOperand(1), "ReduceMean")))
        remarkMissed(op, "norm",
                     "the mean is not over the last axis alone, the sizes "
                     "differ, or it is not computed in float32");
    });
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
