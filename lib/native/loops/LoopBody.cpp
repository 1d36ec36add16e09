//===- LoopBody.cpp - builds the body of a compiled loop ------------------===//
//
// See LoopBody.h.
//
//===----------------------------------------------------------------------===//
#include "lib/native/loops/LoopBody.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace sol::native {

std::string sizeText(RankedTensorType type, int64_t axis) {
  if (!type.isDynamicDim(axis))
    return std::to_string(type.getDimSize(axis));
  auto dims = dyn_cast_or_null<nn::DimsAttr>(type.getEncoding());
  return dims ? dims.getSizes()[axis].str() : std::string();
}

LoopSpace spaceOf(RankedTensorType type) {
  LoopSpace space;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    space.push_back(sizeText(type, axis));
  return space;
}

std::optional<SmallVector<int64_t>> axesInSpace(RankedTensorType operand,
                                                const LoopSpace &space) {
  int64_t missing = static_cast<int64_t>(space.size()) - operand.getRank();
  if (missing < 0)
    return std::nullopt;
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < operand.getRank(); ++axis) {
    std::string size = sizeText(operand, axis);
    if (size.empty() || (size != space[missing + axis] && size != "1"))
      return std::nullopt;
    axes.push_back(size == space[missing + axis] ? missing + axis : -1);
  }
  return axes;
}

LoopValue LoopBody::addOperand(Value tensor, ArrayRef<int64_t> axes) {
  LoopValue value{tensor, {}, {}};
  for (auto [i, axis] : llvm::enumerate(axes)) {
    value.index.push_back(axis < 0 ? builder.getAffineConstantExpr(0)
                                   : builder.getAffineDimExpr(axis));
    carriers.resize(rank(), {Value(), 0});
    if (axis >= 0 && !carriers[axis].first)
      carriers[axis] = {tensor, i};
  }
  return value;
}

AffineMap LoopBody::mapOf(const LoopValue &value, unsigned loops) {
  return AffineMap::get(loops, 0, value.index, builder.getContext());
}

Value LoopBody::sizeOf(Location loc, unsigned axis) {
  sizes.resize(rank());
  auto [tensor, at] = carriers[axis];
  if (!sizes[axis])
    sizes[axis] = builder.createOrFold<tensor::DimOp>(loc, tensor, at);
  return sizes[axis];
}

Value LoopBody::rowLength(Location loc) {
  Value length = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                            sizeOf(loc, rank() - 1));
  return arith::SIToFPOp::create(builder, loc, builder.getF32Type(), length);
}

Value LoopBody::empty(Location loc, LoopLevel level, Type type) {
  SmallVector<OpFoldResult> sizes;
  unsigned axes = level == LoopLevel::Elements ? rank() : rank() - 1;
  for (unsigned axis = 0; axis < axes; ++axis) {
    int64_t number;
    if (StringRef(space[axis]).getAsInteger(10, number))
      sizes.push_back(sizeOf(loc, axis));
    else
      sizes.push_back(builder.getIndexAttr(number));
  }
  return tensor::EmptyOp::create(builder, loc, sizes, type);
}

LoopValue LoopBody::compute(Location loc, LoopLevel level, Type type,
                            ArrayRef<LoopValue> inputs, ScalarBuilder build) {
  unsigned loops = level == LoopLevel::Elements ? rank() : rank() - 1;
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (const LoopValue &input : inputs)
    if (input.tensor) {
      tensors.push_back(input.tensor);
      maps.push_back(mapOf(input, loops));
    }
  maps.push_back(builder.getMultiDimIdentityMap(loops));
  Value target = empty(loc, level, type);
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, target.getType(), tensors, target, maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        SmallVector<Value> elements;
        size_t next = 0;
        for (const LoopValue &input : inputs)
          elements.push_back(input.tensor ? arguments[next++]
                                          : arith::ConstantOp::create(
                                                inner, loc, input.constant));
        linalg::YieldOp::create(inner, loc, build(inner, elements));
      });
  LoopValue result{generic.getResult(0), {}, {}};
  for (unsigned axis = 0; axis < loops; ++axis)
    result.index.push_back(builder.getAffineDimExpr(axis));
  return result;
}

LoopValue LoopBody::reduce(Location loc, LoopValue input, TypedAttr nothing,
                           ScalarBuilder join) {
  Value start = arith::ConstantOp::create(builder, loc, nothing);
  Value target = empty(loc, LoopLevel::Rows, nothing.getType());
  target = linalg::FillOp::create(builder, loc, start, target).getResult(0);
  SmallVector<utils::IteratorType> iterators(rank(),
                                             utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  LoopValue result;
  for (unsigned axis = 0; axis + 1 < rank(); ++axis)
    result.index.push_back(builder.getAffineDimExpr(axis));
  SmallVector<AffineMap> maps = {mapOf(input, rank()), mapOf(result, rank())};
  auto generic = linalg::GenericOp::create(
      builder, loc, target.getType(), input.tensor, target, maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        linalg::YieldOp::create(inner, loc,
                                join(inner, {arguments[1], arguments[0]}));
      });
  result.tensor = generic.getResult(0);
  return result;
}

} // namespace sol::native
