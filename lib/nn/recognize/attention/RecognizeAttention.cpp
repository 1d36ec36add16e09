//===- RecognizeAttention.cpp - attention from its arithmetic -------------===//
//
// Two products with a softmax between them become nn.attention: scales on
// queries, keys or scores, repeated heads, soft cap, masks of numbers or of
// choices, sinks, and the guards that exporters put behind rows without any
// allowed key. The operators that are an attention by themselves are in
// AttentionOperators.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/attention/AttentionOperators.h"
#include "lib/nn/recognize/attention/AttentionParts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNRECOGNIZEATTENTIONPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

/// Takes a factor off `value`: x * c or x / c with a number c.
Value takeFactor(Value value, double &factor) {
  value = skipNoOps(value);
  if (Operation *mul = madeBy(value, "Mul")) {
    std::optional<double> number;
    auto found = inEitherOrder(mul, [&](Value x, Value constant) {
      number = scalarConstant(constant, rankOf(x));
      return number.has_value();
    });
    if (!found)
      return value;
    factor *= *number;
    return skipNoOps(found->first);
  }
  if (Operation *div = madeBy(value, "Div")) {
    auto number =
        scalarConstant(div->getOperand(1), rankOf(div->getOperand(0)));
    if (!number || *number == 0)
      return value;
    factor /= *number;
    return skipNoOps(div->getOperand(0));
  }
  return value;
}

/// The x of cap * tanh(x / cap), and the cap; `value` itself if it isn't that.
Value takeSoftcap(Value value, double &softcap) {
  double outer = 1, inner = 1;
  Operation *tanh = madeBy(takeFactor(value, outer), "Tanh");
  if (!tanh)
    return value;
  Value x = takeFactor(tanh->getOperand(0), inner);
  // Both constants were rounded to float32.
  if (!(outer > 0) || std::abs(outer * inner - 1) > 1e-6)
    return value;
  softcap = outer;
  return x;
}

/// x with its last two axes exchanged, as one transposition, or as one of three
/// axes between two reshapes; a null value if `value` is neither.
Value beforeTransposition(Value value) {
  if (Operation *transpose = madeBy(value, "Transpose"))
    return intsAttr(transpose, "perm") == ArrayRef<int64_t>{0, 1, 3, 2}
               ? skipNoOps(transpose->getOperand(0))
               : Value();
  Operation *split = madeBy(value, "Reshape");
  Operation *transpose =
      split ? madeBy(split->getOperand(0), "Transpose") : nullptr;
  Operation *merge =
      transpose ? madeBy(transpose->getOperand(0), "Reshape") : nullptr;
  if (!merge || intsAttr(transpose, "perm") != ArrayRef<int64_t>{0, 2, 1})
    return {};
  Value x = skipNoOps(merge->getOperand(0)), merged = merge->getResult(0);
  bool leadingAxesOnly = rankOf(x) == 4 && rankOf(value) == 4 &&
                         sameSize(x, 2, merged, 1) &&
                         sameSize(x, 3, merged, 2) &&
                         sameSize(x, 0, value, 0) && sameSize(x, 1, value, 1) &&
                         sameSize(x, 2, value, 3) && sameSize(x, 3, value, 2);
  return leadingAxesOnly ? x : Value();
}

/// The keys, of which `value` is the transpose; a new operation makes them if
/// only another arrangement of them is there.
Value keysFrom(Value value, double &scale, PatternRewriter &rewriter) {
  value = takeFactor(value, scale);
  if (Value keys = beforeTransposition(value))
    return takeFactor(keys, scale);
  Operation *transpose = madeBy(value, "Transpose");
  auto perm = transpose ? intsAttr(transpose, "perm") : SmallVector<int64_t>();
  if (perm.size() != 4)
    return {};
  // batch, length, heads, size: keys are the same with heads in front.
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(transpose);
  return createTranspose(rewriter, transpose->getLoc(),
                         transpose->getOperand(0),
                         {perm[0], perm[1], perm[3], perm[2]});
}

