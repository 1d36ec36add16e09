//===- Facts.cpp - what is known about a value before the run -------------===//
//
// Conversions between symbolic sizes, types and constants.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/Facts.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sol::nn {

std::optional<Sizes> sizesOf(Type type) {
  if (auto cache = dyn_cast<CacheType>(type))
    type = cache.getTensor();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto dims = dyn_cast_or_null<DimsAttr>(tensor.getEncoding());
  Sizes sizes;
  for (auto [axis, size] : llvm::enumerate(tensor.getShape())) {
    if (!ShapedType::isDynamic(size))
      sizes.push_back(size);
    else if (dims && axis < dims.getSizes().size())
      sizes.push_back(SymbolicSize::parse(dims.getSizes()[axis].getValue()));
    else
      sizes.emplace_back();
  }
  return sizes;
}

RankedTensorType tensorType(ArrayRef<SymbolicSize> sizes, Type elementType) {
  MLIRContext *context = elementType.getContext();
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> texts;
  bool isDynamic = false;
  for (const SymbolicSize &size : sizes) {
    std::optional<int64_t> number = size.constant();
    // A negative number is no size; the run will refuse it.
    bool isStatic = number && *number >= 0;
    shape.push_back(isStatic ? *number : ShapedType::kDynamic);
    texts.push_back(StringAttr::get(context, size.text()));
    isDynamic |= !isStatic;
  }
  Attribute dims = isDynamic ? DimsAttr::get(context, texts) : Attribute();
  return RankedTensorType::get(shape, elementType, dims);
}

bool isTrackedType(Type elementType) {
  return elementType.isSignlessInteger(64) ||
         elementType.isSignlessInteger(32) || elementType.isSignlessInteger(1);
}

std::optional<Elements> elementsOf(ElementsAttr value) {
  auto dense = dyn_cast<DenseIntElementsAttr>(value);
  if (!dense || !isTrackedType(dense.getElementType()) ||
      dense.getNumElements() > maxTrackedElements)
    return std::nullopt;
  Elements elements;
  bool isBool = dense.getElementType().isInteger(1);
  for (const APInt &element : dense.getValues<APInt>())
    elements.emplace_back(isBool ? static_cast<int64_t>(element.getZExtValue())
                                 : element.getSExtValue());
  return elements;
}

DenseElementsAttr constantOf(const Elements &elements, RankedTensorType type) {
  SmallVector<APInt> numbers;
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  for (const SymbolicSize &element : elements) {
    std::optional<int64_t> number = element.constant();
    if (!number)
      return {};
    numbers.emplace_back(64, static_cast<uint64_t>(*number), true);
    numbers.back() = numbers.back().sextOrTrunc(width);
  }
  auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
  return DenseElementsAttr::get(plain, numbers);
}

std::string sizesText(ArrayRef<SymbolicSize> sizes) {
  std::string text = "[";
  for (auto [axis, size] : llvm::enumerate(sizes))
    text += (axis ? ", " : "") + size.text();
  return text + "]";
}

SymbolicSize elementCount(ArrayRef<SymbolicSize> sizes) {
  SymbolicSize count = 1;
  for (const SymbolicSize &size : sizes)
    count = count * size;
  return count;
}

std::optional<SmallVector<int64_t>> staticSizes(ArrayRef<SymbolicSize> sizes) {
  SmallVector<int64_t> numbers;
  for (const SymbolicSize &size : sizes) {
    std::optional<int64_t> number = size.constant();
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

} // namespace sol::nn
