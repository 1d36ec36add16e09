//===- RecognizeExperts.cpp - mixtures of experts from their arithmetic ---===//
//
// The batched form: for each token and each of its k experts, that expert's two
// matrices are gathered, a gated network runs, and the results are weighted and
// summed. It becomes com.microsoft's MoE, whose kernel gathers tokens by expert
// instead, so that an expert's matrices are read once.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/match/Match.h"

#include "mlir/IR/IRMapping.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNRECOGNIZEEXPERTSPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

/// A matrix for each expert, and a vector behind the product or null.
struct ExpertMatrix {
  Value weights, bias;
  bool transposed = false; ///< inputs x outputs, not outputs x inputs
  int64_t outputs = 0, inputs = 0;
};

struct Experts {
  Value tokens; ///< N x width
  Value logits; ///< N x experts
  int64_t count = 0;
  bool normalized = false;
  ExpertMatrix first, second;
  bool interleaved = false; ///< gate and other branch alternate, not halves
  double alpha = 1, beta = 0, limit = std::numeric_limits<double>::infinity();
};

/// `value` before axes of size 1 came or went.
Value beforeUnitAxes(Value value) {
  value = skipNoOps(value);
  while (isOnnx(value.getDefiningOp(), "Squeeze") ||
         isOnnx(value.getDefiningOp(), "Unsqueeze"))
    value = skipNoOps(value.getDefiningOp()->getOperand(0));
  return value;
}

/// The N x k tensor whose elements in order are the column `value`.
Value beforeColumn(Value value) {
  Operation *reshape = madeBy(beforeUnitAxes(value), "Reshape");
  if (!reshape || rankOf(reshape->getResult(0)) != 1)
    return {};
  return skipNoOps(reshape->getOperand(0));
}

/// What is gathered once for each element of `picks`: GatherND(known, column).
Value gatheredBy(Value value, Value picks) {
  Operation *gather = madeBy(value, "GatherND");
  if (!gather || intAttr(gather, "batch_dims", 0) != 0 ||
      staticSize(gather->getOperand(1), -1) != 1 ||
      rankOf(gather->getOperand(1)) != 2 ||
      beforeColumn(gather->getOperand(1)) != picks)
    return {};
  Value known = skipNoOps(gather->getOperand(0));
  return isKnown(known) ? known : Value();
}

/// `value` (rows x outputs) as the product of rows with their experts' matrices
/// and a bias. `rows` is set to the other factor.
std::optional<ExpertMatrix> matchProduct(Value value, Value picks,
                                         Value &rows) {
  ExpertMatrix matrix;
  value = beforeUnitAxes(value);
  if (Operation *add = madeBy(value, "Add")) {
    auto found = inEitherOrder(add, [&](Value product, Value bias) {
      matrix.bias = gatheredBy(bias, picks);
      return matrix.bias && sameShape(product, value);
    });
    if (!found)
      return std::nullopt;
    value = beforeUnitAxes(found->first);
  }
  Operation *product = madeBy(value, "MatMul");
  if (!product || rankOf(product->getResult(0)) != 3)
    return std::nullopt;
  for (bool transposed : {false, true}) {
    Value gathered = product->getOperand(transposed ? 1 : 0);
    Value other = product->getOperand(transposed ? 0 : 1);
    matrix.weights = gatheredBy(gathered, picks);
    if (!matrix.weights || rankOf(matrix.weights) != 3 || rankOf(other) != 3 ||
        staticSize(other, transposed ? 1 : 2) != 1)
      continue;
    matrix.transposed = transposed;
    matrix.outputs = staticSize(matrix.weights, transposed ? 2 : 1);
    matrix.inputs = staticSize(matrix.weights, transposed ? 1 : 2);
    rows = beforeUnitAxes(other);
    bool biasFits =
        !matrix.bias ||
        (rankOf(matrix.bias) == 2 &&
         staticSize(matrix.bias, 1) == matrix.outputs &&
         staticSize(matrix.bias, 0) == staticSize(matrix.weights, 0));
    if (rankOf(rows) == 2 && biasFits)
      return matrix;
  }
  return std::nullopt;
}