/// Takes back what a match that failed has created.
void eraseUnusedKeys(Value key, PatternRewriter &rewriter) {
  Operation *op = key ? key.getDefiningOp() : nullptr;
  if (isOnnx(op, "Transpose") && op->use_empty())
    rewriter.eraseOp(op);
}

/// Undoes repetitions of heads that keys and values share.
void shareHeads(AttentionParts &parts) {
  Value key = beforeRepeatedHeads(parts.key);
  Value value = beforeRepeatedHeads(parts.value);
  if (key && value && sameSize(key, 1, value, 1)) {
    parts.key = key;
    parts.value = value;
  }
}

/// `value` before it was widened to float32, or itself. Kernels compute in
/// float32 whatever the storage.
Value beforeWidening(Value value) {
  Operation *cast = madeBy(value, "Cast");
  if (!cast || !getElementTypeOrSelf(value).isF32() ||
      !isFloatStorage(cast->getOperand(0)))
    return skipNoOps(value);
  return skipNoOps(cast->getOperand(0));
}

/// The axes of the operands and of the result agree as nn.attention says.
StringRef whyUnfit(const AttentionParts &parts, Value result) {
  Value q = parts.query, k = parts.key, v = parts.value;
  if (rankOf(q) != 4 || rankOf(k) != 4 || rankOf(v) != 4 || rankOf(result) != 4)
    return "queries, keys and values don't have four axes";
  Type element = getElementTypeOrSelf(q);
  for (Value operand : {q, k, v})
    if (!isFloatStorage(operand) || getElementTypeOrSelf(operand) != element)
      return "element types differ or are no floats";
  if (getElementTypeOrSelf(result) != element &&
      !getElementTypeOrSelf(result).isF32())
    return "the result has another element type";
  if (!sameSize(q, 0, k, 0) || !sameSize(q, 0, v, 0))
    return "batches differ";
  int64_t heads = staticSize(q, 1), shared = staticSize(k, 1);
  if (heads < 1 || shared < 1 || heads % shared != 0 ||
      staticSize(v, 1) != shared)
    return "numbers of heads don't divide each other";
  if (!sameSize(k, 2, v, 2))
    return "numbers of keys and values differ";
  if (staticSize(q, 3) < 1 || staticSize(q, 3) != staticSize(k, 3) ||
      staticSize(v, 3) < 1)
    return "head sizes differ";
  if (!sameSize(result, 0, q, 0) || !sameSize(result, 1, q, 1) ||
      !sameSize(result, 2, q, 2) || !sameSize(result, 3, v, 3))
    return "the result has another shape than the queries";
  if (parts.mask.value && !maskFits(parts.mask.value, q, k))
    return "the mask doesn't match the axes of the scores";
  return {};
}

/// The softmax under `value`, through the choice of 0 for what is no number.
Operation *softmaxUnder(Value value, bool &guarded) {
  guarded = false;
  if (Operation *where = madeBy(value, "Where")) {
    Operation *test = madeBy(where->getOperand(0), "IsNaN");
    Value other = skipNoOps(where->getOperand(2));
    if (!test || skipNoOps(test->getOperand(0)) != other ||
        scalarConstant(where->getOperand(1), rankOf(other)) != 0.0)
      return nullptr;
    guarded = true;
    value = other;
  }
  return madeBy(value, "Softmax");
}

bool isOverLastAxis(Operation *op, Value value) {
  return rankOf(value) > 0 &&
         fromStart(intAttr(op, "axis", -1), rankOf(value)) == rankOf(value) - 1;
}

/// One number a head from [1, heads, 1, 1] spread over batch and step.
Value sinksFrom(Value value) {
  if (Operation *expand = madeBy(value, "Expand"))
    value = skipNoOps(expand->getOperand(0));
  if (rankOf(value) != 4 || staticSize(value, 0) != 1 ||
      staticSize(value, 2) != 1 || staticSize(value, 3) != 1 ||
      staticSize(value, 1) < 1)
    return {};
  return value;
}

