//===- Scope.cpp - names that a node can see ------------------------------===//
//
// See Scope.h.
//
//===----------------------------------------------------------------------===//
#include "lib/import/Scope.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/onnx/OnnxSchema.h"

using namespace mlir;

namespace sol {

Type declaredTensor(const ::onnx::ValueInfoProto &info, MLIRContext *context) {
  const auto &tensor = info.type().tensor_type();
  Type element = onnx::elementType(tensor.elem_type(), context);
  if (!element || !info.type().has_tensor_type())
    return {};
  if (!tensor.has_shape())
    return UnrankedTensorType::get(element);
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> names;
  for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) {
    const auto &dim = tensor.shape().dim(axis);
    int64_t size = ShapedType::kDynamic;
    std::string name = dim.dim_param();
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      size = dim.dim_value();
    // Some exporters write numbers where names belong.
    else if (int64_t number;
             !StringRef(name).getAsInteger(10, number) && number >= 0)
      size = number;
    else if (name.empty())
      name = info.name() + "_dim" + std::to_string(axis);
    if (!ShapedType::isDynamic(size))
      name = std::to_string(size);
    shape.push_back(size);
    names.push_back(StringAttr::get(context, name));
  }
  auto type = RankedTensorType::get(shape, element);
  if (type.hasStaticShape())
    return type;
  return RankedTensorType::get(shape, element,
                               nn::DimsAttr::get(context, names));
}

Type Scope::declaredType(StringRef name, MLIRContext *context) const {
  for (const Scope *scope = this; scope; scope = scope->parent) {
    if (!scope->values.contains(name) || !scope->graph)
      continue;
    for (const auto *list :
         {&scope->graph->value_info(), &scope->graph->output()})
      for (const ::onnx::ValueInfoProto &info : *list)
        if (info.name() == name)
          return declaredTensor(info, context);
    return {};
  }
  return {};
}

} // namespace sol
