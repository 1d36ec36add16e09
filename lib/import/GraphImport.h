//===- GraphImport.h - nodes of a model as operations ---------------------===//
//
// Walks the graphs and functions of a parsed model. Knows no operator by name
// but Constant and those with graphs inside; everything else goes by the table.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_GRAPHIMPORT_H
#define SOL_LIB_IMPORT_GRAPHIMPORT_H

#include "lib/import/NodeOrder.h"
#include "lib/import/Problems.h"
#include "lib/import/Scope.h"
#include "lib/import/TensorImport.h"
#include "lib/import/upgrade/Upgrade.h"

#include "mlir/IR/Builders.h"

namespace sol {

/// Imports the graphs of one model.
class GraphImporter {
public:
  GraphImporter(const ::onnx::ModelProto &model, TensorImporter &tensors,
                Problems &problems, mlir::MLIRContext *context);

  /// Emits a graph's initializers and nodes at the builder; results and
  /// initializers are bound in `scope`, where the inputs must be already.
  /// Errors go to the problems.
  void importBody(const ::onnx::GraphProto &graph, Scope &scope,
                  mlir::OpBuilder &builder);

  /// The value of a graph's output; null, after an error, if there is none.
  mlir::Value outputValue(const std::string &name, const Scope &scope,
                          mlir::Location location);

private:
  /// A node while it is imported.
  struct Node {
    const ::onnx::NodeProto &proto;
    Scope &scope;
    mlir::OpBuilder &builder;
    mlir::Location location;
    std::string name;   ///< with the prefix of the calls that led here
    std::string domain; ///< "" for the default one
    int64_t opset = 0;
    llvm::SmallVector<mlir::Value> inputs;
    mlir::NamedAttrList attributes;
    std::vector<const ::onnx::AttributeProto *> graphs;
    const onnx::OpSchema *schema = nullptr;
  };

  void importNodes(const Nodes &nodes, Scope &scope, mlir::OpBuilder &builder);
  void reportCycles(const NodeOrder &order, const Nodes &nodes,
                    const Scope &scope);
  void importNode(const ::onnx::NodeProto &proto, int index, Scope &scope,
                  mlir::OpBuilder &builder);
  mlir::LogicalResult importKnown(Node &node);
  mlir::LogicalResult findOperator(Node &node, int &version);
  mlir::LogicalResult findOpset(Node &node);
  void gatherInputs(Node &node, llvm::SmallVector<llvm::StringRef> &unknown);
  mlir::LogicalResult create(Node &node, NodeVersion &version);
  mlir::LogicalResult importConstant(Node &node);
  const ::onnx::AttributeProto *findConstantValue(Node &node);
  void define(Node &node, llvm::ArrayRef<mlir::Value> results);
  mlir::InFlightDiagnostic error(const Node &node);
  std::string identify(const Node &node);

  // Attributes (AttributeImport.cpp).
  mlir::LogicalResult gatherAttributes(Node &node);
  mlir::FailureOr<mlir::Attribute>
  convertAttribute(Node &node, const ::onnx::AttributeProto &proto);

  // Functions (FunctionInlining.cpp).
  const ::onnx::FunctionProto *findFunction(const Node &node) const;
  mlir::LogicalResult inlineFunction(Node &node,
                                     const ::onnx::FunctionProto &function);

  // Graphs inside operators (ControlFlow.cpp).
  mlir::LogicalResult createWithRegions(Node &node, mlir::OperationState &state,
                                        unsigned numResults);
  mlir::FailureOr<std::unique_ptr<mlir::Region>>
  importRegion(Node &node, const ::onnx::GraphProto &graph,
               llvm::ArrayRef<mlir::Type> arguments);
  mlir::LogicalResult typesOfIf(Node &node, mlir::OperationState &state,
                                unsigned numResults);
  mlir::LogicalResult typesOfLoop(Node &node, mlir::OperationState &state,
                                  unsigned numResults);
  mlir::LogicalResult typesOfScan(Node &node, mlir::OperationState &state,
                                  unsigned numResults);
  mlir::LogicalResult carriedTypes(Node &node, mlir::TypeRange carried,
                                   mlir::TypeRange yielded,
                                   mlir::OperationState &state,
                                   unsigned numResults);

  TensorImporter &tensors;
  Problems &problems;
  mlir::MLIRContext *context;
  std::map<std::string, const ::onnx::FunctionProto *> functions;
  std::vector<const ::onnx::FunctionProto *> calls; ///< being inlined
  uint64_t nodeCount = 0;                           ///< of functions' bodies
};

/// Key of a function or call: domain, name, overload.
std::string functionKey(llvm::StringRef domain, llvm::StringRef name,
                        llvm::StringRef overload);

/// The default domain's two spellings as one: "".
std::string normalizedDomain(const std::string &domain);

/// Reads a list of opset imports; says what is wrong with it.
mlir::LogicalResult
readOpsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>
               &imports,
           Opsets &opsets, EmitError error);

} // namespace sol

#endif // SOL_LIB_IMPORT_GRAPHIMPORT_H
