//===- OpCreation.cpp - makes operations of the onnx dialect --------------===//
//
// Small builders that the importer and its version upgrades share.
//
//===----------------------------------------------------------------------===//
#include "lib/import/OpCreation.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/onnx/OnnxDialect.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;

namespace sol {

SmallVector<Type> unrankedResultTypes(const onnx::OpSchema &schema,
                                      unsigned count, TypeRange operands,
                                      const NamedAttrList &attributes,
                                      MLIRContext *context) {
  SmallVector<Type> types;
  for (unsigned index = 0; index < count; ++index) {
    Type element =
        onnx::resultElementType(schema, index, operands, attributes, context);
    types.push_back(element ? Type(UnrankedTensorType::get(element)) : Type());
  }
  return types;
}

Value createOnnx(OpBuilder &builder, Location location, StringRef name,
                 ValueRange operands, const NamedAttrList &attributes) {
  const onnx::OpSchema *schema = onnx::findSchema("", name);
  OperationState state(location, onnx::operationName(*schema));
  state.addOperands(operands);
  state.addAttributes(attributes.getAttrs());
  state.addTypes(unrankedResultTypes(*schema, 1, operands.getTypes(),
                                     attributes, builder.getContext()));
  return builder.create(state)->getResult(0);
}

namespace {
Value createConstant(OpBuilder &builder, Location location,
                     DenseElementsAttr value) {
  return nn::ConstantOp::create(builder, location, value.getType(), value);
}
} // namespace

Value createInts(OpBuilder &builder, Location location,
                 ArrayRef<int64_t> values) {
  return createConstant(builder, location, builder.getI64TensorAttr(values));
}

Value createInt(OpBuilder &builder, Location location, int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return createConstant(builder, location,
                        DenseElementsAttr::get(type, ArrayRef(value)));
}

Value createScalar(OpBuilder &builder, Location location, Type element,
                   double value) {
  auto type = RankedTensorType::get({}, element);
  if (element.isF32() || element.isF64() || element.isF16() ||
      element.isBF16()) {
    llvm::APFloat number(value);
    bool inexact;
    number.convert(cast<FloatType>(element).getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &inexact);
    return createConstant(builder, location,
                          DenseElementsAttr::get(type, ArrayRef(number)));
  }
  auto integer = dyn_cast<IntegerType>(element);
  if (integer && std::abs(value) < 9e15) {
    APInt number(integer.getWidth(),
                 static_cast<uint64_t>(static_cast<int64_t>(value)), true,
                 true);
    return createConstant(builder, location,
                          DenseElementsAttr::get(type, ArrayRef(number)));
  }
  return {};
}

Value createNone(OpBuilder &builder, Location location) {
  return onnx::NoneOp::create(builder, location, builder.getNoneType());
}

} // namespace sol
