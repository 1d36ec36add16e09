//===- ExpertParts.cpp - what mixtures of experts are made of -------------===//
//
// Matching of routers and gated networks, and the creation of com.microsoft's
// MoE, whose kernel gathers tokens by expert so that an expert's matrices are
// read once.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/experts/ExpertParts.h"

#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;

namespace sol::nn::recognize {
namespace {

/// Whether `reshaped` has the axes of `value` but for those of size 1.
bool differsInUnitAxes(Value value, Value reshaped) {
  auto sizes = [](Value of) -> std::optional<SmallVector<StringAttr>> {
    SmallVector<StringAttr> texts;
    for (int64_t axis = 0; axis < rankOf(of); ++axis) {
      if (staticSize(of, axis) == 1)
        continue;
      texts.push_back(sizeText(ranked(of), axis));
      if (!texts.back())
        return std::nullopt;
    }
    return texts;
  };
  if (rankOf(value) < 0 || rankOf(reshaped) < 0)
    return false;
  auto before = sizes(value), after = sizes(reshaped);
  return before && after && *before == *after;
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
  for (StringRef name : {"Swish", "microsoft.QuickGelu"})
    if (Operation *swish = madeBy(value, name)) {
      alpha = floatAttr(swish, "alpha", name == "Swish" ? 1.0 : 1.702f);
      return skipNoOps(swish->getOperand(0));
    }
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
  return found ? skipNoOps(found->first) : skipNoOps(value);
}

/// `op` in the block that `builder` appends to, or what equals it there.
Operation *cloneOnce(OpBuilder &builder, Operation &op, IRMapping &mapping) {
  Operation *copy = builder.clone(op, mapping);
  for (Operation &before : *builder.getBlock()) {
    if (&before == copy)
      break;
    if (!OperationEquivalence::isEquivalentTo(
            copy, &before, OperationEquivalence::IgnoreLocations))
      continue;
    mapping.map(op.getResults(), before.getResults());
    copy->erase();
    return &before;
  }
  return copy;
}

/// In an expression's body: the tensor that `value` outside is. What several
/// expressions read alike is read once.
Value cloneKnown(OpBuilder &builder, Value value) {
  Operation *maker = value.getDefiningOp();
  IRMapping mapping;
  auto inner = dyn_cast<FoldedOp>(maker);
  if (!inner)
    return cloneOnce(builder, *maker, mapping)->getResult(0);
  for (Operation &op : inner.getBody().front().without_terminator())
    cloneOnce(builder, op, mapping);
  return mapping.lookup(inner.getBody().front().getTerminator()->getOperand(0));
}

/// The tensor whose entries along the first axis are the values, in order; null
/// if there is none.
Value beforeUnstacking(ArrayRef<Value> parts) {
  Value whole;
  for (auto [index, part] : llvm::enumerate(parts)) {
    Value entry = beforeUnitAxes(part);
    Operation *op = entry.getDefiningOp();
    bool split = isOnnx(op, "Split"), gather = isOnnx(op, "Gather");
    if ((!split && !gather) || intAttr(op, "axis", 0) != 0)
      return {};
    Value from = op->getOperand(0);
    int64_t at = split ? int64_t(cast<OpResult>(entry).getResultNumber())
                       : oneInt(op->getOperand(1)).value_or(-1);
    if (at != int64_t(index) || (whole && from != whole) ||
        rankOf(from) != rankOf(part) + 1 ||
        staticSize(from, 0) != int64_t(parts.size()) ||
        (split && op->getNumResults() != parts.size()))
      return {};
    whole = from;
  }
  return whole;
}

/// The values, one for each expert, as one tensor with experts in front.
Value createStack(OpBuilder &builder, Location loc, ArrayRef<Value> parts) {
  if (Value whole = beforeUnstacking(parts))
    return whole;
  auto type = cast<RankedTensorType>(parts.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), int64_t(parts.size()));
  SmallVector<Value> rows;
  for (Value part : parts)
    rows.push_back(createUnsqueeze(builder, loc, part, 0));
  return createOnnx(builder, loc, "Concat", rows,
                    RankedTensorType::get(shape, type.getElementType()),
                    builder.getNamedAttr("axis", builder.getI64IntegerAttr(0)));
}

/// An expression over known values, as one known value; `make` gives its result
/// in the body.
Value createFolded(OpBuilder &builder, Location loc, ValueRange known,
                   llvm::function_ref<Value(ArrayRef<Value>)> make) {
  OpBuilder::InsertionGuard guard(builder);
  // The body's result says the type, so the body is made first.
  auto folded = FoldedOp::create(builder, loc, known.front().getType());
  Block *body = builder.createBlock(&folded.getBody());
  builder.setInsertionPointToStart(body);
  SmallVector<Value> inside;
  for (Value value : known)
    inside.push_back(cloneKnown(builder, value));
  Value result = make(inside);
  YieldOp::create(builder, loc, result);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (op.use_empty() && op.getNumResults() > 0)
      op.erase();
  folded.getResult().setType(cast<RankedTensorType>(result.getType()));
  return folded;
}

/// The weights as experts x outputs x inputs, made when the plan is written.
Value createWeights(const ExpertMatrix &matrix, OpBuilder &builder,
                    Location loc) {
  Value only = matrix.weights.front();
  if (matrix.weights.size() == 1 && !matrix.transposed)
    return only;
  return createFolded(builder, loc, matrix.weights, [&](ArrayRef<Value> parts) {
    Value all =
        rankOf(only) == 3 ? parts.front() : createStack(builder, loc, parts);
    return matrix.transposed ? createTranspose(builder, loc, all, {0, 2, 1})
                             : all;
  });
}

/// The bias as experts x outputs; none where there is none.
Value createBias(const ExpertMatrix &matrix, OpBuilder &builder, Location loc) {
  if (matrix.bias.empty())
    return createNone(builder, loc);
  if (matrix.bias.size() == 1)
    return matrix.bias.front();
  return createFolded(builder, loc, matrix.bias, [&](ArrayRef<Value> parts) {
    return createStack(builder, loc, parts);
  });
}

} // namespace

