//===- ControlFlow.cpp - operators with graphs inside ---------------------===//
//
// Graphs become regions that use values from around them directly. Results have
// the element types of what the regions yield; shapes are left open, because
// branches and iterations may differ in them.
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/OnnxDialect.h"
#include "lib/import/GraphImport.h"
#include "lib/import/OpCreation.h"

using namespace mlir;

namespace sol {
namespace {
/// The same element type without a shape; null if it is no tensor.
Type unranked(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor ? UnrankedTensorType::get(tensor.getElementType()) : Type();
}

Operation::operand_range yieldedValues(Region &region) {
  return region.front().getTerminator()->getOperands();
}
} // namespace

FailureOr<std::unique_ptr<Region>>
GraphImporter::importRegion(Node &node, const ::onnx::GraphProto &graph,
                            ArrayRef<Type> arguments) {
  auto region = std::make_unique<Region>();
  Block *block = new Block();
  region->push_back(block);
  if (static_cast<size_t>(graph.input_size()) != arguments.size())
    return error(node) << "the graph `" << graph.name() << "` has "
                       << graph.input_size() << " inputs, needs "
                       << arguments.size();
  Scope scope = node.scope.inner();
  for (auto [type, input] : llvm::zip(arguments, graph.input())) {
    Value argument = block->addArgument(
        type, NameLoc::get(StringAttr::get(context, input.name())));
    if (!scope.values.try_emplace(input.name(), argument).second)
      return error(node) << "the graph `" << graph.name()
                         << "` has two inputs of the name `" << input.name()
                         << "`";
  }
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(block);
  importBody(graph, scope, builder);
  SmallVector<Value> yielded;
  for (const auto &output : graph.output()) {
    Value value = outputValue(output.name(), scope, node.location);
    if (!value)
      return failure();
    yielded.push_back(value);
  }
  onnx::YieldOp::create(builder, node.location, yielded);
  return region;
}

LogicalResult GraphImporter::createWithRegions(Node &node,
                                               OperationState &state,
                                               unsigned numResults) {
  for (const auto *graph : node.graphs)
    if (!llvm::is_contained(node.schema->regionNames(),
                            StringRef(graph->name())))
      return error(node) << "has an attribute `" << graph->name() << "` that `"
                         << node.schema->name << "` does not know";
  StringRef name = node.schema->name;
  if (name == "If")
    return typesOfIf(node, state, numResults);
  if (name == "Loop")
    return typesOfLoop(node, state, numResults);
  if (name == "Scan")
    return typesOfScan(node, state, numResults);
  return error(node) << "the operator is not supported";
}

LogicalResult GraphImporter::typesOfIf(Node &node, OperationState &state,
                                       unsigned numResults) {
  for (StringRef name : node.schema->regionNames()) {
    auto found = llvm::find_if(
        node.graphs, [&](const auto *graph) { return graph->name() == name; });
    if (found == node.graphs.end())
      return error(node) << "lacks the graph `" << name << "`";
    auto region = importRegion(node, (*found)->g(), {});
    if (failed(region))
      return failure();
    if (yieldedValues(**region).size() != numResults)
      return error(node) << "has " << numResults << " outputs, but its graph `"
                         << name << "` gives "
                         << yieldedValues(**region).size();
    state.addRegion(std::move(*region));
  }
  for (unsigned index = 0; index < numResults; ++index) {
    Type type = unranked(yieldedValues(*state.regions[0])[index].getType());
    Type other = unranked(yieldedValues(*state.regions[1])[index].getType());
    if (!type || type != other)
      return error(node) << "output " << index << " has the type "
                         << yieldedValues(*state.regions[0])[index].getType()
                         << " in one branch and "
                         << yieldedValues(*state.regions[1])[index].getType()
                         << " in the other; the element types must be equal";
    state.addTypes(type);
  }
  return success();
}

/// Result types: the carried ones, which must stay as they are, then the
/// others.
LogicalResult GraphImporter::carriedTypes(Node &node, TypeRange carried,
                                          TypeRange yielded,
                                          OperationState &state,
                                          unsigned numResults) {
  if (yielded.size() != numResults || yielded.size() < carried.size())
    return error(node) << "has " << numResults
                       << " outputs, but its graph gives " << yielded.size();
  for (auto [index, type] : llvm::enumerate(yielded)) {
    Type result = unranked(type);
    if (!result)
      return error(node) << "output " << index << " has the type " << type
                         << ", which is no tensor";
    if (index < carried.size() && result != carried[index])
      return error(node) << "carries " << carried[index]
                         << ", but its graph gives " << type << " for it";
    state.addTypes(result);
  }
  return success();
}

LogicalResult GraphImporter::typesOfLoop(Node &node, OperationState &state,
                                         unsigned numResults) {
  if (node.graphs.size() != 1)
    return error(node) << "needs one graph, `body`";
  SmallVector<Type> arguments{
      RankedTensorType::get({}, IntegerType::get(context, 64)),
      RankedTensorType::get({}, IntegerType::get(context, 1))};
  SmallVector<Type> carried;
  for (Value value : ArrayRef(state.operands).drop_front(2)) {
    Type type = unranked(value.getType());
    if (!type)
      return error(node) << "carries a value of type " << value.getType()
                         << ", which is no tensor";
    carried.push_back(type);
  }
  llvm::append_range(arguments, carried);
  auto region = importRegion(node, node.graphs[0]->g(), arguments);
  if (failed(region))
    return failure();
  auto yielded = yieldedValues(**region);
  if (yielded.empty())
    return error(node) << "has a graph without outputs; the first must say "
                          "whether to go on";
  SmallVector<Type> types(yielded.drop_front().getTypes());
  state.addRegion(std::move(*region));
  return carriedTypes(node, carried, types, state, numResults);
}

LogicalResult GraphImporter::typesOfScan(Node &node, OperationState &state,
                                         unsigned numResults) {
  auto count =
      dyn_cast_or_null<IntegerAttr>(state.attributes.get("num_scan_inputs"));
  auto total = static_cast<int64_t>(state.operands.size());
  if (node.graphs.size() != 1 || !count || count.getInt() < 1 ||
      count.getInt() > total)
    return error(node) << "needs one graph, `body`, and num_scan_inputs from 1 "
                          "to the number of inputs";
  SmallVector<Type> arguments;
  for (Value value : state.operands)
    arguments.push_back(unranked(value.getType()));
  if (llvm::is_contained(arguments, Type()))
    return error(node) << "has an input that is no tensor";
  auto region = importRegion(node, node.graphs[0]->g(), arguments);
  if (failed(region))
    return failure();
  SmallVector<Type> types(yieldedValues(**region).getTypes());
  state.addRegion(std::move(*region));
  ArrayRef<Type> carried =
      ArrayRef(arguments).take_front(total - count.getInt());
  return carriedTypes(node, carried, types, state, numResults);
}

} // namespace sol
