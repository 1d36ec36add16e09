//===- RecognizeRotary.cpp - rotary embedding from its arithmetic ---------===//
//
// The two ways in which exporters write a rotation of halves become nn.rotary,
// then a part of each head that passes by is taken in:
//   x * cos + concat(-second, first) * sin, cosines and sines given twice;
//   concat(first * cos - second * sin, second * cos + first * sin).
// The operators that are a rotary embedding are in RotaryOperators.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/RotaryOperators.h"
#include "lib/nn/recognize/match/Match.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNRECOGNIZEROTARYPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

bool isLastAxis(Operation *op, Value value) {
  return rankOf(value) > 0 &&
         fromStart(intAttr(op, "axis", 0), rankOf(value)) == rankOf(value) - 1;
}

/// Whether the second half of the last axis certainly repeats the first: a
/// concatenation of a value with itself, under operators that treat all entries
/// of the last axis alike.
bool repeatsHalf(Value value) {
  for (;;) {
    value = skipNoOps(value);
    Operation *op = value.getDefiningOp();
    if (!op || staticSize(value, -1) < 2)
      return false;
    if (isOnnx(op, "Concat"))
      return isLastAxis(op, value) && op->getNumOperands() == 2 &&
             skipNoOps(op->getOperand(0)) == skipNoOps(op->getOperand(1));
    Value next;
    if (isOnnx(op, "Cos") || isOnnx(op, "Sin") || isOnnx(op, "Cast"))
      next = op->getOperand(0);
    else if (isOnnx(op, "Unsqueeze") || isOnnx(op, "Reshape"))
      // A reshape that keeps the last axis moves no entry along it.
      next = op->getOperand(0);
    else if (isOnnx(op, "Mul"))
      if (auto found = inEitherOrder(op, [](Value x, Value factor) {
            return scalarConstant(factor, rankOf(x)).has_value();
          }))
        next = found->first;
    if (!next || staticSize(next, -1) != staticSize(value, -1))
      return false;
    value = next;
  }
}

/// cos or sin, whose last axis has `size` entries: the first half of it, which
/// nn.rotary takes, can be made if the second repeats it.
bool isDoubledAngle(Value value, int64_t size) {
  return rankOf(value) >= 1 && rankOf(value) <= 4 &&
         staticSize(value, -1) == size && repeatsHalf(value);
}

/// Whether `table` may serve as cosines for `x`: each axis before the last is 1
/// or the axis of x, and heads share it.
bool broadcastsTo(Value table, Value x) {
  int64_t rank = rankOf(table);
  for (int64_t axis = 0; axis + 1 < rank; ++axis) {
    int64_t ofX = axis + 4 - rank;
    if (staticSize(table, axis) != 1 &&
        (ofX == 1 || !sameSize(table, axis, x, ofX)))
      return false;
  }
  return rank >= 1 && rank <= 4;
}

struct Rotation {
  Piece x; ///< the entries that are rotated
  Value cos, sin;
  bool doubled = false; ///< cos and sin have the size of x, not half of it
};

/// The piece of which `value` is concat(-second half, first half).
std::optional<Piece> rotatedHalf(Value value) {
  Operation *concat = madeBy(value, "Concat");
  if (!concat || concat->getNumOperands() != 2 || !isLastAxis(concat, value))
    return std::nullopt;
  Operation *neg = madeBy(concat->getOperand(0), "Neg");
  if (!neg)
    return std::nullopt;
  Piece second = lastAxisPiece(neg->getOperand(0));
  Piece first = lastAxisPiece(concat->getOperand(1));
  if (!first.root || first.root != second.root || first.size != second.size ||
      second.start != first.start + first.size)
    return std::nullopt;
  return Piece{first.root, first.start, 2 * first.size};
}

bool samePiece(const Piece &a, const Piece &b) {
  return a.root && a.root == b.root && a.start == b.start && a.size == b.size;
}

/// x * cos + rotated(x) * sin.
std::optional<Rotation> matchSum(Operation *op) {
  Rotation match;
  auto isTerms = [&](Value plain, Value turned) {
    Operation *mulCos = madeBy(plain, "Mul"), *mulSin = madeBy(turned, "Mul");
    if (!mulCos || !mulSin)
      return false;
    std::optional<Piece> half;
    auto second = inEitherOrder(mulSin, [&](Value value, Value sin) {
      half = rotatedHalf(value);
      return half && isDoubledAngle(sin, half->size);
    });
    auto first =
        second
            ? inEitherOrder(mulCos,
                            [&](Value value, Value cos) {
                              return samePiece(lastAxisPiece(value), *half) &&
                                     isDoubledAngle(cos, half->size);
                            })
            : std::nullopt;
    if (!first)
      return false;
    match = {*half, skipNoOps(first->second), skipNoOps(second->second), true};
    return true;
  };
  return inEitherOrder(op, isTerms) ? std::optional(match) : std::nullopt;
}