/// Steps from the probabilities, of which a last column was cut off, to the
/// logits without that column. `sinks` is the column.
Value beforeSinks(Value logits, Value &sinks) {
  // Subtracting the row's maximum changes nothing in a softmax.
  if (Operation *sub = madeBy(logits, "Sub")) {
    Operation *largest = madeBy(sub->getOperand(1), "ReduceMax");
    if (!largest || intAttr(largest, "keepdims", 1) != 1 ||
        skipNoOps(largest->getOperand(0)) != skipNoOps(sub->getOperand(0)))
      return {};
    auto axes = intConstant(operandOrNull(largest, 1));
    if (!axes || axes->size() != 1 ||
        fromStart((*axes)[0], rankOf(logits)) != rankOf(logits) - 1)
      return {};
    logits = sub->getOperand(0);
  }
  Operation *concat = madeBy(logits, "Concat");
  if (!concat || concat->getNumOperands() != 2 || rankOf(logits) != 4 ||
      fromStart(intAttr(concat, "axis", 0), 4) != 3)
    return {};
  sinks = sinksFrom(skipNoOps(concat->getOperand(1)));
  return sinks ? concat->getOperand(0) : Value();
}

/// Whether `slice` keeps all of the last axis but its last entry.
bool cutsLastColumn(Operation *slice) {
  auto start = intConstant(operandOrNull(slice, 1));
  auto end = intConstant(operandOrNull(slice, 2));
  auto axes = intConstant(operandOrNull(slice, 3));
  Value steps = operandOrNull(slice, 4);
  auto step = steps ? intConstant(steps) : SmallVector<int64_t>{1};
  int64_t rank = rankOf(slice->getOperand(0));
  return start && end && axes && step && *start == ArrayRef<int64_t>{0} &&
         *end == ArrayRef<int64_t>{-1} && *step == ArrayRef<int64_t>{1} &&
         axes->size() == 1 && fromStart((*axes)[0], rank) == rank - 1;
}

/// Reads mask, soft cap, scale, queries and keys off the logits.
StringRef readLogits(Value logits, AttentionParts &parts,
                     PatternRewriter &rewriter) {
  Value scores = skipNoOps(logits);
  auto isProduct = [](Value value) {
    double ignored = 1;
    value = takeFactor(takeSoftcap(beforeWidening(value), ignored), ignored);
    return madeBy(value, "MatMul") != nullptr;
  };
  Value before;
  if (auto mask = maskFromChoice(scores, before)) {
    parts.mask = *mask;
    scores = before;
  } else if (Operation *add = madeBy(scores, "Add")) {
    auto found = inEitherOrder(
        add, [&](Value product, Value) { return isProduct(product); });
    if (!found || !sameShape(found->first, scores))
      return "what is added to the scores is no mask";
    scores = found->first;
    parts.mask = maskFromNumbers(found->second);
  }
  scores = beforeWidening(scores);
  Value capped = takeSoftcap(scores, parts.softcap);
  Operation *product = madeBy(takeFactor(capped, parts.scale), "MatMul");
  if (!product)
    return "no product makes the scores";
  parts.query = takeFactor(product->getOperand(0), parts.scale);
  parts.key = keysFrom(product->getOperand(1), parts.scale, rewriter);
  return parts.key ? StringRef() : "the second factor is no transpose of keys";
}

