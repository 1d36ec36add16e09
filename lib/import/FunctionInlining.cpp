//===- FunctionInlining.cpp - calls of the model's own functions ----------===//
//
// A call becomes the nodes of the function's body, with the call's attributes
// in place of those the body refers to.
//
//===----------------------------------------------------------------------===//
#include "lib/import/GraphImport.h"
#include "lib/import/OpCreation.h"

using namespace mlir;

namespace sol {

const ::onnx::FunctionProto *
GraphImporter::findFunction(const Node &node) const {
  auto found = functions.find(
      functionKey(node.domain, node.proto.op_type(), node.proto.overload()));
  return found == functions.end() ? nullptr : found->second;
}

LogicalResult
GraphImporter::inlineFunction(Node &node,
                              const ::onnx::FunctionProto &function) {
  constexpr size_t deepest = 64;
  if (llvm::is_contained(calls, &function))
    return error(node) << "calls the function `" << function.name()
                       << "` from within itself";
  if (calls.size() >= deepest)
    return error(node) << "is a call nested deeper than " << deepest;
  if (node.proto.input_size() > function.input_size() ||
      node.proto.output_size() > function.output_size())
    return error(node) << "has " << node.proto.input_size() << " inputs and "
                       << node.proto.output_size()
                       << " outputs, but the function has "
                       << function.input_size() << " and "
                       << function.output_size();
  // Defaults first, then what the call gives, itself resolved where it stands.
  CallAttributes attributes;
  for (const auto &attribute : function.attribute_proto())
    attributes[attribute.name()] = attribute;
  for (const auto &given : node.proto.attribute()) {
    if (given.ref_attr_name().empty()) {
      attributes[given.name()] = given;
    } else if (node.scope.attributes) {
      auto bound = node.scope.attributes->find(given.ref_attr_name());
      if (bound != node.scope.attributes->end())
        attributes[given.name()] = bound->second;
    }
  }
  Opsets opsets;
  auto emit = [&]() -> InFlightDiagnostic {
    InFlightDiagnostic diagnostic = error(node);
    diagnostic << "function `" << function.name() << "` ";
    return diagnostic;
  };
  if (failed(readOpsets(function.opset_import(), opsets, emit)))
    return failure();
  // Functions of IR versions before 8 and careless writers leave imports out.
  for (const auto &outer : *node.scope.opsets)
    opsets.try_emplace(outer.getKey(), outer.getValue());

  Scope scope;
  scope.opsets = &opsets;
  scope.attributes = &attributes;
  scope.prefix = node.name + "/";
  for (int index = 0; index < function.input_size(); ++index)
    scope.values[function.input(index)] =
        static_cast<size_t>(index) < node.inputs.size()
            ? node.inputs[index]
            : createNone(node.builder, node.location);
  calls.push_back(&function);
  importNodes(function.node(), scope, node.builder);
  calls.pop_back();
  SmallVector<Value> results;
  for (int index = 0; index < node.proto.output_size(); ++index) {
    std::optional<Value> value = scope.lookup(function.output(index));
    if (!value)
      return error(node) << "function `" << function.name()
                         << "` does not define its output `"
                         << function.output(index) << "`";
    results.push_back(*value);
  }
  define(node, results);
  return success();
}

} // namespace sol
