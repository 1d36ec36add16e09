//===- MicrosoftAttention.cpp - com.microsoft's attentions taken apart ----===//
//
// MultiHeadAttention takes queries, keys and values, one by one or packed;
// Attention makes them by one product first. Both have as many key heads as
// query heads, add a bias of their own, and mask by adding a finite number.
// What a kernel would refuse stays as it is.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/attention/AttentionOperators.h"
#include "lib/nn/recognize/attention/AttentionParts.h"
#include "lib/nn/recognize/attention/KeyMask.h"
#include "lib/nn/recognize/match/Heads.h"
#include "lib/nn/shape/SymbolicSize.h"

#include <cmath>

using namespace mlir;

namespace sol::nn::recognize {
namespace {

/// Entries `start` to `end` of axis `axis`, of type `type`.
Value createSlice(OpBuilder &builder, Location loc, Value value, int64_t axis,
                  int64_t start, int64_t end, Type type) {
  return createOnnx(builder, loc, "Slice",
                    {value, createInts(builder, loc, {start}),
                     createInts(builder, loc, {end}),
                     createInts(builder, loc, {axis})},
                    type);
}

/// Past positions, then those of `step`, along the third of four axes; null if
/// a size is not known or differs.
Value createLonger(OpBuilder &builder, Location loc, Value past, Value step) {
  auto before = ranked(past), now = ranked(step);
  if (!before || !now || before.getRank() != 4 ||
      before.getElementType() != now.getElementType())
    return {};
  for (int64_t axis : {0, 1, 3})
    if (!sameSize(past, axis, step, axis))
      return {};
  SmallVector<StringAttr> sizes;
  for (int64_t axis = 0; axis < 4; ++axis)
    sizes.push_back(sizeText(now, axis));
  StringAttr length = sizeText(before, 2);
  if (!length || !sizes[2])
    return {};
  SymbolicSize total = SymbolicSize::parse(length.getValue()) +
                       SymbolicSize::parse(sizes[2].getValue());
  sizes[2] = builder.getStringAttr(total.text());
  RankedTensorType type = typeOf(sizes, now.getElementType());
  if (!type)
    return {};
  return createOnnx(builder, loc, "Concat", {past, step}, type,
                    builder.getNamedAttr("axis", builder.getI64IntegerAttr(2)));
}

/// What both operators have in common once their parts are split into heads.
struct Common {
  Operation *op;
  AttentionParts parts;
  bool causal = false;

  /// Reads the attributes; false if the operator aligns queries and keys as
  /// nn.attention doesn't. `step` are the keys without a past.
  bool readAttributes(Value step) {
    parts.scale = floatAttr(op, "scale", 0);
    if (parts.scale == 0)
      parts.scale = 1 / std::sqrt(double(staticSize(parts.query, 3)));
    causal = intAttr(op, "unidirectional", 0) != 0;
    return !causal || sameSize(parts.query, 2, step, 2);
  }

  /// Sets the mask from the integers `mask` and the numbers `bias`, either of
  /// which may be null; false if one has another shape than expected.
  bool setMask(Value mask, Value bias, OpBuilder &builder) {
    Value numbers;
    if (mask) {
      numbers =
          createKeyMask(builder, op->getLoc(), mask, parts.query, parts.key,
                        floatAttr(op, "mask_filter_value", -10000));
      if (!numbers)
        return false;
    }
    if (bias && (!isFloatStorage(bias) || rankOf(bias) != 4 ||
                 !maskFits(bias, parts.query, parts.key)))
      return false;
    if (numbers && bias)
      bias = createSum(numbers, bias, builder);
    parts.mask.value = bias ? bias : numbers;
    return !numbers || parts.mask.value;
  }

  Value createSum(Value numbers, Value bias, OpBuilder &builder) {
    if (getElementTypeOrSelf(numbers) != getElementTypeOrSelf(bias))
      return {};
    SmallVector<StringAttr> sizes;
    for (int64_t axis = 0; axis < 4; ++axis)
      sizes.push_back(
          sizeText(ranked(staticSize(bias, axis) == 1 ? numbers : bias), axis));
    RankedTensorType type = typeOf(sizes, getElementTypeOrSelf(bias));
    return type
               ? createOnnx(builder, op->getLoc(), "Add", {numbers, bias}, type)
               : Value();
  }

