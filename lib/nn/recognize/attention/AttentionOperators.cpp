//===- AttentionOperators.cpp - operators that are an attention -----------===//
//
// onnx.Attention: past and present become a concatenation in front of the
// attention, which nn-cache-state turns into state like any other.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/attention/AttentionOperators.h"
#include "lib/nn/recognize/attention/AttentionParts.h"
#include "lib/nn/recognize/attention/GroupQuery.h"
#include "lib/nn/recognize/attention/KeyMask.h"
#include "lib/nn/recognize/match/Heads.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace sol::nn::recognize {
namespace {

/// The type of batch x heads x step x size with another step or size.
RankedTensorType withAxes(Value like, Value step, int64_t size) {
  auto type = ranked(like);
  SmallVector<StringAttr> sizes{
      sizeText(type, 0), sizeText(type, 1), sizeText(ranked(step), 2),
      StringAttr::get(type.getContext(), Twine(size))};
  return typeOf(sizes, type.getElementType());
}

/// Gives the operator's users the attention's result, and the keys and values
/// where it hands them on; then it goes.
void replaceWithPresents(Operation *op, Value result,
                         const AttentionParts &parts,
                         PatternRewriter &rewriter) {
  rewriter.replaceAllUsesWith(op->getResult(0), result);
  if (Value present = resultOrNull(op, 1))
    rewriter.replaceAllUsesWith(present, parts.key);
  if (Value present = resultOrNull(op, 2))
    rewriter.replaceAllUsesWith(present, parts.value);
  rewriter.eraseOp(op);
}

/// onnx.Attention in float32, with masks that nn.attention can say.
struct FromAttention : RewritePattern {
  FromAttention(MLIRContext *context)
      : RewritePattern("onnx.Attention", 1, context) {}

  /// What the operator asks for that nn.attention has no form for.
  static bool isOutOfReach(Operation *op) {
    Value query = operandOrNull(op, 0), key = operandOrNull(op, 1),
          value = operandOrNull(op, 2);
    if (!query || !key || !value || resultOrNull(op, 3) ||
        (operandOrNull(op, 4) == nullptr) != (operandOrNull(op, 5) == nullptr))
      return true;
    // Keys and values with counts are a whole cache, nothing is put behind
    // them.
    if (operandOrNull(op, 6) &&
        (operandOrNull(op, 4) || resultOrNull(op, 1) || resultOrNull(op, 2)))
      return true;
    for (Value operand : {query, key, value})
      if (!isFloatStorage(operand) ||
          getElementTypeOrSelf(operand) != getElementTypeOrSelf(query) ||
          rankOf(operand) != rankOf(query))
        return true;
    // Before a query's position, only a causal attention has a window; behind
    // it, a causal one sees nothing anyway.
    bool causal = intAttr(op, "is_causal", 0) != 0;
    if (!causal && (intAttr(op, "left_window_size", -1) >= 0 ||
                    intAttr(op, "right_window_size", -1) >= 0))
      return true;
    return rankOf(query) != 3 && rankOf(query) != 4;
  }

  /// Fills everything but the types of present keys and values, which the
  /// operator's results have.
  static bool read(Operation *op, AttentionParts &parts,
                   PatternRewriter &rewriter) {
    bool flat = rankOf(op->getOperand(0)) == 3;
    Location loc = op->getLoc();
    int64_t heads = intAttr(op, "q_num_heads", 0);
    int64_t shared = intAttr(op, "kv_num_heads", 0);
    auto bring = [&](Value operand, int64_t count) {
      return flat ? splitHeads(rewriter, loc, operand, count) : operand;
    };
    parts.query = bring(op->getOperand(0), heads);
    parts.key = bring(op->getOperand(1), shared);
    parts.value = bring(op->getOperand(2), shared);
    if (!parts.query || !parts.key || !parts.value ||
        staticSize(parts.query, 3) < 1)
      return false;
    double size = staticSize(parts.query, 3);
    parts.scale = floatAttr(op, "scale", 0);
    if (!op->hasAttr("scale"))
      parts.scale = 1 / std::sqrt(size);
    parts.softcap = floatAttr(op, "softcap", 0);
    return true;
  }

  /// Appends new keys or values to past ones. The operator's present result, if
  /// it is wanted, has the type.
  static Value append(Operation *op, unsigned past, unsigned present,
                      Value step, PatternRewriter &rewriter) {
    Value before = operandOrNull(op, past), after = resultOrNull(op, present);
    if (!before)
      return after ? Value() : step;
    if (!after || rankOf(after) != 4)
      return {};
    return createOnnx(
        rewriter, op->getLoc(), "Concat", {before, step}, after.getType(),
        rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(2)));
  }

