//===- KernelAttributes.cpp - an operator's attributes as kernels see them ===//
//
// See KernelAttributes.h.
//
//===----------------------------------------------------------------------===//
#include "lib/support/KernelAttributes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

using namespace mlir;

namespace sol {

static std::optional<AttributeValue> listValue(ArrayAttr array) {
  std::vector<std::string> texts;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  for (Attribute item : array) {
    if (auto text = dyn_cast<StringAttr>(item))
      texts.push_back(text.str());
    else if (auto integer = dyn_cast<IntegerAttr>(item))
      integers.push_back(integer.getInt());
    else if (auto real = dyn_cast<FloatAttr>(item))
      reals.push_back(static_cast<float>(real.getValueAsDouble()));
    else
      return std::nullopt;
  }
  if (!integers.empty())
    return integers;
  if (!reals.empty())
    return reals;
  return texts;
}

static std::optional<AttributeValue> elementValue(ElementsAttr elements) {
  if (elements.getNumElements() != 1)
    return std::nullopt;
  if (auto floats = elements.tryGetValues<APFloat>(); floats.has_value()) {
    APFloat value = *floats->begin();
    bool lossy;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToFloat();
  }
  if (auto integers = elements.tryGetValues<APInt>(); integers.has_value()) {
    APInt value = *integers->begin();
    auto type = dyn_cast<IntegerType>(elements.getElementType());
    bool isSigned = type && !type.isUnsigned() && type.getWidth() > 1;
    return isSigned ? value.getSExtValue()
                    : static_cast<int64_t>(value.getZExtValue());
  }
  return std::nullopt;
}

static std::optional<AttributeValue> attributeValue(Attribute attribute) {
  if (isa<UnitAttr>(attribute))
    return int64_t{1};
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return int64_t{flag.getValue()};
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().getSExtValue();
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return static_cast<float>(real.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.str();
  if (auto integers = dyn_cast<DenseI64ArrayAttr>(attribute))
    return std::vector<int64_t>(integers.asArrayRef().begin(),
                                integers.asArrayRef().end());
  if (auto reals = dyn_cast<DenseF32ArrayAttr>(attribute))
    return std::vector<float>(reals.asArrayRef().begin(),
                              reals.asArrayRef().end());
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return listValue(array);
  if (auto elements = dyn_cast<ElementsAttr>(attribute))
    return elementValue(elements);
  return std::nullopt;
}

Attributes kernelAttributes(ArrayRef<NamedAttribute> attributes) {
  Attributes result;
  for (NamedAttribute attribute : attributes) {
    StringRef name = attribute.getName().getValue();
    if (name.contains('.'))
      continue;
    if (std::optional<AttributeValue> value =
            attributeValue(attribute.getValue()))
      result.set(name.str(), *std::move(value));
  }
  return result;
}

} // namespace sol
