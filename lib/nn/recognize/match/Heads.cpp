//===- Heads.cpp - heads as an axis and heads side by side ----------------===//
//
// Operators take heads side by side in the last axis; nn operators have an axis
// for them.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/match/Heads.h"

using namespace mlir;

namespace sol::nn::recognize {

Value splitHeads(OpBuilder &builder, Location loc, Value value, int64_t heads) {
  auto type = ranked(value);
  int64_t width = staticSize(value, 2);
  if (!type || type.getRank() != 3 || heads < 1 || width < 1 ||
      width % heads != 0)
    return {};
  MLIRContext *context = builder.getContext();
  StringAttr batch = sizeText(type, 0), step = sizeText(type, 1);
  auto text = [&](int64_t size) {
    return StringAttr::get(context, Twine(size));
  };
  if (!batch || !step)
    return {};
  RankedTensorType split = typeOf(
      {batch, step, text(heads), text(width / heads)}, type.getElementType());
  // 0 keeps the size of the operand's axis.
  Value reshaped = createOnnx(
      builder, loc, "Reshape",
      {value, createInts(builder, loc, {0, 0, heads, width / heads})}, split);
  return createTranspose(builder, loc, reshaped, {0, 2, 1, 3});
}

Value mergeHeads(OpBuilder &builder, Location loc, Value value, Type type) {
  Value moved = createTranspose(builder, loc, value, {0, 2, 1, 3});
  int64_t width = staticSize(value, 1) * staticSize(value, 3);
  return createOnnx(builder, loc, "Reshape",
                    {moved, createInts(builder, loc, {0, 0, width})}, type);
}

} // namespace sol::nn::recognize
