//===- GroupQuery.cpp - com.microsoft.GroupQueryAttention taken apart -----===//
//
// The contract is ONNX Runtime's: rows are padded on the right in a first
// prompt; afterwards a row's new tokens follow its own last one, overwriting
// what padding left in the cache.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/attention/GroupQuery.h"

#include "lib/nn/recognize/RotaryOperators.h"
#include "lib/nn/recognize/match/Heads.h"

#include <cmath>

using namespace mlir;

namespace sol::nn::recognize {

/// The operator's operands by place.
enum Operand : unsigned {
  Query,
  Key,
  Value_,
  PastKey,
  PastValue,
  LastIndices,
  TotalLength,
  Cosines,
  Sines,
  Positions,
  Bias,
  Sinks
};

/// What this stage has no other form for.
static StringRef whyOutOfReach(Operation *op) {
  if (op->getNumOperands() > Sinks + 1)
    return "it has quantized caches";
  if (intAttr(op, "causal", 1) == 0)
    return "it isn't causal";
  if (intAttr(op, "smooth_softmax", 0) > 0 && operandOrNull(op, Sinks))
    return "it has sinks and smooths its softmax besides";
  if (intAttr(op, "sliding_window_cache", 0) != 0)
    return "its cache keeps a window only";
  if (resultOrNull(op, 3))
    return "it gives its scores";
  for (unsigned i :
       {Query, Key, Value_, PastKey, PastValue, Cosines, Sines, Bias, Sinks})
    if (Value operand = operandOrNull(op, i))
      if (!isFloatStorage(operand) ||
          getElementTypeOrSelf(operand) !=
              getElementTypeOrSelf(op->getOperand(Query)))
        return "element types differ or are no floats";
  if (!operandOrNull(op, Query) || !operandOrNull(op, LastIndices) ||
      !operandOrNull(op, TotalLength) ||
      !operandOrNull(op, Key) != !operandOrNull(op, Value_) ||
      !operandOrNull(op, PastKey) != !operandOrNull(op, PastValue))
    return "an operand is missing";
  if (rankOf(op->getOperand(Query)) != 3 ||
      rankOf(operandOrNull(op, LastIndices)) != 1)
    return "queries or lengths have another rank";
  return {};
}

std::optional<GroupQuery> readGroupQuery(Operation *op, StringRef &why) {
  why = whyOutOfReach(op);
  if (!why.empty())
    return std::nullopt;
  GroupQuery group;
  group.op = op;
  group.heads = intAttr(op, "num_heads", 0);
  group.sharedHeads = intAttr(op, "kv_num_heads", 0);
  group.pastKey = operandOrNull(op, PastKey);
  group.pastValue = operandOrNull(op, PastValue);
  int64_t width = staticSize(op->getOperand(Query), 2);
  int64_t widths = operandOrNull(op, Key) ? group.heads
                                          : group.heads + 2 * group.sharedHeads;
  if (group.heads < 1 || group.sharedHeads < 1 || width < 1 ||
      group.heads % group.sharedHeads != 0 || width % widths != 0) {
    why = "numbers of heads don't divide its width";
    return std::nullopt;
  }
  group.headSize = width / widths;
  group.scale = floatAttr(op, "scale", 0);
  if (group.scale == 0)
    group.scale = 1 / std::sqrt(double(group.headSize));
  group.softcap = floatAttr(op, "softcap", 0);
  group.window = std::max<int64_t>(0, intAttr(op, "local_window_size", -1));
  group.rotates = intAttr(op, "do_rotary", 0) != 0;
  group.interleaved = intAttr(op, "rotary_interleaved", 0) != 0;
  bool hasTables = operandOrNull(op, Cosines) && operandOrNull(op, Sines);
  if (group.rotates && !hasTables) {
    why = "an operand is missing";
    return std::nullopt;
  }
  return group;
}

static Type int64Tensor(ArrayRef<StringAttr> sizes, MLIRContext *context) {
  return typeOf(sizes, IntegerType::get(context, 64));
}

static NamedAttribute castTo(OpBuilder &builder, int64_t type) {
  return builder.getNamedAttr("to", builder.getI64IntegerAttr(type));
}
constexpr int64_t int64Number = 7; // TensorProto.INT64

/// The step length as an int64 tensor of one element.
static Value createStepLength(const GroupQuery &group, OpBuilder &builder) {
  auto one = StringAttr::get(builder.getContext(), "1");
  return createOnnx(
      builder, group.op->getLoc(), "Shape", group.op->getOperand(Query),
      int64Tensor({one}, builder.getContext()),
      {builder.getNamedAttr("start", builder.getI64IntegerAttr(1)),
       builder.getNamedAttr("end", builder.getI64IntegerAttr(2))});
}

Value createOffsets(const GroupQuery &group, SharedAcrossLayers &shared,
                    OpBuilder &builder) {
  Location loc = group.op->getLoc();
  MLIRContext *context = builder.getContext();
  auto one = StringAttr::get(context, "1");
  auto query = ranked(group.op->getOperand(Query));
  Value lastIndices = group.op->getOperand(LastIndices),
        totalLength = group.op->getOperand(TotalLength);
  StringAttr batch = sizeText(query, 0), length = sizeText(query, 1);
  if (!batch || !length)
    return {};
  for (const SharedAcrossLayers::Offsets &known : shared.offsets)
    if (known.lastIndices == lastIndices && known.totalLength == totalLength &&
        known.batch == batch && known.step == length)
      return known.offsets;
  Type rows = int64Tensor({batch}, context),
       single = int64Tensor({one}, context);
  Value step = createStepLength(group, builder);
  Value last = createOnnx(builder, loc, "Cast", lastIndices, rows,
                          castTo(builder, int64Number));
  Value totals = createOnnx(builder, loc, "Add",
                            {last, createInts(builder, loc, {1})}, rows);
  Value before = createOnnx(builder, loc, "Sub", {totals, step}, rows);
  Value longest = createOnnx(
      builder, loc, "Reshape", {totalLength, createInts(builder, loc, {1})},
      RankedTensorType::get({1}, getElementTypeOrSelf(totalLength)));
  longest = createOnnx(builder, loc, "Cast", longest, single,
                       castTo(builder, int64Number));
  Value isFirst = createOnnx(builder, loc, "Equal", {longest, step},
                             typeOf({one}, IntegerType::get(context, 1)));
  Value offsets =
      createOnnx(builder, loc, "Where",
                 {isFirst, createInts(builder, loc, {0}), before}, rows);
  shared.offsets.push_back({lastIndices, totalLength, batch, length, offsets});
  return offsets;
}

/// Positions of the step's tokens: batch x step, int64.
static Value createPositions(const GroupQuery &group, Value offsets,
                             OpBuilder &builder) {
  if (Value given = operandOrNull(group.op, Positions))
    return given;
  Location loc = group.op->getLoc();
  MLIRContext *context = builder.getContext();
  auto type = ranked(group.op->getOperand(Query));
  StringAttr batch = sizeText(type, 0), step = sizeText(type, 1);
  if (!batch || !step)
    return {};
  Type scalar = int64Tensor({}, context);
  auto number = [&](int64_t value) -> Value {
    auto elements = DenseElementsAttr::get(cast<ShapedType>(scalar),
                                           ArrayRef<int64_t>{value});
    return ConstantOp::create(builder, loc, scalar,
                              cast<ElementsAttr>(elements));
  };
  Value length = createOnnx(builder, loc, "Squeeze",
                            createStepLength(group, builder), scalar);
  Value range =
      createOnnx(builder, loc, "Range", {number(0), length, number(1)},
                 int64Tensor({step}, context));
  Value starts = offsets ? createUnsqueeze(builder, loc, offsets, 1) : Value();
  if (!starts) {
    // All rows from 0 on: expanded to one row of positions for each.
    Value shape =
        createOnnx(builder, loc, "Shape", group.op->getOperand(Query),
                   RankedTensorType::get({2}, builder.getI64Type()),
                   builder.getNamedAttr("end", builder.getI64IntegerAttr(2)));
    return createOnnx(builder, loc, "Expand", {range, shape},
                      int64Tensor({batch, step}, context));
  }
  return createOnnx(builder, loc, "Add", {starts, range},
                    int64Tensor({batch, step}, context));
}

/// Rows of one of the operator's tables at the step's positions.
static Value createAngles(const GroupQuery &group, Value table, Value offsets,
                          SharedAcrossLayers &shared, OpBuilder &builder) {
  Value positions = operandOrNull(group.op, Positions);
  Value key = positions ? positions : offsets;
  for (const SharedAcrossLayers::Rows &known : shared.rows)
    if (key && known.table == table && known.positions == key)
      return known.rows;
  positions = createPositions(group, offsets, builder);
  Value rows = positions
                   ? createRows(builder, group.op->getLoc(), table, positions)
                   : Value();
  if (key && rows)
    shared.rows.push_back({table, key, rows});
  return rows;
}

static Value createZeros(OpBuilder &builder, Location loc, int64_t count,
                         FloatType element) {
  auto type = RankedTensorType::get({count}, element);
  auto zeros = DenseElementsAttr::get(
      type, Attribute(builder.getFloatAttr(element, 0.0)));
  return ConstantOp::create(builder, loc, type, cast<ElementsAttr>(zeros));
}

AttentionParts createStep(const GroupQuery &group, Value offsets,
                          SharedAcrossLayers &shared, OpBuilder &builder) {
  Location loc = group.op->getLoc();
  Value query = group.op->getOperand(Query), key = operandOrNull(group.op, Key),
        value = operandOrNull(group.op, Value_);
  if (!key) {
    int64_t own = group.heads * group.headSize;
    int64_t shared = group.sharedHeads * group.headSize;
    Value packed = query;
    query = createPiece(builder, loc, packed, 0, own);
    key = createPiece(builder, loc, packed, own, shared);
    value = createPiece(builder, loc, packed, own + shared, shared);
  }
  AttentionParts parts;
  parts.key = splitHeads(builder, loc, key, group.sharedHeads);
  parts.value = splitHeads(builder, loc, value, group.sharedHeads);
  Value split = splitHeads(builder, loc, query, group.heads);
  if (!parts.key || !parts.value || !split)
    return {};
  if (group.rotates) {
    Value cos = createAngles(group, operandOrNull(group.op, Cosines), offsets,
                             shared, builder);
    Value sin = createAngles(group, operandOrNull(group.op, Sines), offsets,
                             shared, builder);
    if (!cos || !sin || 2 * staticSize(cos, 3) > group.headSize ||
        staticSize(cos, 3) < 1)
      return {};
    split = RotaryOp::create(builder, loc, split.getType(), split, cos, sin,
                             group.interleaved);
    parts.key = RotaryOp::create(builder, loc, parts.key.getType(), parts.key,
                                 cos, sin, group.interleaved);
  }
  parts.query = split;
  parts.mask.value = operandOrNull(group.op, Bias);
  parts.mask.maskedRows = "zero";
  parts.sinks = operandOrNull(group.op, Sinks);
  // One more summand of exp(0) is a sink of 0.
  if (intAttr(group.op, "smooth_softmax", 0) > 0)
    parts.sinks = createZeros(
        builder, loc, group.heads,
        cast<FloatType>(getElementTypeOrSelf(group.op->getOperand(Query))));
  parts.scale = group.scale;
  parts.softcap = group.softcap;
  return parts;
}

Value createResult(const GroupQuery &group, const AttentionParts &parts,
                   Value offsets, OpBuilder &builder) {
  AttentionOp attention = createAttention(builder, group.op->getLoc(), parts,
                                          parts.query.getType());
  attention.setCausal(true);
  if (group.window > 0)
    attention.setWindow(group.window);
  if (offsets)
    attention.getOffsetsMutable().assign(offsets);
  return mergeHeads(builder, group.op->getLoc(), attention,
                    group.op->getResult(0).getType());
}

} // namespace sol::nn::recognize