  /// Whether the counts of keys in use fit the keys. Where nothing else
  /// excludes what they don't count, the mask does from here on; a causal
  /// attention has queries up to the last key that counts.
  static bool readCounts(Operation *op, Value counts, bool causal,
                         AttentionParts &parts, PatternRewriter &rewriter) {
    Value key = parts.key;
    if (rankOf(counts) != 1 || !getElementTypeOrSelf(counts).isInteger(64) ||
        !sameSize(counts, 0, key, 0) || !sizeText(ranked(key), 0) ||
        !sizeText(ranked(key), 2) || !sizeText(ranked(parts.query), 2))
      return false;
    if (causal)
      return true;
    parts.mask.value =
        createCountMask(rewriter, op->getLoc(), counts, key, parts.mask.value);
    return parts.mask.value != nullptr;
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    AttentionParts parts;
    if (isOutOfReach(op) || !read(op, parts, rewriter))
      return failure();
    Value query = parts.query;
    bool causal = intAttr(op, "is_causal", 0) != 0;
    Value counts = operandOrNull(op, 6);
    // The operator aligns queries with new keys at the first of both,
    // nn.attention at the last: the same only for as many of both. With counts,
    // it aligns them at the last that counts.
    if (causal && !counts && !sameSize(query, 2, parts.key, 2))
      return failure();
    parts.key = append(op, 4, 1, parts.key, rewriter);
    parts.value = append(op, 5, 2, parts.value, rewriter);
    if (!parts.key || !parts.value)
      return failure();
    Value mask = operandOrNull(op, 3);
    bool isFlag = mask && getElementTypeOrSelf(mask).isInteger(1);
    if (mask && !isFlag && !isFloatStorage(mask))
      return failure();
    if (mask && !maskFits(mask, query, parts.key))
      return failure();
    // Beside counts, numbers stay numbers: a row that the counts leave empty
    // gives zeros, one that finite numbers exclude the mean.
    parts.mask =
        mask && !isFlag && !counts ? maskFromNumbers(mask) : Mask{mask};
    if (counts && !readCounts(op, counts, causal, parts, rewriter))
      return failure();
    // The operator defines what such rows give; finite masks leave their mean.
    if (parts.mask.maskedRows == "nan")
      parts.mask.maskedRows = "zero";
    Value key = beforeRepeatedHeads(parts.key),
          value = beforeRepeatedHeads(parts.value);
    if (key && value && sameSize(key, 1, value, 1)) {
      parts.key = key;
      parts.value = value;
    }
    Location loc = op->getLoc();
    Value offsets;
    if (counts && causal)
      offsets = createStepOffsets(rewriter, loc, counts, query);
    RankedTensorType type = withAxes(query, query, staticSize(parts.value, 3));
    AttentionOp attention = createAttention(rewriter, loc, parts, type);
    attention.setCausal(causal);
    if (offsets)
      attention.getOffsetsMutable().assign(offsets);
    // The operator doesn't count the query's own position. A window of more
    // positions than any sequence has is none.
    int64_t left = intAttr(op, "left_window_size", -1);
    if (left >= 0 && left < std::numeric_limits<int32_t>::max())
      attention.setWindow(left + 1);
    Value result = attention;
    if (op->getResult(0).getType() != type)
      result = mergeHeads(rewriter, loc, result, op->getResult(0).getType());
    remarkFound(op, "attention");
    replaceWithPresents(op, result, parts, rewriter);
    return success();
  }
};

/// GroupQueryAttention without a past, whose rows all begin at position 0.
struct FromGroupQuery : RewritePattern {
  FromGroupQuery(MLIRContext *context)
      : RewritePattern("onnx.microsoft.GroupQueryAttention", 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    StringRef why;
    auto group = readGroupQuery(op, why);
    if (!group || group->pastKey)
      return failure();
    SharedAcrossLayers shared;
    AttentionParts parts = createStep(*group, /*offsets=*/{}, shared, rewriter);
    if (!parts.query || !sameSize(parts.query, 2, parts.key, 2))
      return failure();
    remarkFound(op, "attention");
    Value result = createResult(*group, parts, /*offsets=*/{}, rewriter);
    replaceWithPresents(op, result, parts, rewriter);
    return success();
  }
};

} // namespace

void populateAttentionOperators(RewritePatternSet &patterns) {
  patterns.add<FromAttention, FromGroupQuery>(patterns.getContext());
  populateMicrosoftAttention(patterns);
}

} // namespace sol::nn::recognize
