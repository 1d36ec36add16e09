//===- RecognizeRotary.cpp - rotary embedding from its arithmetic ---------===//
//
// The two ways in which exporters write a rotation become nn.rotary, then a
// part of each head that passes by is taken in:
//   x * cos + joined(-second, first) * sin, cosines and sines given twice;
//   joined(first * cos - second * sin, second * cos + first * sin).
// What is joined are halves, or neighbours in turn (RotaryPairs.h). The
// operators that are a rotary embedding are in RotaryOperators.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/RotaryOperators.h"
#include "lib/nn/recognize/RotaryPairs.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNRECOGNIZEROTARYPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

constexpr Pairing pairings[] = {Pairing::halves, Pairing::neighbours};

struct Rotation {
  Piece x; ///< the entries that are rotated
  Value cos, sin;
  Pairing pairing = Pairing::halves;
  bool doubled = false; ///< cos and sin have the size of x, not half of it
};

/// The x of which `value` is joined(-second, first). Null root if there is
/// none.
Piece turnedFrom(Value value, Pairing pairing) {
  auto parts = partsOf(value, pairing);
  Operation *neg = parts ? madeBy(parts->first, "Neg") : nullptr;
  if (!neg)
    return {};
  Piece whole = wholeOf(neg->getOperand(0), Part::second, pairing);
  return samePiece(whole, wholeOf(parts->second, Part::first, pairing))
             ? whole
             : Piece();
}

/// x * cos + joined(-second, first) * sin.
std::optional<Rotation> matchSum(Operation *op, Pairing pairing) {
  Rotation match;
  auto isTerms = [&](Value plain, Value turned) {
    Operation *mulCos = madeBy(plain, "Mul"), *mulSin = madeBy(turned, "Mul");
    if (!mulCos || !mulSin)
      return false;
    Piece x;
    auto isTurned = [&](Value value, Value sin) {
      x = turnedFrom(value, pairing);
      return x.root && isDoubled(sin, x.size, pairing);
    };
    auto isPlain = [&](Value value, Value cos) {
      return samePiece(lastAxisPiece(value), x) &&
             isDoubled(cos, x.size, pairing);
    };
    auto second = inEitherOrder(mulSin, isTurned);
    auto first = second ? inEitherOrder(mulCos, isPlain) : std::nullopt;
    if (!first)
      return false;
    match = {x, first->second, second->second, pairing, true};
    return true;
  };
  return inEitherOrder(op, isTerms) ? std::optional(match) : std::nullopt;
}

/// The table by which `product` multiplies that part of x, one factor for each
/// pair; null if it does not.
Value factorOf(Value product, const Piece &x, Part part, Pairing pairing) {
  Operation *mul = madeBy(product, "Mul");
  if (!mul)
    return {};
  auto found = inEitherOrder(mul, [&](Value value, Value table) {
    return samePiece(wholeOf(value, part, pairing), x) &&
           staticSize(table, -1) * 2 == x.size;
  });
  return found ? skipNoOps(found->second) : Value();
}

/// joined(first * cos - second * sin, second * cos + first * sin).
std::optional<Rotation> matchParts(Value result, Pairing pairing) {
  auto parts = partsOf(result, pairing);
  Operation *sub = parts ? madeBy(parts->first, "Sub") : nullptr;
  Operation *add = parts ? madeBy(parts->second, "Add") : nullptr;
  Operation *left = sub ? madeBy(sub->getOperand(0), "Mul") : nullptr;
  if (!left || !add)
    return std::nullopt;
  for (Value operand : left->getOperands()) {
    Piece x = wholeOf(operand, Part::first, pairing);
    if (!x.root || x.size != staticSize(result, -1))
      continue;
    Value cos = factorOf(sub->getOperand(0), x, Part::first, pairing);
    Value sin = factorOf(sub->getOperand(1), x, Part::second, pairing);
    auto matches = [&](Value a, Value b) {
      return factorOf(a, x, Part::second, pairing) == cos &&
             factorOf(b, x, Part::first, pairing) == sin;
    };
    if (cos && sin && inEitherOrder(add, matches))
      return Rotation{x, cos, sin, pairing, false};
  }
  return std::nullopt;
}

/// Whether `table` may serve as cosines for `x`: each axis before the last is 1
/// or the axis of x, and heads, which are at axis `ofHeads` of x, share it.
bool broadcastsTo(Value table, Value x, int64_t ofHeads) {
  int64_t rank = rankOf(table);
  for (int64_t axis = 0; axis + 1 < rank; ++axis) {
    int64_t ofX = axis + 4 - rank;
    if (staticSize(table, axis) != 1 &&
        (ofX == ofHeads || !sameSize(table, axis, x, ofX)))
      return false;
  }
  return rank >= 1 && rank <= 4;
}