/// a * b as (piece, table) with the piece being `half`; the table or null.
Value factorOf(Value product, const Piece &half) {
  Operation *mul = madeBy(product, "Mul");
  if (!mul)
    return {};
  auto found = inEitherOrder(mul, [&](Value value, Value table) {
    return samePiece(lastAxisPiece(value), half) &&
           staticSize(table, -1) == half.size;
  });
  return found ? skipNoOps(found->second) : Value();
}

/// concat(first * cos - second * sin, second * cos + first * sin).
std::optional<Rotation> matchConcat(Operation *op) {
  Value result = op->getResult(0);
  if (op->getNumOperands() != 2 || !isLastAxis(op, result))
    return std::nullopt;
  Operation *sub = madeBy(op->getOperand(0), "Sub");
  Operation *add = madeBy(op->getOperand(1), "Add");
  Operation *left = sub ? madeBy(sub->getOperand(0), "Mul") : nullptr;
  if (!left || !add)
    return std::nullopt;
  for (Value operand : left->getOperands()) {
    Piece first = lastAxisPiece(operand);
    if (!first.root || first.size * 2 != staticSize(result, -1))
      continue;
    Piece second{first.root, first.start + first.size, first.size};
    Value cos = factorOf(sub->getOperand(0), first);
    Value sin = factorOf(sub->getOperand(1), second);
    auto matches = [&](Value a, Value b) {
      return factorOf(a, second) == cos && factorOf(b, first) == sin;
    };
    if (cos && sin && inEitherOrder(add, matches))
      return Rotation{
          {first.root, first.start, 2 * first.size}, cos, sin, false};
  }
  return std::nullopt;
}

struct FromArithmetic : RewritePattern {
  FromArithmetic(StringRef root, MLIRContext *context)
      : RewritePattern(root, 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto match = isOnnx(op, "Add") ? matchSum(op) : matchConcat(op);
    if (!match || rankOf(match->x.root) != 4 ||
        !isFloatStorage(match->x.root) || !isFloatStorage(match->cos) ||
        !isFloatStorage(match->sin))
      return failure();
    Value result = op->getResult(0);
    for (int64_t axis = 0; axis < 3; ++axis)
      if (!sameSize(match->x.root, axis, result, axis))
        return failure();
    if (staticSize(result, 3) != match->x.size ||
        !broadcastsTo(match->cos, match->x.root) ||
        !broadcastsTo(match->sin, match->x.root))
      return failure();
    Location loc = op->getLoc();
    Value x = createPiece(rewriter, loc, match->x.root, match->x.start,
                          match->x.size);
    auto half = [&](Value table) {
      if (!match->doubled)
        return table;
      // Beside the table, so that all layers share one.
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointAfterValue(table);
      return createPiece(rewriter, table.getLoc(), table, 0, match->x.size / 2);
    };
    Value cos = half(match->cos), sin = half(match->sin);
    remarkFound(op, "rotary embedding");
    rewriter.replaceOpWithNewOp<RotaryOp>(op, result.getType(), x, cos, sin,
                                          /*interleaved=*/false);
    return success();
  }
};

/// concat(rotary(first entries), the entries behind them).
struct PassingPartIntoRotary : RewritePattern {
  PassingPartIntoRotary(MLIRContext *context)
      : RewritePattern("onnx.Concat", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value result = op->getResult(0);
    if (op->getNumOperands() != 2 || !isLastAxis(op, result))
      return failure();
    auto rotary = skipNoOps(op->getOperand(0)).getDefiningOp<RotaryOp>();
    if (!rotary || !rotary->hasOneUse())
      return failure();
    Piece front = lastAxisPiece(rotary.getX());
    Piece back = lastAxisPiece(op->getOperand(1));
    if (!front.root || front.root != back.root ||
        back.start != front.start + front.size ||
        staticSize(result, -1) != front.size + back.size ||
        rankOf(front.root) != 4)
      return failure();
    Value x = createPiece(rewriter, op->getLoc(), front.root, front.start,
                          front.size + back.size);
    rewriter.replaceOpWithNewOp<RotaryOp>(op, result.getType(), x,
                                          rotary.getCos(), rotary.getSin(),
                                          rotary.getInterleaved());
    return success();
  }
};

struct RecognizeRotaryPass
    : sol::nn::impl::NnRecognizeRotaryPassBase<RecognizeRotaryPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FromArithmetic>("onnx.Add", context);
    patterns.add<FromArithmetic>("onnx.Concat", context);
    patterns.add<PassingPartIntoRotary>(context);
    populateRotaryOperators(patterns);
    applyRecognisers(getOperation(), std::move(patterns));
    getOperation()->walk([](Operation *op) {
      if (isOnnx(op, "Concat") && rotatedHalf(op->getResult(0)))
        remarkMissed(op, "rotary embedding",
                     "the halves are not those of the other term, cosines and "
                     "sines don't repeat theirs, or sizes differ");
    });
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