/// Every second column of the last axis from `start` on: what is sliced.
Value everySecond(Value value, int64_t start) {
  Operation *slice = madeBy(value, "Slice");
  if (!slice)
    return {};
  Value from = slice->getOperand(0);
  auto starts = intConstant(operandOrNull(slice, 1)),
       ends = intConstant(operandOrNull(slice, 2)),
       axes = intConstant(operandOrNull(slice, 3)),
       steps = intConstant(operandOrNull(slice, 4));
  SmallVector<int64_t> first{start}, two{2};
  if (!starts || !ends || !axes || !steps || *starts != first ||
      *steps != two || ends->size() != 1 || axes->size() != 1 ||
      (*ends)[0] < staticSize(from, -1) || staticSize(from, -1) % 2 != 0 ||
      fromStart((*axes)[0], rankOf(from)) != rankOf(from) - 1)
    return {};
  return beforeUnitAxes(from);
}

/// The value under a Clip; its bounds, infinite where there is none.
Value beforeClip(Value value, double &low, double &high) {
  low = -std::numeric_limits<double>::infinity();
  high = -low;
  Operation *clip = madeBy(value, "Clip");
  if (!clip)
    return skipNoOps(value);
  for (unsigned i : {1u, 2u})
    if (Value bound = operandOrNull(clip, i)) {
      auto number = scalarConstant(bound, 0);
      if (!number)
        return {};
      (i == 1 ? low : high) = *number;
    }
  return skipNoOps(clip->getOperand(0));
}

/// The g of g * sigmoid(alpha * g).
Value matchSwish(Value value, double &alpha) {
  Operation *mul = madeBy(value, "Mul");
  if (!mul)
    return {};
  alpha = 1;
  auto found = inEitherOrder(mul, [&](Value gate, Value factor) {
    Operation *sigmoid = madeBy(factor, "Sigmoid");
    if (!sigmoid)
      return false;
    Value inner = skipNoOps(sigmoid->getOperand(0));
    if (inner == skipNoOps(gate))
      return true;
    Operation *scaled = madeBy(inner, "Mul");
    return scaled && inEitherOrder(scaled, [&](Value x, Value number) {
             auto scale = scalarConstant(number, rankOf(x));
             alpha = scale.value_or(1);
             return scale && skipNoOps(x) == skipNoOps(gate);
           });
  });
  return found ? skipNoOps(found->first) : Value();
}

/// The x of x + number; x itself with number 0.
Value beforeSum(Value value, double &number) {
  number = 0;
  Operation *add = madeBy(value, "Add");
  if (!add)
    return skipNoOps(value);
  auto found = inEitherOrder(add, [&](Value x, Value constant) {
    auto scalar = scalarConstant(constant, rankOf(x));
    number = scalar.value_or(0);
    return scalar.has_value();
  });
  return found ? skipNoOps(found->first) : Value();
}

/// swish(gate) * (other + beta), both from one product; that product.
Value matchGate(Value value, Experts &experts) {
  Operation *mul = madeBy(beforeUnitAxes(value), "Mul");
  if (!mul)
    return {};
  Value product;
  auto branches = [&](Value activated, Value rest) {
    Value gate = matchSwish(activated, experts.alpha);
    Value other = gate ? beforeSum(rest, experts.beta) : Value();
    double low = 0, high = 0, otherLow = 0, otherHigh = 0;
    gate = gate ? beforeClip(gate, low, high) : Value();
    other = other ? beforeClip(other, otherLow, otherHigh) : Value();
    if (!gate || !other || !std::isinf(low) || high != otherHigh ||
        otherLow != -otherHigh)
      return false;
    experts.limit = high;
    Piece first = lastAxisPiece(gate), second = lastAxisPiece(other);
    if (first.root && first.root == second.root && first.start == 0 &&
        second.start == first.size && second.size == first.size &&
        staticSize(first.root, -1) == 2 * first.size) {
      product = beforeUnitAxes(first.root);
      return true;
    }
    product = everySecond(gate, 0);
    experts.interleaved = true;
    return product && product == everySecond(other, 1);
  };
  return inEitherOrder(mul, branches) ? product : Value();
}

