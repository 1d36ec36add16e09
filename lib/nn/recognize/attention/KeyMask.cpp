//===- KeyMask.cpp - masks from numbers of keys ---------------------------===//
//
// See KeyMask.h.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/attention/KeyMask.h"

#include <limits>

using namespace mlir;

namespace sol::nn::recognize {

static Value createScalar(OpBuilder &builder, Location loc, Attribute value,
                          Type element) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(
      builder, loc, type,
      cast<ElementsAttr>(DenseElementsAttr::get(type, value)));
}

/// Whether each key's number is below its row's: batch x keys.
static Value createCounted(OpBuilder &builder, Location loc, Value counts,
                           Value key) {
  Type integer = builder.getIntegerType(64);
  auto number = [&](int64_t value) {
    return createScalar(builder, loc, builder.getI64IntegerAttr(value),
                        integer);
  };
  Value length = createOnnx(
      builder, loc, "Shape", key, RankedTensorType::get({1}, integer),
      {builder.getNamedAttr("start", builder.getI64IntegerAttr(2)),
       builder.getNamedAttr("end", builder.getI64IntegerAttr(3))});
  length = createOnnx(builder, loc, "Squeeze", length,
                      RankedTensorType::get({}, integer));
  StringAttr batch = sizeText(ranked(key), 0), keys = sizeText(ranked(key), 2);
  Value range =
      createOnnx(builder, loc, "Range", {number(0), length, number(1)},
                 typeOf({keys}, integer));
  Value wide = createOnnx(
      builder, loc, "Cast", counts, typeOf({batch}, integer),
      builder.getNamedAttr("to", builder.getI64IntegerAttr(/*INT64*/ 7)));
  return createOnnx(builder, loc, "Less",
                    {range, createUnsqueeze(builder, loc, wide, 1)},
                    typeOf({batch, keys}, builder.getI1Type()));
}

Value createKeyMask(OpBuilder &builder, Location loc, Value mask, Value query,
                    Value key, double filter) {
  int64_t rank = rankOf(mask);
  if (rank < 1 || rank > 3 || !sameSize(mask, 0, query, 0) ||
      (rank > 1 && !sameSize(mask, rank - 1, key, 2)) ||
      (rank == 3 && !sameSize(mask, 1, query, 2)) ||
      !sizeText(ranked(key), 0) || !sizeText(ranked(key), 2))
    return {};
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(mask));
  if (!element || element.getWidth() < 32)
    return {};
  Value kept;
  if (rank == 1) {
    kept = createCounted(builder, loc, mask, key);
  } else {
    Value zero =
        createScalar(builder, loc, builder.getIntegerAttr(element, 0), element);
    kept = createOnnx(builder, loc, "Greater", {mask, zero},
                      ranked(mask).clone(builder.getI1Type()));
  }
  Type number = getElementTypeOrSelf(query);
  auto choice = [&](double value) {
    return createScalar(builder, loc, builder.getFloatAttr(number, value),
                        number);
  };
  Value numbers =
      createOnnx(builder, loc, "Where", {kept, choice(0), choice(filter)},
                 ranked(kept).clone(number));
  for (int64_t axes = rankOf(numbers); axes < 4; ++axes)
    numbers = createUnsqueeze(builder, loc, numbers, 1);
  return numbers;
}

Value createCountMask(OpBuilder &builder, Location loc, Value counts, Value key,
                      Value mask) {
  Value kept = createCounted(builder, loc, counts, key);
  for (int64_t axis : {1, 1})
    kept = createUnsqueeze(builder, loc, kept, axis);
  if (!mask)
    return kept;
  while (rankOf(mask) < 4)
    mask = createUnsqueeze(builder, loc, mask, 0);
  auto type = ranked(mask);
  RankedTensorType result =
      typeOf({sizeText(ranked(key), 0), sizeText(type, 1), sizeText(type, 2),
              sizeText(ranked(key), 2)},
             type.getElementType());
  if (!result)
    return {};
  if (type.getElementType().isInteger(1))
    return createOnnx(builder, loc, "And", {mask, kept}, result);
  Attribute lowest = builder.getFloatAttr(
      type.getElementType(), -std::numeric_limits<double>::infinity());
  return createOnnx(
      builder, loc, "Where",
      {kept, mask, createScalar(builder, loc, lowest, type.getElementType())},
      result);
}

Value createStepOffsets(OpBuilder &builder, Location loc, Value counts,
                        Value query) {
  Type integer = builder.getIntegerType(64);
  Value step;
  if (int64_t size = staticSize(query, 2); size >= 0)
    step = createInts(builder, loc, {size});
  else
    step = createOnnx(
        builder, loc, "Shape", query, RankedTensorType::get({1}, integer),
        {builder.getNamedAttr("start", builder.getI64IntegerAttr(2)),
         builder.getNamedAttr("end", builder.getI64IntegerAttr(3))});
  return createOnnx(builder, loc, "Sub", {counts, step}, counts.getType());
}

} // namespace sol::nn::recognize