bool ExpertMatrix::readSizes(int64_t experts) {
  if (weights.empty() || experts < 1)
    return false;
  bool stacked = weights.size() == 1 && rankOf(weights.front()) == 3;
  if (stacked ? staticSize(weights.front(), 0) != experts
              : int64_t(weights.size()) != experts)
    return false;
  outputs = staticSize(weights.front(), transposed ? -1 : -2);
  inputs = staticSize(weights.front(), transposed ? -2 : -1);
  if (outputs < 1 || inputs < 1)
    return false;
  Type type = getElementTypeOrSelf(weights.front());
  for (Value part : weights)
    if (!isKnown(part) || part.getType() != weights.front().getType() ||
        rankOf(part) != (stacked ? 3 : 2))
      return false;
  bool one = bias.size() == 1;
  if (!bias.empty() && !one && int64_t(bias.size()) != experts)
    return false;
  for (Value part : bias) {
    auto vector = ranked(part);
    if (!isKnown(part) || !vector || !vector.hasStaticShape() ||
        vector.getElementType() != type ||
        vector.getNumElements() != (one ? experts : 1) * outputs ||
        (!one && part.getType() != bias.front().getType()))
      return false;
  }
  return true;
}

Value beforeUnitAxes(Value value) {
  value = skipNoOps(value);
  for (;;) {
    Operation *op = value.getDefiningOp();
    bool moves = isOnnx(op, "Squeeze") || isOnnx(op, "Unsqueeze") ||
                 ((isOnnx(op, "Reshape") || isOnnx(op, "Flatten")) &&
                  differsInUnitAxes(op->getOperand(0), value));
    if (!moves)
      return value;
    value = skipNoOps(op->getOperand(0));
  }
}

Value beforeColumn(Value value) {
  value = skipNoOps(value);
  bool column =
      rankOf(value) == 1 || (rankOf(value) == 2 && staticSize(value, 1) == 1);
  if (!column)
    return {};
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!isOnnx(op, "Squeeze") && !isOnnx(op, "Unsqueeze") &&
        !isOnnx(op, "Reshape") && !isOnnx(op, "Flatten"))
      return value;
    value = skipNoOps(op->getOperand(0));
  }
}

