//===- GraphImport.cpp - nodes of a model as operations -------------------===//
//
// One node at a time: find its operator, gather inputs and attributes, bring it
// to the newest version, check it against the table, make the operation. A node
// that fails leaves its outputs defined but without value, so that each fault
// is told once.
//
//===----------------------------------------------------------------------===//
#include "lib/import/GraphImport.h"

#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/VerifySchema.h"
#include "lib/import/OpCreation.h"
#include "lib/support/NodeText.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sol {

std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  return (domain + "\n" + name + "\n" + overload).str();
}

std::string normalizedDomain(const std::string &domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

LogicalResult
readOpsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>
               &imports,
           Opsets &opsets, EmitError error) {
  for (const auto &import : imports) {
    std::string domain = normalizedDomain(import.domain());
    opsets[domain] = import.version();
    if (domain.empty() && import.version() > onnx::newestOpset())
      return error() << "uses opset " << import.version()
                     << ", newer than the newest known, " << onnx::newestOpset()
                     << "; export the model with that opset or an older one";
    if (import.version() < 1)
      return error() << "imports version " << import.version()
                     << " of the operators of `"
                     << (domain.empty() ? "ai.onnx" : domain)
                     << "`; versions start at 1";
  }
  return success();
}

GraphImporter::GraphImporter(const ::onnx::ModelProto &model,
                             TensorImporter &tensors, Problems &problems,
                             MLIRContext *context)
    : tensors(tensors), problems(problems), context(context) {
  for (const auto &function : model.functions())
    functions.try_emplace(functionKey(normalizedDomain(function.domain()),
                                      function.name(), function.overload()),
                          &function);
}

InFlightDiagnostic GraphImporter::error(const Node &node) {
  bool isSeen = !problems.isFull();
  InFlightDiagnostic diagnostic = problems.error(node.location);
  if (isSeen)
    diagnostic << identify(node) << ": ";
  return diagnostic;
}

std::string GraphImporter::identify(const Node &node) {
  NodeIdentity identity;
  identity.name = node.name;
  identity.type = node.proto.op_type();
  identity.domain = node.domain;
  identity.opset = node.opset;
  for (auto [index, value] : llvm::enumerate(node.inputs)) {
    Type type = value ? value.getType() : Type();
    // What the exporter says of values in between is only good for a message.
    if (!type || isa<UnrankedTensorType>(type))
      if (Type declared =
              node.scope.declaredType(node.proto.input(index), context))
        type = declared;
    identity.inputs.push_back(type ? typeText(type) : "unknown");
  }
  return nodeText(identity);
}

void GraphImporter::importBody(const ::onnx::GraphProto &graph, Scope &scope,
                               OpBuilder &builder) {
  scope.graph = &graph;
  for (const auto &tensor : graph.initializer()) {
    auto location = NameLoc::get(builder.getStringAttr(tensor.name()));
    auto tensorError = [&]() -> InFlightDiagnostic {
      InFlightDiagnostic diagnostic = problems.error(location);
      diagnostic << "initializer `" << tensor.name() << "` ";
      return diagnostic;
    };
    if (scope.values.contains(tensor.name())) {
      tensorError() << "has the name of another value";
      continue;
    }
    FailureOr<Value> value =
        tensors.import(tensor, tensor.name(), builder, location, tensorError);
    scope.values[tensor.name()] = failed(value) ? Value() : *value;
  }
  for (const auto &sparse : graph.sparse_initializer()) {
    problems.error(UnknownLoc::get(context))
        << "initializer `" << sparse.values().name()
        << "` is sparse, which is not supported; export the model with dense "
           "weights";
    scope.values[sparse.values().name()] = Value();
  }
  importNodes(graph.node(), scope, builder);
}

void GraphImporter::reportCycles(const NodeOrder &order, const Nodes &nodes,
                                 const Scope &scope) {
  for (const std::vector<int> &cycle : order.cycles) {
    InFlightDiagnostic diagnostic = problems.error(UnknownLoc::get(context));
    diagnostic << "nodes use each other's results in a cycle:";
    for (int index : llvm::reverse(cycle)) {
      const auto &node = nodes[index];
      diagnostic << " `" << scope.prefix << node.name() << "` ("
                 << node.op_type() << ")";
    }
  }
}

