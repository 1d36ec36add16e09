//===- Match.cpp - questions that recognisers ask about data flow ---------===//
//
// Reading values: operators, constants, sizes, pieces of the last axis. What
// recognisers create is in Create.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/match/Match.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <climits>

using namespace mlir;

namespace sol::nn::recognize {

bool isOnnx(Operation *op, StringRef name) {
  StringRef full = op ? op->getName().getStringRef() : StringRef();
  return full.consume_front("onnx.") && full == name;
}

Value skipNoOps(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    bool nothing =
        isOnnx(op, "Identity") ||
        (isOnnx(op, "Cast") && getElementTypeOrSelf(op->getOperand(0)) ==
                                   getElementTypeOrSelf(value));
    if (!nothing)
      break;
    value = op->getOperand(0);
  }
  return value;
}

Operation *madeBy(Value value, StringRef name) {
  if (!value)
    return nullptr;
  Operation *op = skipNoOps(value).getDefiningOp();
  return isOnnx(op, name) ? op : nullptr;
}

Value operandOrNull(Operation *op, unsigned index) {
  if (index >= op->getNumOperands())
    return {};
  Value value = op->getOperand(index);
  return isa<NoneType>(value.getType()) ? Value() : value;
}

Value resultOrNull(Operation *op, unsigned index) {
  if (index >= op->getNumResults())
    return {};
  Value value = op->getResult(index);
  return isa<NoneType>(value.getType()) ? Value() : value;
}

int64_t intAttr(Operation *op, StringRef name, int64_t byDefault) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : byDefault;
}

double floatAttr(Operation *op, StringRef name, double byDefault) {
  auto attr = op->getAttrOfType<FloatAttr>(name);
  return attr ? attr.getValueAsDouble() : byDefault;
}

SmallVector<int64_t> intsAttr(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return attr ? SmallVector<int64_t>(attr.asArrayRef())
              : SmallVector<int64_t>();
}

bool isFloatStorage(Value value) {
  Type type = getElementTypeOrSelf(value);
  return type.isF32() || type.isF16() || type.isBF16();
}

bool isKnown(Value value) {
  return value.getDefiningOp<ConstantOp>() || value.getDefiningOp<WeightOp>() ||
         value.getDefiningOp<FoldedOp>();
}

std::optional<double> uniformConstant(Value value) {
  auto constant = skipNoOps(value).getDefiningOp<ConstantOp>();
  auto elements =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || elements.getNumElements() == 0)
    return std::nullopt;
  if (!elements.isSplat()) {
    auto raw = elements.getRawData();
    size_t size = raw.size() / elements.getNumElements();
    if (size == 0)
      return std::nullopt;
    for (size_t i = size; i < raw.size(); ++i)
      if (raw[i] != raw[i - size])
        return std::nullopt;
  }
  if (isa<FloatType>(elements.getElementType())) {
    APFloat number = *elements.value_begin<APFloat>();
    bool lossy = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return number.convertToDouble();
  }
  if (auto type = dyn_cast<IntegerType>(elements.getElementType())) {
    APInt number = *elements.value_begin<APInt>();
    return type.isUnsigned() || type.getWidth() == 1
               ? number.roundToDouble(false)
               : number.roundToDouble(true);
  }
  return std::nullopt;
}

std::optional<double> scalarConstant(Value value, int64_t rank) {
  auto type = ranked(value);
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
      type.getRank() > rank)
    return std::nullopt;
  return uniformConstant(value);
}

std::optional<SmallVector<int64_t>> intConstant(Value value) {
  auto constant =
      value ? skipNoOps(value).getDefiningOp<ConstantOp>() : nullptr;
  auto elements =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || !elements.getElementType().isInteger() ||
      elements.getElementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (APInt number : elements.getValues<APInt>())
    numbers.push_back(number.getSExtValue());
  return numbers;
}

RankedTensorType ranked(Value value) {
  return value ? dyn_cast<RankedTensorType>(value.getType())
               : RankedTensorType();
}

int64_t rankOf(Value value) {
  auto type = ranked(value);
  return type ? type.getRank() : -1;
}

int64_t staticSize(Value value, int64_t axis) {
  auto type = ranked(value);
  if (!type)
    return -1;
  axis = fromStart(axis, type.getRank());
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return -1;
  return type.getDimSize(axis);
}

StringAttr sizeText(RankedTensorType type, int64_t axis) {
  if (!type.isDynamicDim(axis))
    return StringAttr::get(type.getContext(), Twine(type.getDimSize(axis)));
  auto dims = dyn_cast_or_null<DimsAttr>(type.getEncoding());
  if (!dims || int64_t(dims.getSizes().size()) != type.getRank())
    return {};
  StringAttr text = dims.getSizes()[axis];
  return text.getValue().empty() || text.getValue() == "?" ? StringAttr()
                                                           : text;
}