std::optional<int64_t> oneInt(Value value) {
  auto numbers = intConstant(value);
  return numbers && numbers->size() == 1 ? std::optional((*numbers)[0])
                                         : std::nullopt;
}

bool isZero(Value value) {
  value = skipNoOps(value);
  if (Operation *expand = madeBy(value, "Expand"))
    return isZero(expand->getOperand(0));
  if (Operation *filled = madeBy(value, "ConstantOfShape")) {
    auto number = filled->getAttrOfType<DenseElementsAttr>("value");
    if (!number) // Zero is what the operator fills with by itself.
      return !filled->hasAttr("value");
    auto element = dyn_cast<FloatType>(number.getElementType());
    return element && number.isSplat() &&
           number.getSplatValue<APFloat>().isZero();
  }
  auto number = uniformConstant(value);
  return number && *number == 0;
}

std::optional<Gated> matchGated(Value value) {
  Operation *mul = madeBy(beforeUnitAxes(value), "Mul");
  if (!mul)
    return std::nullopt;
  Gated gated;
  auto found = inEitherOrder(mul, [&](Value activated, Value rest) {
    gated = {};
    double low = 0, high = 0, upLow = 0, upHigh = 0;
    Value gate = matchSwish(activated, gated.alpha);
    Value up = gate ? beforeSum(rest, gated.beta) : Value();
    gated.gate = gate ? beforeClip(gate, low, high) : Value();
    gated.up = up ? beforeClip(up, upLow, upHigh) : Value();
    gated.limit = high;
    return gated.gate && gated.up && std::isinf(low) && high == upHigh &&
           upLow == -upHigh && sameShape(gated.gate, gated.up);
  });
  return found ? std::optional(gated) : std::nullopt;
}

Value branchesOfOneProduct(const Gated &gated, bool &interleaved) {
  Piece gate = lastAxisPiece(gated.gate), up = lastAxisPiece(gated.up);
  interleaved = false;
  if (gate.root && gate.root == up.root && gate.start == 0 &&
      up.start == gate.size && up.size == gate.size &&
      staticSize(gate.root, -1) == 2 * gate.size)
    return beforeUnitAxes(gate.root);
  interleaved = true;
  auto columns = [](Value branch, int64_t start) {
    Value from = everySecond(branch, start);
    return from ? beforeUnitAxes(from) : Value();
  };
  Value product = columns(gated.gate, 0);
  return product && product == columns(gated.up, 1) ? product : Value();
}

std::optional<Router> matchRouter(Value weights) {
  Router router;
  if (Operation *softmax = madeBy(weights, "Softmax")) {
    router.top = madeBy(softmax->getOperand(0), "TopK");
    if (!router.top ||
        skipNoOps(softmax->getOperand(0)) != router.top->getResult(0) ||
        fromStart(intAttr(softmax, "axis", -1), 2) != 1)
      return std::nullopt;
    router.logits = skipNoOps(router.top->getOperand(0));
    router.normalized = true;
  } else {
    Value chosen = skipNoOps(weights);
    if (Operation *div = madeBy(chosen, "Div")) {
      chosen = skipNoOps(div->getOperand(0));
      Operation *sum = madeBy(div->getOperand(1), "ReduceSum");
      auto axis = sum ? oneInt(operandOrNull(sum, 1)) : std::nullopt;
      if (!axis || fromStart(*axis, 2) != 1 ||
          intAttr(sum, "keepdims", 1) != 1 ||
          skipNoOps(sum->getOperand(0)) != chosen)
        return std::nullopt;
      router.normalized = true;
    }
    router.top = madeBy(chosen, "TopK");
    Operation *all = router.top && chosen == router.top->getResult(0)
                         ? madeBy(router.top->getOperand(0), "Softmax")
                         : nullptr;
    if (!all || fromStart(intAttr(all, "axis", -1), 2) != 1)
      return std::nullopt;
    router.logits = skipNoOps(all->getOperand(0));
  }
  // In which order the chosen experts come makes no difference to their sum.
  router.count = staticSize(router.top->getResult(0), 1);
  router.experts = staticSize(router.logits, 1);
  bool good = rankOf(router.logits) == 2 && router.count > 0 &&
              router.experts > 0 &&
              fromStart(intAttr(router.top, "axis", -1), 2) == 1 &&
              intAttr(router.top, "largest", 1) == 1;
  return good ? std::optional(router) : std::nullopt;
}

