//===- RecognizeMlp.cpp - activations and gates from their arithmetic -----===//
//
// The two forms of GELU become onnx.Gelu, and an activation times another
// branch becomes nn.gate. A product is read as the set of its factors, since
// exporters group them in every way.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/match/Match.h"

#include <cmath>

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNRECOGNIZEMLPPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

/// Constants of formulas were rounded to float32, some to fewer digits.
bool isNear(double number, double exact) {
  return std::abs(number - exact) <= 1e-6 * std::abs(exact);
}

/// A product of numbers and values.
struct Product {
  double number = 1;
  SmallVector<Value, 4> values;
};

/// Adds the factors of `value` to `product`: through products, quotients by
/// numbers, and numbers; at most `limit` values.
void collectFactors(Value value, Product &product, unsigned limit) {
  value = skipNoOps(value);
  Operation *op = value.getDefiningOp();
  if (product.values.size() > limit)
    return;
  if (isOnnx(op, "Mul") && sameShape(op->getOperand(0), value)) {
    if (auto number = scalarConstant(op->getOperand(1), rankOf(value))) {
      product.number *= *number;
      return collectFactors(op->getOperand(0), product, limit);
    }
  }
  if (isOnnx(op, "Mul") && sameShape(op->getOperand(1), value)) {
    if (auto number = scalarConstant(op->getOperand(0), rankOf(value))) {
      product.number *= *number;
      return collectFactors(op->getOperand(1), product, limit);
    }
    if (sameShape(op->getOperand(0), value)) {
      collectFactors(op->getOperand(0), product, limit);
      return collectFactors(op->getOperand(1), product, limit);
    }
  }
  if (isOnnx(op, "Div") && sameShape(op->getOperand(0), value)) {
    auto number = scalarConstant(op->getOperand(1), rankOf(value));
    if (number && *number != 0) {
      product.number /= *number;
      return collectFactors(op->getOperand(0), product, limit);
    }
  }
  product.values.push_back(value);
}

Product factorsOf(Value value) {
  Product product;
  collectFactors(value, product, 4);
  return product;
}

/// number * x.
bool isMultiple(Value value, double number, Value x) {
  Product product = factorsOf(value);
  return product.values.size() == 1 && product.values[0] == x &&
         isNear(product.number, number);
}

/// number * x^3.
bool isMultipleOfCube(Value value, double number, Value x) {
  Product product = factorsOf(value);
  if (!isNear(product.number, number))
    return false;
  if (product.values.size() == 3)
    return llvm::all_equal(product.values) && product.values[0] == x;
  if (product.values.size() != 1)
    return false;
  Operation *pow = madeBy(product.values[0], "Pow");
  return pow && skipNoOps(pow->getOperand(0)) == x &&
         scalarConstant(pow->getOperand(1), rankOf(x)) == 3.0;
}

/// The operand of f in 1 + f(operand).
Value underOnePlus(Value value, StringRef name) {
  Operation *add = madeBy(value, "Add");
  if (!add)
    return {};
  auto found = inEitherOrder(add, [&](Value function, Value one) {
    return madeBy(function, name) &&
           scalarConstant(one, rankOf(function)) == 1.0;
  });
  return found ? madeBy(found->first, name)->getOperand(0) : Value();
}

/// sqrt(2 / pi) * (x + 0.044715 * x^3), or the same multiplied out.
bool isTanhArgument(Value value, Value x) {
  double outer = std::sqrt(2 / M_PI);
  Product product = factorsOf(value);
  if (product.values.size() != 1)
    return false;
  Operation *add = madeBy(product.values[0], "Add");
  if (!add)
    return false;
  double inner = product.number;
  return inEitherOrder(add,
                       [&](Value linear, Value cubic) {
                         return isMultiple(linear, outer / inner, x) &&
                                isMultipleOfCube(cubic,
                                                 0.044715 * outer / inner, x);
                       })
      .has_value();
}

/// x * (1 + erf(x / sqrt 2)) / 2, or the same with a tanh. The x, and which.
std::optional<std::pair<Value, StringRef>> matchGelu(Operation *op) {
  Product product = factorsOf(op->getResult(0));
  if (product.values.size() != 2 || product.number != 0.5)
    return std::nullopt;
  for (unsigned first : {0u, 1u}) {
    Value x = product.values[first], other = product.values[1 - first];
    if (Value argument = underOnePlus(other, "Erf"))
      if (isMultiple(argument, std::sqrt(0.5), x))
        return std::pair(x, StringRef("none"));
    if (Value argument = underOnePlus(other, "Tanh"))
      if (isTanhArgument(argument, x))
        return std::pair(x, StringRef("tanh"));
  }
  return std::nullopt;
}