void GraphImporter::importNodes(const Nodes &nodes, Scope &scope,
                                OpBuilder &builder) {
  NodeOrder order = orderNodes(nodes);
  reportCycles(order, nodes, scope);
  std::vector<bool> isInCycle(nodes.size());
  for (const std::vector<int> &cycle : order.cycles)
    for (int index : cycle)
      isInCycle[index] = true;
  for (int index : order.order) {
    if (!isInCycle[index]) {
      importNode(nodes[index], index, scope, builder);
      continue;
    }
    for (const auto &output : nodes[index].output())
      scope.values.try_emplace(output, Value());
  }
}

void GraphImporter::importNode(const ::onnx::NodeProto &proto, int index,
                               Scope &scope, OpBuilder &builder) {
  // Functions that call functions can blow a small file up without end.
  constexpr uint64_t mostNodes = 250'000;
  std::string name =
      scope.prefix + (proto.name().empty()
                          ? proto.op_type() + "_" + std::to_string(index)
                          : proto.name());
  Node node{proto,   scope,
            builder, NameLoc::get(builder.getStringAttr(name)),
            name,    normalizedDomain(proto.domain()),
            0,       {},
            {},      {},
            nullptr};
  if (!calls.empty() && ++nodeCount > mostNodes) {
    if (nodeCount == mostNodes + 1)
      error(node) << "is one of more than " << mostNodes
                  << " nodes of functions, which is the most that is "
                     "supported";
    define(node, {});
    return;
  }
  if (failed(importKnown(node)))
    define(node, {});
}

/// Binds the node's outputs to results; those without one stay without value.
void GraphImporter::define(Node &node, ArrayRef<Value> results) {
  for (int index = 0; index < node.proto.output_size(); ++index) {
    const std::string &output = node.proto.output(index);
    if (output.empty())
      continue;
    Value value =
        static_cast<size_t>(index) < results.size() ? results[index] : Value();
    if (!node.scope.values.try_emplace(output, value).second)
      error(node) << "defines `" << output
                  << "`, which is defined already; names must be unique";
  }
}

LogicalResult GraphImporter::findOpset(Node &node) {
  auto opset = node.scope.opsets->find(node.domain);
  if (opset != node.scope.opsets->end())
    node.opset = opset->second;
  else if (!node.domain.empty())
    node.opset = 1;
  else
    return failure(); // told once for the model or function
  return success();
}

/// Finds the schema and the version of the operator that the node's opset
/// means.
LogicalResult GraphImporter::findOperator(Node &node, int &version) {
  if (failed(findOpset(node)))
    return failure();
  const std::string &type = node.proto.op_type();
  if (node.domain.empty()) {
    for (int removed : removedVersions(type))
      if (removed <= node.opset) {
        version = removed;
        node.schema = onnx::findSchema("", replacementOf(type));
      }
    if (node.schema)
      return success();
  }
  node.schema = onnx::findSchema(node.domain, type);
  // Operators of com.microsoft that exporters put into the default domain.
  if (!node.schema && node.domain.empty())
    node.schema = onnx::findSchema("com.microsoft", type);
  if (!node.schema)
    return error(node) << "the operator is not known; export the model with "
                          "operators of ai.onnx, or without fusing nodes into "
                          "others";
  version = 0;
  int64_t opset = *node.schema->domain ? 1 : node.opset;
  for (const onnx::VersionStep &step : node.schema->versions)
    if (step.version <= opset)
      version = step.version;
  if (!version)
    return error(node) << "the operator came with opset "
                       << node.schema->versions.front().version
                       << ", but the model uses opset " << node.opset;
  for (const onnx::ValueSchema &input : node.schema->inputs)
    if (node.schema->allowedTypes(input) == 1u << 8)
      return error(node) << "the operator works on strings, which are not "
                            "supported; do this step outside of the model";
  if (!isComputed(onnx::operationName(*node.schema)))
    problems.errorAmongOthers(node.location,
                              problems.showsMoreOthers()
                                  ? identify(node) + ": " + notComputedText
                                  : "");
  return success();
}