/// The N x width tensor of which each row stands `count` times in `rows`.
Value beforeRepeatedRows(Value rows, int64_t count) {
  Operation *reshape = madeBy(rows, "Reshape");
  Operation *expand =
      reshape ? madeBy(reshape->getOperand(0), "Expand") : nullptr;
  if (!expand || rankOf(expand->getResult(0)) != 3 ||
      staticSize(expand->getResult(0), 1) != count)
    return {};
  Value single = skipNoOps(expand->getOperand(0)), wide = expand->getResult(0);
  Operation *insert = madeBy(single, "Unsqueeze");
  Value tokens = insert ? skipNoOps(insert->getOperand(0)) : Value();
  bool fits = tokens && rankOf(tokens) == 2 && rankOf(single) == 3 &&
              staticSize(single, 1) == 1 && sameSize(tokens, 0, single, 0) &&
              sameSize(tokens, 0, wide, 0) && sameSize(tokens, 1, wide, 2) &&
              staticSize(rows, 1) == staticSize(tokens, 1);
  return fits ? tokens : Value();
}

/// Which experts and how much of each: reads the router off the N x k weights.
Operation *matchRouting(Value weights, Experts &experts) {
  Operation *top = nullptr;
  if (Operation *softmax = madeBy(weights, "Softmax")) {
    top = madeBy(softmax->getOperand(0), "TopK");
    if (!top || skipNoOps(softmax->getOperand(0)) != top->getResult(0) ||
        fromStart(intAttr(softmax, "axis", -1), 2) != 1)
      return nullptr;
    experts.logits = skipNoOps(top->getOperand(0));
    experts.normalized = true;
  } else {
    Value chosen = skipNoOps(weights);
    if (Operation *div = madeBy(chosen, "Div")) {
      chosen = skipNoOps(div->getOperand(0));
      Operation *sum = madeBy(div->getOperand(1), "ReduceSum");
      auto axes = sum ? intConstant(operandOrNull(sum, 1)) : std::nullopt;
      if (!axes || axes->size() != 1 || fromStart((*axes)[0], 2) != 1 ||
          intAttr(sum, "keepdims", 1) != 1 ||
          skipNoOps(sum->getOperand(0)) != chosen)
        return nullptr;
      experts.normalized = true;
    }
    top = madeBy(chosen, "TopK");
    Operation *all = top && chosen == top->getResult(0)
                         ? madeBy(top->getOperand(0), "Softmax")
                         : nullptr;
    if (!all || fromStart(intAttr(all, "axis", -1), 2) != 1)
      return nullptr;
    experts.logits = skipNoOps(all->getOperand(0));
  }
  experts.count = staticSize(top->getResult(0), 1);
  bool fits = rankOf(experts.logits) == 2 && experts.count > 0 &&
              fromStart(intAttr(top, "axis", -1), 2) == 1 &&
              intAttr(top, "largest", 1) == 1 && intAttr(top, "sorted", 1) == 1;
  return fits ? top : nullptr;
}

/// Reads everything off the sum over a token's experts.
bool readExperts(Operation *sum, Experts &experts) {
  auto axes = intConstant(operandOrNull(sum, 1));
  Operation *split = madeBy(sum->getOperand(0), "Reshape");
  if (!axes || axes->size() != 1 || intAttr(sum, "keepdims", 1) != 0 ||
      !split || rankOf(split->getResult(0)) != 3 ||
      fromStart((*axes)[0], 3) != 1)
    return false;
  Operation *mul = madeBy(split->getOperand(0), "Mul");
  if (!mul || rankOf(mul->getResult(0)) != 2)
    return false;
  Operation *top = nullptr;
  Value picks, inner, rows;
  auto found = inEitherOrder(mul, [&](Value, Value column) {
    Value weights = staticSize(column, 1) == 1 ? beforeColumn(column) : Value();
    top = weights ? matchRouting(weights, experts) : nullptr;
    return top != nullptr;
  });
  if (!found)
    return false;
  picks = top->getResult(1);
  auto second = matchProduct(found->first, picks, inner);
  Value product = second ? matchGate(inner, experts) : Value();
  auto first = product ? matchProduct(product, picks, rows) : std::nullopt;
  if (!first)
    return false;
  experts.first = *first;
  experts.second = *second;
  experts.tokens = beforeRepeatedRows(rows, experts.count);
  Value result = sum->getResult(0);
  return experts.tokens && isFloatStorage(experts.tokens) &&
         sameSize(experts.tokens, 0, split->getResult(0), 0) &&
         staticSize(split->getResult(0), 1) == experts.count &&
         sameShape(experts.tokens, result) &&
         sameSize(experts.logits, 0, experts.tokens, 0) &&
         staticSize(experts.logits, 1) == staticSize(first->weights, 0) &&
         staticSize(second->weights, 0) == staticSize(first->weights, 0) &&
         first->inputs == staticSize(experts.tokens, 1) &&
         first->outputs == 2 * second->inputs &&
         second->outputs == first->inputs;
}

