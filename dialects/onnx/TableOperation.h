//===- TableOperation.h - an operation made from a schema -----------------===//
//
// What MLIR asks of a kind of operation, answered from the table.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_ONNX_TABLEOPERATION_H
#define SOL_DIALECTS_ONNX_TABLEOPERATION_H

#include "dialects/onnx/OnnxSchema.h"

#include "mlir/IR/OperationSupport.h"

namespace sol::onnx {

/// One operator as a kind of operation. It has no properties: its attributes
/// are all in the dictionary. (MLIR's own operations defined at run time, of
/// ExtensibleDialect, never compare equal, so that common subexpressions of
/// them would stay.)
class TableOperation : private mlir::SelfOwningTypeID,
                       public mlir::OperationName::Impl {
public:
  TableOperation(const OpSchema &schema, mlir::Dialect *dialect)
      : Impl(operationName(schema), dialect, getTypeID(), {}), schema(schema) {}

  mlir::LogicalResult
  foldHook(mlir::Operation *, llvm::ArrayRef<mlir::Attribute>,
           llvm::SmallVectorImpl<mlir::OpFoldResult> &) final {
    return mlir::failure();
  }
  void getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                   mlir::MLIRContext *) final {}
  bool hasTrait(mlir::TypeID trait) final;
  mlir::OperationName::ParseAssemblyFn getParseAssemblyFn() final;
  void populateDefaultAttrs(const mlir::OperationName &,
                            mlir::NamedAttrList &) final {}
  void printAssembly(mlir::Operation *op, mlir::OpAsmPrinter &printer,
                     llvm::StringRef) final;
  mlir::LogicalResult verifyInvariants(mlir::Operation *op) final;
  mlir::LogicalResult verifyRegionInvariants(mlir::Operation *op) final;

  std::optional<mlir::Attribute> getInherentAttr(mlir::Operation *,
                                                 llvm::StringRef) final {
    return std::nullopt;
  }
  void setInherentAttr(mlir::Operation *op, mlir::StringAttr name,
                       mlir::Attribute value) final;
  void populateInherentAttrs(mlir::Operation *, mlir::NamedAttrList &) final {}
  mlir::LogicalResult
  verifyInherentAttrs(mlir::OperationName, mlir::NamedAttrList &,
                      llvm::function_ref<mlir::InFlightDiagnostic()>) final {
    return mlir::success();
  }
  int getOpPropertyByteSize() final { return 0; }
  void initProperties(mlir::OperationName, mlir::OpaqueProperties,
                      mlir::OpaqueProperties) final {}
  void deleteProperties(mlir::OpaqueProperties) final {}
  void populateDefaultProperties(mlir::OperationName,
                                 mlir::OpaqueProperties) final {}
  mlir::LogicalResult setPropertiesFromAttr(
      mlir::OperationName, mlir::OpaqueProperties, mlir::Attribute,
      llvm::function_ref<mlir::InFlightDiagnostic()> error) final;
  mlir::Attribute getPropertiesAsAttr(mlir::Operation *) final { return {}; }
  void copyProperties(mlir::OpaqueProperties, mlir::OpaqueProperties) final {}
  bool compareProperties(mlir::OpaqueProperties, mlir::OpaqueProperties) final {
    return true;
  }
  llvm::hash_code hashProperties(mlir::OpaqueProperties) final { return {}; }

private:
  using SelfOwningTypeID::getTypeID;

  const OpSchema &schema;
};

} // namespace sol::onnx

#endif // SOL_DIALECTS_ONNX_TABLEOPERATION_H