struct GeluFromArithmetic : RewritePattern {
  GeluFromArithmetic(MLIRContext *context)
      : RewritePattern("onnx.Mul", 2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value result = op->getResult(0);
    auto match = matchGelu(op);
    if (!match || !isFloatStorage(result) || !sameShape(match->first, result))
      return failure();
    remarkFound(op, "gelu");
    rewriter.replaceOp(
        op, createOnnx(
                rewriter, op->getLoc(), "Gelu", match->first, result.getType(),
                rewriter.getNamedAttr("approximate",
                                      rewriter.getStringAttr(match->second))));
    return success();
  }
};

/// FastGelu, Gelu and BiasGelu of com.microsoft, QuickGelu with alpha 1 (SiLU).
struct ActivationFromOperator : RewritePattern {
  ActivationFromOperator(StringRef root, StringRef approximate,
                         MLIRContext *context)
      : RewritePattern(root, 1, context), approximate(approximate) {}
  StringRef approximate;

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value x = operandOrNull(op, 0), bias = operandOrNull(op, 1);
    Type type = op->getResult(0).getType();
    if (!x || !isFloatStorage(x))
      return failure();
    Location loc = op->getLoc();
    if (bias)
      x = createOnnx(rewriter, loc, "Add", {x, bias}, type);
    rewriter.replaceOp(
        op,
        createOnnx(rewriter, loc, "Gelu", x, type,
                   rewriter.getNamedAttr("approximate",
                                         rewriter.getStringAttr(approximate))));
    return success();
  }
};

/// The x of an activation, and the name that nn.gate has for it.
std::optional<std::pair<Value, StringRef>> activationOf(Value value) {
  value = skipNoOps(value);
  Operation *op = value.getDefiningOp();
  if (isOnnx(op, "Gelu")) {
    auto kind = op->getAttrOfType<StringAttr>("approximate");
    bool tanh = kind && kind.getValue() == "tanh";
    return std::pair(op->getOperand(0), StringRef(tanh ? "gelu_tanh" : "gelu"));
  }
  if (isOnnx(op, "Relu"))
    return std::pair(op->getOperand(0), StringRef("relu"));
  if (isOnnx(op, "Swish") && floatAttr(op, "alpha", 1) == 1)
    return std::pair(op->getOperand(0), StringRef("silu"));
  if (isOnnx(op, "microsoft.QuickGelu") && floatAttr(op, "alpha", 1.702f) == 1)
    return std::pair(op->getOperand(0), StringRef("silu"));
  if (isOnnx(op, "Mul"))
    if (auto found = inEitherOrder(op, [](Value x, Value factor) {
          Operation *sigmoid = madeBy(factor, "Sigmoid");
          return sigmoid && skipNoOps(sigmoid->getOperand(0)) == skipNoOps(x);
        }))
      return std::pair(skipNoOps(found->first), StringRef("silu"));
  return std::nullopt;
}

struct GateFromProduct : RewritePattern {
  GateFromProduct(MLIRContext *context)
      : RewritePattern("onnx.Mul", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value result = op->getResult(0);
    std::optional<std::pair<Value, StringRef>> activation;
    auto found = inEitherOrder(op, [&](Value activated, Value up) {
      activation = activationOf(activated);
      return activation && skipNoOps(up) != skipNoOps(activation->first) &&
             sameShape(activation->first, up) && sameShape(up, result);
    });
    if (!found || !isFloatStorage(result))
      return failure();
    remarkFound(op, "gate");
    rewriter.replaceOpWithNewOp<GateOp>(
        op, result.getType(), activation->first, found->second,
        rewriter.getStringAttr(activation->second));
    return success();
  }
};

struct RecognizeMlpPass
    : sol::nn::impl::NnRecognizeMlpPassBase<RecognizeMlpPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<GeluFromArithmetic, GateFromProduct>(context);
    patterns.add<ActivationFromOperator>("onnx.microsoft.FastGelu", "tanh",
                                         context);
    patterns.add<ActivationFromOperator>("onnx.microsoft.BiasGelu", "none",
                                         context);
    patterns.add<ActivationFromOperator>("onnx.microsoft.Gelu", "none",
                                         context);
    applyRecognisers(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