/// Looks the inputs up; names that are defined nowhere go to `unknown`, and
/// those and the results of nodes that failed have no value.
void GraphImporter::gatherInputs(Node &node, SmallVector<StringRef> &unknown) {
  for (const std::string &name : node.proto.input()) {
    if (name.empty()) {
      node.inputs.push_back(createNone(node.builder, node.location));
      continue;
    }
    std::optional<Value> value = node.scope.lookup(name);
    if (!value)
      unknown.push_back(name);
    node.inputs.push_back(value ? *value : Value());
  }
}

LogicalResult GraphImporter::importKnown(Node &node) {
  SmallVector<StringRef> unknown;
  gatherInputs(node, unknown);
  const ::onnx::FunctionProto *function = findFunction(node);
  int version = 0;
  bool isConstant = node.domain.empty() && node.proto.op_type() == "Constant";
  LogicalResult isKnown =
      function ? findOpset(node) : findOperator(node, version);
  for (StringRef name : unknown)
    error(node) << "input `" << name
                << "` is defined nowhere: neither an input of the graph, nor "
                   "an initializer, nor the output of a node";
  if (failed(isKnown) || !unknown.empty())
    return failure();
  if (function)
    return inlineFunction(node, *function);
  if (isConstant)
    return importConstant(node);
  // What stands for a failed node has been complained about.
  if (llvm::is_contained(node.inputs, Value()) ||
      failed(gatherAttributes(node)))
    return failure();
  auto emit = [&]() { return error(node); };
  NodeVersion upgraded{node.proto.op_type(),
                       version,
                       node.inputs,
                       node.attributes,
                       static_cast<unsigned>(node.proto.output_size()),
                       node.builder,
                       node.location,
                       emit,
                       nullptr};
  if (!*node.schema->domain && failed(upgradeToNewest(upgraded)))
    return failure();
  return create(node, upgraded);
}

LogicalResult GraphImporter::create(Node &node, NodeVersion &version) {
  const onnx::OpSchema &schema = *node.schema;
  auto emit = [&]() { return error(node); };
  SmallVector<Value> &inputs = version.inputs;
  while (inputs.size() > schema.minInputs &&
         isa<NoneType>(inputs.back().getType()))
    inputs.pop_back();
  unsigned numResults = node.proto.output_size();
  while (numResults > schema.minOutputs &&
         node.proto.output(numResults - 1).empty())
    --numResults;
  OperationState state(node.location, onnx::operationName(schema));
  state.addOperands(inputs);
  if (failed(
          onnx::verifyOperands(schema, ValueRange(inputs).getTypes(), emit)) ||
      failed(
          onnx::verifyAttributes(schema, version.attributes.getAttrs(), emit)))
    return failure();
  if (numResults < schema.minOutputs || numResults > schema.maxOutputs)
    return error(node) << "has " << numResults << " outputs, needs "
                       << schema.minOutputs << " to " << schema.maxOutputs;
  state.attributes = version.attributes;
  if (!schema.regionNames().empty()) {
    if (failed(createWithRegions(node, state, numResults)))
      return failure();
  } else {
    state.addTypes(unrankedResultTypes(schema, numResults,
                                       ValueRange(inputs).getTypes(),
                                       version.attributes, context));
  }
  for (auto [index, type] : llvm::enumerate(state.types)) {
    bool isSkipped = node.proto.output(index).empty();
    if (isSkipped && schema.output(index)->arity == onnx::Arity::Optional)
      type = NoneType::get(context);
    else if (!type && schema.allowedTypes(*schema.output(index)) == 1u << 31)
      return error(node) << "result " << index
                         << " is a sequence or an optional value; only tensors "
                            "are supported";
    else if (!type)
      return error(node) << "result " << index
                         << " has an element type that is not supported";
  }
  Operation *op = node.builder.create(state);
  SmallVector<Value> results(op->getResults());
  if (version.finish && !results.empty())
    results[0] = version.finish(results[0]);
  define(node, results);
  return success();
}

Value GraphImporter::outputValue(const std::string &name, const Scope &scope,
                                 Location location) {
  std::optional<Value> value = scope.lookup(name);
  if (!value)
    problems.error(location)
        << "output `" << name << "` of the graph is defined nowhere";
  return value ? *value : Value();
}

} // namespace sol