/// `result` as a rotation of heads that are at axis `ofHeads` of four.
std::optional<Rotation> matchRotation(Value result, int64_t ofHeads) {
  Operation *op = result.getDefiningOp();
  std::optional<Rotation> match;
  for (Pairing pairing : pairings)
    if (!match)
      match = isOnnx(op, "Add") ? matchSum(op, pairing)
                                : matchParts(result, pairing);
  if (!match || rankOf(match->x.root) != 4 || rankOf(result) != 4 ||
      !isFloatStorage(match->x.root) || !isFloatStorage(match->cos) ||
      !isFloatStorage(match->sin) || staticSize(result, 3) != match->x.size ||
      !broadcastsTo(match->cos, match->x.root, ofHeads) ||
      !broadcastsTo(match->sin, match->x.root, ofHeads))
    return std::nullopt;
  for (int64_t axis = 0; axis < 3; ++axis)
    if (!sameSize(match->x.root, axis, result, axis))
      return std::nullopt;
  return match;
}

/// The cosines or sines of `match` as nn.rotary takes them.
Value tableOf(OpBuilder &builder, const Rotation &match, Value table) {
  return match.doubled ? createUndoubled(builder, table, match.pairing) : table;
}

struct FromArithmetic : RewritePattern {
  FromArithmetic(StringRef root, MLIRContext *context)
      : RewritePattern(root, 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto match = matchRotation(op->getResult(0), /*ofHeads=*/1);
    if (!match)
      return failure();
    Value x = createPiece(rewriter, op->getLoc(), match->x.root, match->x.start,
                          match->x.size);
    Value cos = tableOf(rewriter, *match, match->cos),
          sin = tableOf(rewriter, *match, match->sin);
    remarkFound(op, "rotary embedding");
    rewriter.replaceOpWithNewOp<RotaryOp>(
        op, op->getResult(0).getType(), x, cos, sin,
        match->pairing == Pairing::neighbours);
    return success();
  }
};

/// A rotation of heads that lie behind the steps, which are then exchanged:
/// exchanged first, then rotated. Entries that pass by may stand behind it.
struct FromExchanged : RewritePattern {
  FromExchanged(MLIRContext *context)
      : RewritePattern("onnx.Transpose", 1, context) {}

  static Value exchange(OpBuilder &builder, Value value) {
    static constexpr int64_t orders[] = {0, 2, 1, 3};
    // Of the steps and heads, a shorter table has heads at most, which it
    // shares: its axis of 1 does for the steps, too.
    int64_t rank = rankOf(value);
    if (rank < 3)
      return value;
    SmallVector<int64_t> perm;
    for (int64_t axis : orders)
      if (axis + rank >= 4)
        perm.push_back(axis + rank - 4);
    return createTranspose(builder, value.getLoc(), value, perm);
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> perm = intsAttr(op, "perm"), plain{0, 2, 1, 3},
                         turned{0, 2, 3, 1};
    if (perm != plain && perm != turned)
      return failure();
    Value rotated = skipNoOps(op->getOperand(0));
    auto match = matchRotation(rotated, /*ofHeads=*/2);
    int64_t passing = 0;
    Operation *concat = madeBy(rotated, "Concat");
    if (!match && concat && concat->getNumOperands() == 2 &&
        fromStart(intAttr(concat, "axis", 0), 4) == 3) {
      Piece behind = lastAxisPiece(concat->getOperand(1));
      match = matchRotation(skipNoOps(concat->getOperand(0)), /*ofHeads=*/2);
      if (match && (behind.root != match->x.root ||
                    behind.start != match->x.start + match->x.size))
        return failure();
      passing = behind.size;
    }
    if (!match || staticSize(rotated, -1) != match->x.size + passing)
      return failure();
    Location loc = op->getLoc();
    Value x = createPiece(rewriter, loc, match->x.root, match->x.start,
                          match->x.size + passing);
    x = exchange(rewriter, x);
    Value cos = exchange(rewriter, tableOf(rewriter, *match, match->cos)),
          sin = exchange(rewriter, tableOf(rewriter, *match, match->sin));
    remarkFound(op, "rotary embedding");
    Type type = op->getResult(0).getType();
    bool plainly = perm == plain;
    Value result =
        RotaryOp::create(rewriter, loc, plainly ? type : x.getType(), x, cos,
                         sin, match->pairing == Pairing::neighbours);
    if (!plainly)
      result =
          createOnnx(rewriter, loc, "Transpose", result, type,
                     rewriter.getNamedAttr(
                         "perm", rewriter.getDenseI64ArrayAttr({0, 1, 3, 2})));
    rewriter.replaceOp(op, result);
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
    if (op->getNumOperands() != 2 || rankOf(result) != 4 ||
        fromStart(intAttr(op, "axis", 0), 4) != 3)
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
    patterns.add<FromArithmetic>("onnx.Reshape", context);
    patterns.add<FromExchanged, PassingPartIntoRotary>(context);
    populateRotaryOperators(patterns);
    applyRecognisers(getOperation(), std::move(patterns));
    getOperation()->walk([](Operation *op) {
      bool turned = llvm::any_of(pairings, [&](Pairing pairing) {
        return (isOnnx(op, "Concat") || isOnnx(op, "Reshape")) &&
               turnedFrom(op->getResult(0), pairing).root;
      });
      if (turned)
        remarkMissed(op, "rotary embedding",
                     "what is turned is not the other term, cosines and sines "
                     "don't repeat for both entries of a pair, or sizes "
                     "differ");
    });
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