bool sameSize(Value a, int64_t axisOfA, Value b, int64_t axisOfB) {
  auto typeOfA = ranked(a), typeOfB = ranked(b);
  if (!typeOfA || !typeOfB)
    return false;
  axisOfA = fromStart(axisOfA, typeOfA.getRank());
  axisOfB = fromStart(axisOfB, typeOfB.getRank());
  if (axisOfA < 0 || axisOfA >= typeOfA.getRank() || axisOfB < 0 ||
      axisOfB >= typeOfB.getRank())
    return false;
  StringAttr text = sizeText(typeOfA, axisOfA);
  return text && text == sizeText(typeOfB, axisOfB);
}

bool sameShape(Value a, Value b) {
  if (a == b)
    return rankOf(a) >= 0;
  if (rankOf(a) < 0 || rankOf(a) != rankOf(b))
    return false;
  for (int64_t axis = 0; axis < rankOf(a); ++axis)
    if (!sameSize(a, axis, b, axis))
      return false;
  return true;
}

RankedTensorType typeOf(ArrayRef<StringAttr> sizes, Type elementType) {
  SmallVector<int64_t> shape;
  bool isStatic = true;
  for (StringAttr text : sizes) {
    int64_t number = 0;
    if (!text)
      return {};
    bool isNumber = !text.getValue().getAsInteger(10, number);
    shape.push_back(isNumber ? number : ShapedType::kDynamic);
    isStatic &= isNumber;
  }
  if (isStatic)
    return RankedTensorType::get(shape, elementType);
  return RankedTensorType::get(shape, elementType,
                               DimsAttr::get(elementType.getContext(), sizes));
}

RankedTensorType withSize(RankedTensorType type, int64_t axis, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  auto dims = dyn_cast_or_null<DimsAttr>(type.getEncoding());
  if (!dims || int64_t(dims.getSizes().size()) != type.getRank())
    return RankedTensorType::get(shape, type.getElementType());
  SmallVector<StringAttr> sizes(dims.getSizes());
  sizes[axis] = StringAttr::get(type.getContext(), Twine(size));
  return typeOf(sizes, type.getElementType());
}

/// Start and size of a Slice that has step 1 and cuts the last axis only.
static std::optional<std::pair<int64_t, int64_t>> lastAxisSlice(Operation *op) {
  Value from = op->getOperand(0);
  int64_t rank = rankOf(from), size = staticSize(from, -1);
  auto starts = intConstant(operandOrNull(op, 1));
  auto ends = intConstant(operandOrNull(op, 2));
  if (size < 0 || !starts || !ends || starts->size() != 1 || ends->size() != 1)
    return std::nullopt;
  int64_t axis = 0;
  if (Value axes = operandOrNull(op, 3)) {
    auto given = intConstant(axes);
    if (!given || given->size() != 1)
      return std::nullopt;
    axis = fromStart((*given)[0], rank);
  }
  if (Value steps = operandOrNull(op, 4)) {
    auto given = intConstant(steps);
    if (!given || given->size() != 1 || (*given)[0] != 1)
      return std::nullopt;
  }
  if (axis != rank - 1)
    return std::nullopt;
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  int64_t start = clamp((*starts)[0]), end = clamp((*ends)[0]);
  return std::pair(start, std::max<int64_t>(0, end - start));
}

Piece lastAxisPiece(Value value) {
  value = skipNoOps(value);
  int64_t size = staticSize(value, -1);
  Piece piece{size < 0 ? Value() : value, 0, size};
  while (piece.root) {
    Operation *op = skipNoOps(piece.root).getDefiningOp();
    if (isOnnx(op, "Slice")) {
      auto cut = lastAxisSlice(op);
      if (!cut)
        break;
      piece.start += cut->first;
    } else if (isOnnx(op, "Split") &&
               fromStart(intAttr(op, "axis", 0), rankOf(op->getOperand(0))) ==
                   rankOf(op->getOperand(0)) - 1) {
      int64_t before = 0;
      unsigned index = cast<OpResult>(skipNoOps(piece.root)).getResultNumber();
      for (unsigned i = 0; i < index; ++i) {
        if (staticSize(op->getResult(i), -1) < 0)
          return piece;
        before += staticSize(op->getResult(i), -1);
      }
      piece.start += before;
    } else {
      break;
    }
    piece.root = skipNoOps(op->getOperand(0));
  }
  return piece;
}

bool isLastOf(const std::optional<SmallVector<int64_t>> &axes, int64_t rank) {
  return axes && axes->size() == 1 && rank > 0 &&
         fromStart((*axes)[0], rank) == rank - 1;
}

Value everySecond(Value value, int64_t start) {
  Operation *slice = madeBy(value, "Slice");
  if (!slice)
    return {};
  Value from = slice->getOperand(0);
  auto starts = intConstant(operandOrNull(slice, 1)),
       ends = intConstant(operandOrNull(slice, 2)),
       axes = intConstant(operandOrNull(slice, 3)),
       steps = intConstant(operandOrNull(slice, 4));
  int64_t size = staticSize(from, -1);
  bool good = starts && starts->size() == 1 && (*starts)[0] == start && ends &&
              ends->size() == 1 && (*ends)[0] >= size && steps &&
              steps->size() == 1 && (*steps)[0] == 2 &&
              isLastOf(axes, rankOf(from)) && size > 0 && size % 2 == 0;
  return good ? from : Value();
}

} // namespace sol::nn::recognize
