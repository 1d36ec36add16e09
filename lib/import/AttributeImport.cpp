//===- AttributeImport.cpp - attributes of nodes --------------------------===//
//
// AttributeProto to MLIR's attributes; graphs are kept aside for regions. Also
// Constant, which is nothing but an attribute.
//
//===----------------------------------------------------------------------===//
#include "lib/import/GraphImport.h"
#include "lib/import/OpCreation.h"

#include "dialects/nn/NnDialect.h"

using namespace mlir;

namespace sol {
namespace {
using Proto = ::onnx::AttributeProto;

/// Kind of an attribute; old files leave it out.
Proto::AttributeType typeOf(const Proto &proto) {
  if (proto.type() != Proto::UNDEFINED)
    return proto.type();
  if (proto.has_f())
    return Proto::FLOAT;
  if (proto.has_i())
    return Proto::INT;
  if (proto.has_s())
    return Proto::STRING;
  if (proto.has_t())
    return Proto::TENSOR;
  if (proto.has_g())
    return Proto::GRAPH;
  if (proto.floats_size())
    return Proto::FLOATS;
  if (proto.ints_size())
    return Proto::INTS;
  if (proto.strings_size())
    return Proto::STRINGS;
  return Proto::UNDEFINED;
}
} // namespace

FailureOr<Attribute> GraphImporter::convertAttribute(Node &node,
                                                     const Proto &proto) {
  Builder &builder = node.builder;
  auto emit = [&]() -> InFlightDiagnostic {
    InFlightDiagnostic diagnostic = error(node);
    diagnostic << "attribute `" << proto.name() << "` ";
    return diagnostic;
  };
  switch (typeOf(proto)) {
  case Proto::FLOAT:
    return Attribute(builder.getF32FloatAttr(proto.f()));
  case Proto::INT:
    return Attribute(builder.getI64IntegerAttr(proto.i()));
  case Proto::STRING:
    return Attribute(builder.getStringAttr(proto.s()));
  case Proto::FLOATS:
    return Attribute(builder.getDenseF32ArrayAttr(
        ArrayRef(proto.floats().data(), proto.floats_size())));
  case Proto::INTS:
    return Attribute(builder.getDenseI64ArrayAttr(llvm::map_to_vector(
        proto.ints(), [](int64_t value) { return value; })));
  case Proto::STRINGS: {
    SmallVector<StringRef> strings(proto.strings().begin(),
                                   proto.strings().end());
    return Attribute(builder.getStrArrayAttr(strings));
  }
  case Proto::TENSOR: {
    FailureOr<DenseElementsAttr> value = tensors.elements(proto.t(), emit);
    if (failed(value))
      return failure();
    return Attribute(*value);
  }
  default:
    return emit() << "is of a kind that is not supported";
  }
}

LogicalResult GraphImporter::gatherAttributes(Node &node) {
  for (const Proto &given : node.proto.attribute()) {
    const Proto *proto = &given;
    if (!given.ref_attr_name().empty()) {
      // An attribute of the function that the call leaves out is left out here.
      if (!node.scope.attributes)
        return error(node) << "attribute `" << given.name()
                           << "` refers to an attribute of a function, but "
                              "the node is in none";
      auto found = node.scope.attributes->find(given.ref_attr_name());
      if (found == node.scope.attributes->end())
        continue;
      proto = &found->second;
    }
    if (typeOf(*proto) == Proto::GRAPH) {
      node.graphs.push_back(proto);
      continue;
    }
    if (node.attributes.get(given.name()))
      return error(node) << "has the attribute `" << given.name() << "` twice";
    FailureOr<Attribute> value = convertAttribute(node, *proto);
    if (failed(value))
      return failure();
    node.attributes.set(given.name(), *value);
  }
  return success();
}

/// The attribute that a Constant's value is in, following a reference to a
/// function's attribute; null, after an error, if there is not exactly one.
const Proto *GraphImporter::findConstantValue(Node &node) {
  const Proto *found = nullptr;
  for (const Proto &given : node.proto.attribute()) {
    const Proto *proto = &given;
    if (!given.ref_attr_name().empty() && node.scope.attributes) {
      auto bound = node.scope.attributes->find(given.ref_attr_name());
      proto = bound == node.scope.attributes->end() ? nullptr : &bound->second;
    }
    if (proto && found) {
      error(node) << "has more than one value";
      return nullptr;
    }
    if (proto)
      found = proto;
  }
  if (!found)
    error(node) << "has no value; one of the attributes `value`, `value_int`, "
                   "`value_ints`, `value_float`, `value_floats` must be there";
  return found;
}

namespace {
/// The tensor that a number or list of numbers stands for in a Constant; null
/// for other attributes.
DenseElementsAttr elementsOf(Attribute attribute, Builder &builder) {
  auto floats = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  };
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return DenseElementsAttr::get(floats({}), Attribute(number));
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return DenseElementsAttr::get(
        RankedTensorType::get({}, builder.getI64Type()), Attribute(number));
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute))
    return builder.getI64TensorAttr(list.asArrayRef());
  if (auto list = dyn_cast<DenseF32ArrayAttr>(attribute))
    return DenseElementsAttr::get(floats({list.size()}), list.asArrayRef());
  return {};
}
} // namespace

LogicalResult GraphImporter::importConstant(Node &node) {
  auto emit = [&]() -> InFlightDiagnostic { return error(node); };
  const Proto *found = findConstantValue(node);
  if (!found)
    return failure();
  if (node.proto.output_size() != 1)
    return error(node) << "has " << node.proto.output_size()
                       << " outputs, needs 1";
  switch (typeOf(*found)) {
  case Proto::TENSOR: {
    FailureOr<Value> value = tensors.import(found->t(), node.proto.output(0),
                                            node.builder, node.location, emit);
    if (failed(value))
      return failure();
    define(node, *value);
    return success();
  }
  case Proto::STRING:
  case Proto::STRINGS:
    return error(node) << "holds strings, which are not supported";
  case Proto::SPARSE_TENSOR:
    return error(node) << "holds a sparse tensor, which is not supported";
  default:
    break;
  }
  FailureOr<Attribute> attribute = convertAttribute(node, *found);
  if (failed(attribute))
    return failure();
  DenseElementsAttr value = elementsOf(*attribute, node.builder);
  if (!value)
    return error(node) << "has a value of a kind that is not supported";
  define(node, nn::ConstantOp::create(node.builder, node.location,
                                      value.getType(), value)
                   .getResult());
  return success();
}

} // namespace sol
