//===- RotaryOperators.cpp - operators that are a rotary embedding --------===//
//
// onnx.RotaryEmbedding has its tables in third place and positions last,
// com.microsoft's has positions second.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/RotaryOperators.h"

#include "lib/nn/recognize/match/Heads.h"

using namespace mlir;

namespace sol::nn::recognize {

Value createRows(OpBuilder &builder, Location loc, Value table,
                 Value positions) {
  auto rows = ranked(table), at = ranked(positions);
  if (!rows || !at || rows.getRank() != 2 || at.getRank() != 2)
    return {};
  RankedTensorType type =
      typeOf({sizeText(at, 0), sizeText(at, 1), sizeText(rows, 1)},
             rows.getElementType());
  if (!type)
    return {};
  Value gathered =
      createOnnx(builder, loc, "Gather", {table, positions}, type,
                 builder.getNamedAttr("axis", builder.getI64IntegerAttr(0)));
  return createUnsqueeze(builder, loc, gathered, 1);
}

namespace {

struct FromOperator : RewritePattern {
  FromOperator(bool microsoft, MLIRContext *context)
      : RewritePattern(microsoft ? "onnx.microsoft.RotaryEmbedding"
                                 : "onnx.RotaryEmbedding",
                       1, context),
        microsoft(microsoft) {}
  bool microsoft;

  /// The table as batch x 1 x step x R; null if that can't be said.
  static Value tableFor(PatternRewriter &rewriter, Location loc, Value table,
                        Value positions) {
    if (positions)
      return createRows(rewriter, loc, table, positions);
    return rankOf(table) == 3 ? createUnsqueeze(rewriter, loc, table, 1)
                              : Value();
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Value x = operandOrNull(op, 0), cos = operandOrNull(op, microsoft ? 2 : 1),
          sin = operandOrNull(op, microsoft ? 3 : 2),
          positions = operandOrNull(op, microsoft ? 1 : 3);
    int64_t rank = rankOf(x), heads = intAttr(op, "num_heads", 0);
    if (!x || !cos || !sin || !isFloatStorage(x) || !isFloatStorage(cos) ||
        !isFloatStorage(sin) || floatAttr(op, "scale", 1) != 1 ||
        intAttr(op, "is_packed_batching", 0) != 0)
      return failure();
    int64_t rotated = 2 * staticSize(cos, -1);
    int64_t asked = intAttr(op, "rotary_embedding_dim", 0);
    // com.microsoft's: positions of shape [1] are an offset for all rows.
    if (rotated < 2 || (asked != 0 && asked != rotated) ||
        (microsoft && rankOf(positions) != 2))
      return failure();
    if (rank == 3 && heads == 0 && microsoft && asked == 0)
      heads = staticSize(x, 2) / rotated;
    if (rank != 4 && !(rank == 3 && heads > 0 && staticSize(x, 2) > 0 &&
                       staticSize(x, 2) % heads == 0))
      return failure();
    int64_t size = rank == 4 ? staticSize(x, 3) : staticSize(x, 2) / heads;
    if (size < rotated || (asked == 0 && size != rotated))
      return failure();
    Location loc = op->getLoc();
    Value cosines = tableFor(rewriter, loc, cos, positions);
    Value sines = cosines ? tableFor(rewriter, loc, sin, positions) : Value();
    Value split = rank == 4 ? x : splitHeads(rewriter, loc, x, heads);
    if (!sines || !split)
      return failure();
    remarkFound(op, "rotary embedding");
    Value result =
        RotaryOp::create(rewriter, loc, split.getType(), split, cosines, sines,
                         intAttr(op, "interleaved", 0) != 0);
    if (rank == 3)
      result = mergeHeads(rewriter, loc, result, op->getResult(0).getType());
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateRotaryOperators(RewritePatternSet &patterns) {
  patterns.add<FromOperator>(true, patterns.getContext());
  patterns.add<FromOperator>(false, patterns.getContext());
}

} // namespace sol::nn::recognize
