//===- TableOperation.cpp - an operation made from a schema ---------------===//
//
// Printing is generic: operators have too many attributes of their own for a
// better form to pay.
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/TableOperation.h"

#include "dialects/onnx/VerifySchema.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sol::onnx {

/// An operator with graphs does what they do.
bool TableOperation::hasTrait(TypeID trait) {
  return trait == TypeID::get<OpTrait::HasRecursiveMemoryEffects>() &&
         !schema.regionNames().empty();
}

OperationName::ParseAssemblyFn TableOperation::getParseAssemblyFn() {
  return [](OpAsmParser &parser, OperationState &) -> ParseResult {
    return parser.emitError(parser.getNameLoc(),
                            "an ONNX operator is written in the generic form, "
                            "with its name in quotes");
  };
}

void TableOperation::printAssembly(Operation *op, OpAsmPrinter &printer,
                                   StringRef) {
  printer.printGenericOp(op, /*printOpName=*/true);
}

LogicalResult TableOperation::verifyInvariants(Operation *op) {
  return verifySchema(op, schema);
}

LogicalResult TableOperation::verifyRegionInvariants(Operation *op) {
  return verifyRegions(op, schema);
}

void TableOperation::setInherentAttr(Operation *op, StringAttr name,
                                     Attribute value) {
  op->setDiscardableAttr(name, value);
}

LogicalResult TableOperation::setPropertiesFromAttr(
    OperationName, OpaqueProperties, Attribute,
    llvm::function_ref<InFlightDiagnostic()> error) {
  return error() << "an ONNX operator has no properties; write its attributes "
                    "in braces";
}

} // namespace sol::onnx