Value beforeBias(Value product, llvm::function_ref<bool(Value)> isBias) {
  Operation *add = madeBy(product, "Add");
  if (!add)
    return skipNoOps(product);
  auto found = inEitherOrder(add, [&](Value before, Value bias) {
    return sameShape(before, product) && isBias(bias);
  });
  return found ? skipNoOps(found->first) : skipNoOps(product);
}

bool fits(Mixture &mixture, Value result) {
  ExpertMatrix &first = mixture.first, &up = mixture.up,
               &second = mixture.second;
  const Router &router = mixture.router;
  Value tokens = mixture.tokens;
  bool apart = !up.weights.empty();
  if (!first.readSizes(router.experts) || !second.readSizes(router.experts) ||
      (apart && !up.readSizes(router.experts)))
    return false;
  for (const ExpertMatrix *matrix : {&first, &second, &up})
    for (Value part : matrix->weights)
      if (getElementTypeOrSelf(part) != getElementTypeOrSelf(tokens))
        return false;
  return isFloatStorage(tokens) && isFloatStorage(router.logits) &&
         sameShape(tokens, result) && rankOf(tokens) >= 2 &&
         rankOf(tokens) <= 3 &&
         getElementTypeOrSelf(tokens) == getElementTypeOrSelf(result) &&
         first.inputs == staticSize(tokens, -1) &&
         second.outputs == first.inputs &&
         (!apart ||
          (up.inputs == first.inputs && up.outputs == first.outputs)) &&
         first.outputs == (apart ? 1 : 2) * second.inputs;
}

/// Replaces `op`, whose result has the shape of the tokens, by the mixture.
static void replaceByMixture(PatternRewriter &rewriter, Operation *op,
                             const Mixture &mixture) {
  Location loc = op->getLoc();
  auto integer = [&](StringRef name, int64_t value) {
    return rewriter.getNamedAttr(name, rewriter.getI64IntegerAttr(value));
  };
  auto real = [&](StringRef name, double value) {
    return rewriter.getNamedAttr(name, rewriter.getF32FloatAttr(value));
  };
  bool apart = !mixture.up.weights.empty();
  const Gated &gated = mixture.gated;
  SmallVector<NamedAttribute> attributes{
      rewriter.getNamedAttr("activation_type",
                            rewriter.getStringAttr("swiglu")),
      integer("k", mixture.router.count),
      integer("normalize_routing_weights", mixture.router.normalized),
      integer("swiglu_fusion", apart                 ? 0
                               : mixture.interleaved ? 1
                                                     : 2),
      real("activation_alpha", gated.alpha),
      real("activation_beta", gated.beta)};
  if (!std::isinf(gated.limit))
    attributes.push_back(real("swiglu_limit", gated.limit));
  SmallVector<Value> operands{mixture.tokens, mixture.router.logits};
  for (const ExpertMatrix *matrix :
       {&mixture.first, &mixture.second, &mixture.up}) {
    if (matrix->weights.empty())
      continue;
    operands.push_back(createWeights(*matrix, rewriter, loc));
    operands.push_back(createBias(*matrix, rewriter, loc));
  }
  // The last operand is left away where it is none.
  if (isa<NoneType>(operands.back().getType()))
    operands.pop_back();
  remarkFound(op, "experts");
  rewriter.replaceOp(op, createOnnx(rewriter, loc, "microsoft.MoE", operands,
                                    op->getResult(0).getType(), attributes));
}

namespace {
struct FromLastOperator : RewritePattern {
  FromLastOperator(StringRef root, MatchMixture match, MLIRContext *context)
      : RewritePattern(root, 1, context), match(match) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto mixture = match(op);
    if (!mixture)
      return failure();
    replaceByMixture(rewriter, op, *mixture);
    return success();
  }

  MatchMixture match;
};
} // namespace

void addMixturePattern(RewritePatternSet &patterns, StringRef root,
                       MatchMixture match) {
  patterns.add<FromLastOperator>(root, match, patterns.getContext());
}

} // namespace sol::nn::recognize