  /// The attention, with heads side by side again.
  Value createResult(OpBuilder &builder) {
    auto query = ranked(parts.query);
    RankedTensorType type = withSize(query, 3, staticSize(parts.value, 3));
    AttentionOp attention = createAttention(builder, op->getLoc(), parts, type);
    attention.setCausal(causal);
    remarkFound(op, "attention");
    return mergeHeads(
        builder, op->getLoc(), attention,
        typeOf({sizeText(query, 0), sizeText(query, 2),
                builder.getStringAttr(Twine(staticSize(parts.query, 1) *
                                            staticSize(parts.value, 3)))},
               query.getElementType()));
  }
};

/// Removes what a match that failed has created: nothing uses it.
void eraseSince(Operation *before, Operation *op, PatternRewriter &rewriter) {
  while (true) {
    Operation *last = op->getPrevNode();
    if (last == before || !last)
      return;
    rewriter.eraseOp(last);
  }
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

struct FromMultiHead : RewritePattern {
  FromMultiHead(MLIRContext *context)
      : RewritePattern("onnx.microsoft.MultiHeadAttention", 1, context) {}

  enum Operand : unsigned {
    Query,
    Key,
    Value_,
    Bias,
    Mask,
    Added,
    PastKey,
    PastValue
  };

  static bool isOutOfReach(Operation *op) {
    Value query = operandOrNull(op, Query);
    if (!query || resultOrNull(op, 3) || intAttr(op, "num_heads", 0) < 1)
      return true;
    for (unsigned i = PastValue + 1; i < op->getNumOperands(); ++i)
      if (operandOrNull(op, i))
        return true;
    for (unsigned i : {Query, Key, Value_, Bias, PastKey, PastValue})
      if (Value operand = operandOrNull(op, i))
        if (!isFloatStorage(operand) ||
            getElementTypeOrSelf(operand) != getElementTypeOrSelf(query))
          return true;
    return !operandOrNull(op, PastKey) != !operandOrNull(op, PastValue);
  }

  /// Part `part` of batch x length x heads x parts x size, with `bias` (of
  /// heads x size) added, as batch x heads x length x size.
  static Value unpack(OpBuilder &builder, Location loc, Value packed,
                      int64_t part, Value bias) {
    auto type = ranked(packed);
    SmallVector<StringAttr> sizes;
    for (int64_t axis : {0, 1, 2, 4})
      sizes.push_back(sizeText(type, axis));
    RankedTensorType split = typeOf(sizes, type.getElementType());
    if (!split)
      return {};
    sizes.insert(sizes.begin() + 3, builder.getStringAttr("1"));
    Value piece = createSlice(builder, loc, packed, 3, part, part + 1,
                              typeOf(sizes, type.getElementType()));
    piece = createOnnx(builder, loc, "Squeeze",
                       {piece, createInts(builder, loc, {3})}, split);
    if (bias) {
      auto heads = RankedTensorType::get(
          {split.getDimSize(2), split.getDimSize(3)}, type.getElementType());
      bias =
          createOnnx(builder, loc, "Reshape",
                     {bias, createInts(builder, loc, heads.getShape())}, heads);
      piece = createOnnx(builder, loc, "Add", {piece, bias}, split);
    }
    return createTranspose(builder, loc, piece, {0, 2, 1, 3});
  }

  /// batch x length x width with `bias` added, split into heads.
  static Value split(OpBuilder &builder, Location loc, Value value,
                     int64_t heads, Value bias) {
    if (bias)
      value = createOnnx(builder, loc, "Add", {value, bias}, value.getType());
    return splitHeads(builder, loc, value, heads);
  }

  /// Whether `packed` has `heads` heads and `parts` parts of known size.
  static bool isPacked(Value packed, int64_t heads, int64_t parts) {
    return rankOf(packed) == 5 && staticSize(packed, 2) == heads &&
           staticSize(packed, 3) == parts && staticSize(packed, 4) > 0;
  }

  /// Splits queries, keys and values; false if a shape is not as documented.
  static bool readParts(Operation *op, AttentionParts &parts,
                        OpBuilder &builder) {
    Location loc = op->getLoc();
    int64_t heads = intAttr(op, "num_heads", 0);
    Value query = op->getOperand(Query), key = operandOrNull(op, Key),
          value = operandOrNull(op, Value_), bias = operandOrNull(op, Bias);
    bool allPacked = rankOf(query) == 5;
    int64_t width =
        allPacked ? heads * staticSize(query, 4) : staticSize(query, 2);
    if (width < 1 || width % heads != 0 || (bias && rankOf(bias) != 1))
      return false;
    int64_t valueWidth = width;
    if (value)
      valueWidth = rankOf(value) == 4 ? heads * staticSize(value, 3)
                                      : staticSize(value, 2);
    if (valueWidth < 1 ||
        (bias && staticSize(bias, 0) != 2 * width + valueWidth))
      return false;
    auto biasOf = [&](int64_t start, int64_t size) {
      return bias ? createPiece(builder, loc, bias, start, size) : Value();
    };
    if (allPacked) {
      if (!isPacked(query, heads, 3) || key || value)
        return false;
      parts.query = unpack(builder, loc, query, 0, biasOf(0, width));
      parts.key = unpack(builder, loc, query, 1, biasOf(width, width));
      parts.value = unpack(builder, loc, query, 2, biasOf(2 * width, width));
      return parts.query && parts.key && parts.value;
    }
    if (rankOf(query) != 3 || !key)
      return false;
    parts.query = split(builder, loc, query, heads, biasOf(0, width));
    if (rankOf(key) == 5) {
      if (!isPacked(key, heads, 2) || value)
        return false;
      parts.key = unpack(builder, loc, key, 0, biasOf(width, width));
      parts.value = unpack(builder, loc, key, 1, biasOf(2 * width, width));
    } else if (value && rankOf(key) == 3 && rankOf(value) == 3) {
      parts.key = split(builder, loc, key, heads, biasOf(width, width));
      parts.value =
          split(builder, loc, value, heads, biasOf(2 * width, valueWidth));
    } else if (value && rankOf(key) == 4 && rankOf(value) == 4) {
      // Keys and values that come split into heads carry their bias already.
      parts.key = key;
      parts.value = value;
    }
    return parts.query && parts.key && parts.value;
  }

  static bool doPartsAgree(const AttentionParts &parts, int64_t heads) {
    return staticSize(parts.query, 1) == heads &&
           staticSize(parts.key, 1) == heads &&
           staticSize(parts.value, 1) == heads &&
           staticSize(parts.query, 3) == staticSize(parts.key, 3) &&
           sameSize(parts.query, 0, parts.key, 0) &&
           sameSize(parts.query, 0, parts.value, 0) &&
           sameSize(parts.key, 2, parts.value, 2);
  }

  static Value rewrite(Operation *op, Common &common, OpBuilder &builder) {
    AttentionParts &parts = common.parts;
    if (!readParts(op, parts, builder) ||
        !doPartsAgree(parts, intAttr(op, "num_heads", 0)) ||
        !common.readAttributes(parts.key))
      return {};
    if (Value past = operandOrNull(op, PastKey)) {
      if (operandOrNull(op, Key) && rankOf(op->getOperand(Key)) == 4)
        return {};
      parts.key = createLonger(builder, op->getLoc(), past, parts.key);
      parts.value = createLonger(builder, op->getLoc(),
                                 op->getOperand(PastValue), parts.value);
      if (!parts.key || !parts.value)
        return {};
    }
    if (!common.setMask(operandOrNull(op, Mask), operandOrNull(op, Added),
                        builder))
      return {};
    return common.createResult(builder);
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (isOutOfReach(op))
      return failure();
    Operation *before = op->getPrevNode();
    Common common{op, {}};
    Value result = rewrite(op, common, rewriter);
    if (!result) {
      eraseSince(before, op, rewriter);
      return failure();
    }
    rewriter.replaceAllUsesWith(op->getResult(0), result);
    if (Value present = resultOrNull(op, 1))
      rewriter.replaceAllUsesWith(present, common.parts.key);
    if (Value present = resultOrNull(op, 2))
      rewriter.replaceAllUsesWith(present, common.parts.value);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// One product makes queries, keys and values. The past, and what is given
/// back, has keys and values in one tensor.
struct FromPackedAttention : RewritePattern {
  FromPackedAttention(MLIRContext *context)
      : RewritePattern("onnx.microsoft.Attention", 1, context) {}

  enum Operand : unsigned { Input, Matrix, Bias, Mask, Past, Added, Length };

  static bool isOutOfReach(Operation *op) {
    Value x = operandOrNull(op, Input), matrix = operandOrNull(op, Matrix),
          bias = operandOrNull(op, Bias);
    if (!x || !matrix || rankOf(x) != 3 || rankOf(matrix) != 2 ||
        !isFloatStorage(x) || !isKnown(skipNoOps(matrix)) ||
        getElementTypeOrSelf(x) != getElementTypeOrSelf(matrix) ||
        (bias && !isKnown(skipNoOps(bias))))
      return true;
    for (unsigned i = Length; i < op->getNumOperands(); ++i)
      if (operandOrNull(op, i))
        return true;
    return intAttr(op, "do_rotary", 0) != 0 ||
           intAttr(op, "past_present_share_buffer", 0) != 0 ||
           op->hasAttr("qkv_hidden_sizes");
  }

  /// Keys (0) or values (1) of 2 x batch x heads x length x size.
  static Value halfOf(OpBuilder &builder, Location loc, Value past,
                      int64_t half) {
    auto type = ranked(past);
    if (!type || type.getRank() != 5 || staticSize(past, 0) != 2)
      return {};
    SmallVector<StringAttr> sizes;
    for (int64_t axis = 1; axis < 5; ++axis)
      sizes.push_back(sizeText(type, axis));
    RankedTensorType part = typeOf(sizes, type.getElementType());
    if (!part)
      return {};
    sizes.insert(sizes.begin(), builder.getStringAttr("1"));
    Value piece = createSlice(builder, loc, past, 0, half, half + 1,
                              typeOf(sizes, type.getElementType()));
    return createOnnx(builder, loc, "Squeeze",
                      {piece, createInts(builder, loc, {0})}, part);
  }

  static bool readParts(Operation *op, AttentionParts &parts,
                        OpBuilder &builder) {
    Location loc = op->getLoc();
    Value x = op->getOperand(Input), matrix = op->getOperand(Matrix),
          bias = operandOrNull(op, Bias);
    int64_t heads = intAttr(op, "num_heads", 0), width = staticSize(matrix, 1);
    auto type = ranked(x);
    StringAttr batch = sizeText(type, 0), step = sizeText(type, 1);
    if (heads < 1 || width < 1 || width % (3 * heads) != 0 || !batch || !step)
      return false;
    Value packed = LinearOp::create(
        builder, loc,
        typeOf({batch, step, builder.getStringAttr(Twine(width))},
               type.getElementType()),
        x, matrix, bias ? bias : createNone(builder, loc),
        /*transposed=*/false, /*packed=*/false, /*columns=*/IntegerAttr());
    auto part = [&](int64_t index) {
      Value piece =
          createPiece(builder, loc, packed, index * (width / 3), width / 3);
      return splitHeads(builder, loc, piece, heads);
    };
    parts.query = part(0);
    parts.key = part(1);
    parts.value = part(2);
    return true;
  }

  /// Puts the past in front of keys and values; false if its shape is another.
  static bool addPast(Operation *op, AttentionParts &parts,
                      OpBuilder &builder) {
    Value past = operandOrNull(op, Past);
    if (!past)
      return true;
    Location loc = op->getLoc();
    Value keys = halfOf(builder, loc, past, 0),
          values = halfOf(builder, loc, past, 1);
    if (!keys || !values)
      return false;
    parts.key = createLonger(builder, loc, keys, parts.key);
    parts.value = createLonger(builder, loc, values, parts.value);
    return parts.key && parts.value;
  }

  static Value createPresent(Operation *op, const AttentionParts &parts,
                             OpBuilder &builder) {
    Location loc = op->getLoc();
    Value keys = createUnsqueeze(builder, loc, parts.key, 0),
          values = createUnsqueeze(builder, loc, parts.value, 0);
    return createOnnx(
        builder, loc, "Concat", {keys, values}, withSize(ranked(keys), 0, 2),
        builder.getNamedAttr("axis", builder.getI64IntegerAttr(0)));
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (isOutOfReach(op))
      return failure();
    Operation *before = op->getPrevNode();
    Common common{op, {}};
    AttentionParts &parts = common.parts;
    bool isRead = readParts(op, parts, rewriter) &&
                  common.readAttributes(parts.key) &&
                  addPast(op, parts, rewriter) &&
                  common.setMask(operandOrNull(op, Mask),
                                 operandOrNull(op, Added), rewriter);
    if (!isRead) {
      eraseSince(before, op, rewriter);
      return failure();
    }
    if (Value present = resultOrNull(op, 1))
      rewriter.replaceAllUsesWith(present, createPresent(op, parts, rewriter));
    rewriter.replaceAllUsesWith(op->getResult(0),
                                common.createResult(rewriter));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateMicrosoftAttention(RewritePatternSet &patterns) {
  patterns.add<FromMultiHead, FromPackedAttention>(patterns.getContext());
}

} // namespace sol::nn::recognize