/// The weights as experts x outputs x inputs, transposed when the plan is
/// written.
Value createWeights(const ExpertMatrix &matrix, PatternRewriter &rewriter) {
  if (!matrix.transposed)
    return matrix.weights;
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = matrix.weights.getLoc();
  rewriter.setInsertionPointAfterValue(matrix.weights);
  auto type = RankedTensorType::get(
      {staticSize(matrix.weights, 0), matrix.outputs, matrix.inputs},
      getElementTypeOrSelf(matrix.weights));
  auto folded = FoldedOp::create(rewriter, loc, type);
  Block *body = rewriter.createBlock(&folded.getBody());
  rewriter.setInsertionPointToStart(body);
  Operation *maker = matrix.weights.getDefiningOp();
  Value given;
  if (auto inner = dyn_cast<FoldedOp>(maker)) {
    IRMapping mapping;
    for (Operation &op : inner.getBody().front().without_terminator())
      rewriter.clone(op, mapping);
    given =
        mapping.lookup(inner.getBody().front().getTerminator()->getOperand(0));
  } else {
    given = rewriter.clone(*maker)->getResult(0);
  }
  Value transposed = createOnnx(
      rewriter, loc, "Transpose", given, type,
      rewriter.getNamedAttr("perm", rewriter.getDenseI64ArrayAttr({0, 2, 1})));
  YieldOp::create(rewriter, loc, transposed);
  return folded;
}

struct FromBatchedProducts : RewritePattern {
  FromBatchedProducts(MLIRContext *context)
      : RewritePattern("onnx.ReduceSum", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Experts experts;
    if (!readExperts(op, experts))
      return failure();
    auto orNone = [&](Value value) {
      return value ? value : createNone(rewriter, op->getLoc());
    };
    auto integer = [&](StringRef name, int64_t value) {
      return rewriter.getNamedAttr(name, rewriter.getI64IntegerAttr(value));
    };
    auto real = [&](StringRef name, double value) {
      return rewriter.getNamedAttr(name, rewriter.getF32FloatAttr(value));
    };
    SmallVector<NamedAttribute> attributes{
        rewriter.getNamedAttr("activation_type",
                              rewriter.getStringAttr("swiglu")),
        integer("k", experts.count),
        integer("normalize_routing_weights", experts.normalized),
        integer("swiglu_fusion", experts.interleaved ? 1 : 2),
        real("activation_alpha", experts.alpha),
        real("activation_beta", experts.beta)};
    if (!std::isinf(experts.limit))
      attributes.push_back(real("swiglu_limit", experts.limit));
    SmallVector<Value> operands{
        experts.tokens, experts.logits, createWeights(experts.first, rewriter),
        orNone(experts.first.bias), createWeights(experts.second, rewriter)};
    if (experts.second.bias)
      operands.push_back(experts.second.bias);
    remarkFound(op, "experts");
    rewriter.replaceOp(op, createOnnx(rewriter, op->getLoc(), "microsoft.MoE",
                                      operands, op->getResult(0).getType(),
                                      attributes));
    return success();
  }
};

struct RecognizeExpertsPass
    : sol::nn::impl::NnRecognizeExpertsPassBase<RecognizeExpertsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FromBatchedProducts>(&getContext());
    applyRecognisers(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