/// Reads everything off the product with the values; why not, if it is none.
StringRef readAttention(Operation *product, AttentionParts &parts,
                        PatternRewriter &rewriter) {
  Value weights = skipNoOps(product->getOperand(0));
  Operation *slice = madeBy(weights, "Slice");
  if (slice)
    weights = slice->getOperand(0);
  bool guarded = false;
  Operation *softmax = softmaxUnder(weights, guarded);
  if (!softmax || !isOverLastAxis(softmax, weights))
    return "no softmax over the last axis";
  Value logits = softmax->getOperand(0);
  if (slice) {
    logits = cutsLastColumn(slice) ? beforeSinks(logits, parts.sinks) : Value();
    if (!logits)
      return "the column that is cut off is no sink";
  }
  parts.value = beforeWidening(product->getOperand(1));
  if (StringRef why = readLogits(logits, parts, rewriter); !why.empty())
    return why;
  if (guarded && parts.mask.maskedRows == "nan")
    parts.mask.maskedRows = "zero";
  shareHeads(parts);
  return whyUnfit(parts, product->getResult(0));
}

struct FromProducts : RewritePattern {
  FromProducts(MLIRContext *context)
      : RewritePattern("onnx.MatMul", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    AttentionParts parts;
    if (!readAttention(op, parts, rewriter).empty()) {
      eraseUnusedKeys(parts.key, rewriter);
      return failure();
    }
    Location loc = op->getLoc();
    if (parts.sinks) {
      auto type = cast<RankedTensorType>(parts.sinks.getType());
      parts.sinks = createOnnx(
          rewriter, loc, "Reshape",
          {parts.sinks, createInts(rewriter, loc, {type.getDimSize(1)})},
          RankedTensorType::get({type.getDimSize(1)}, type.getElementType()));
    }
    Type type = op->getResult(0).getType();
    // The result has the element type of the queries; widening those is exact.
    auto queries = cast<RankedTensorType>(parts.query.getType());
    if (queries.getElementType() != getElementTypeOrSelf(type))
      parts.query = createOnnx(
          rewriter, loc, "Cast", parts.query,
          queries.clone(getElementTypeOrSelf(type)),
          rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(/*FLOAT*/ 1)));
    AttentionOp attention = createAttention(rewriter, loc, parts, type);
    remarkFound(op, "attention");
    // Where(the mask allows nothing in this row, 0, result).
    for (Operation *user : op->getResult(0).getUsers()) {
      if (!isOnnx(user, "Where") || user->getOperand(2) != op->getResult(0) ||
          scalarConstant(user->getOperand(1), 4) != 0.0 || !parts.mask.value ||
          !isEmptyRowTest(user->getOperand(0), parts.mask) ||
          !sameShape(user->getResult(0), op->getResult(0)) ||
          !op->getResult(0).hasOneUse())
        continue;
      attention.setMaskedRows("zero");
      rewriter.replaceAllUsesWith(user->getResult(0), op->getResult(0));
      break;
    }
    rewriter.replaceOp(op, attention);
    return success();
  }
};

struct RecognizeAttentionPass
    : sol::nn::impl::NnRecognizeAttentionPassBase<RecognizeAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FromProducts>(&getContext());
    populateAttentionOperators(patterns);
    applyRecognisers(getOperation(), std::move(patterns));
    for (auto function : getOperation().getOps<func::FuncOp>())
      refreshResultTypes(function);
    reportNearMisses();
  }

  /// A present that an operator gave may have been less exactly typed than what
  /// has taken its place.
  static void refreshResultTypes(func::FuncOp function) {
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    Block &block = function.getBody().front();
    function.setType(
        FunctionType::get(function.getContext(), block.getArgumentTypes(),
                          block.getTerminator()->getOperandTypes()));
  }

  /// Products whose first factor comes from a softmax.
  void reportNearMisses() {
    getOperation()->walk([&](Operation *op) {
      bool guarded = false;
      if (!isOnnx(op, "MatMul") || !softmaxUnder(op->getOperand(0), guarded))
        return;
      PatternRewriter rewriter(&getContext());
      rewriter.setInsertionPoint(op);
      AttentionParts parts;
      remarkMissed(op, "attention", readAttention(op, parts, rewriter));
      eraseUnusedKeys(parts.key, rewriter);
    });
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
