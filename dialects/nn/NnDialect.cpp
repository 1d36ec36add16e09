//===- NnDialect.cpp - the dialect that says what is computed -------------===//
//
// Registration, verifiers and folders of the nn dialect.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NnDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sol::nn;

#include "dialects/nn/NnDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/nn/NnAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/nn/NnTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnOps.cpp.inc"

void NnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/nn/NnAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/nn/NnTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnOps.cpp.inc"
      >();
}

/// `<"file", offset, length, raw|proto, hash>`.
Attribute SpanAttr::parse(AsmParser &parser, Type) {
  std::string file;
  int64_t offset = 0, length = 0;
  uint64_t hash = 0;
  StringRef encoding;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&file) || parser.parseComma() ||
      parser.parseInteger(offset) || parser.parseComma() ||
      parser.parseInteger(length) || parser.parseComma() ||
      parser.parseKeyword(&encoding) || parser.parseComma() ||
      parser.parseInteger(hash) || parser.parseGreater())
    return {};
  if (encoding != "raw" && encoding != "proto") {
    parser.emitError(where, "span encoding must be `raw` or `proto`, got `")
        << encoding << "`";
    return {};
  }
  MLIRContext *context = parser.getContext();
  return SpanAttr::get(context, StringAttr::get(context, file), offset, length,
                       encoding == "proto", hash);
}

void SpanAttr::print(AsmPrinter &printer) const {
  printer << "<" << getFile() << ", " << getOffset() << ", " << getLength()
          << ", " << (getIsProto() ? "proto" : "raw") << ", " << getHash()
          << ">";
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

/// The type may carry symbolic sizes that the value's type lacks, nothing else.
LogicalResult ConstantOp::verify() {
  auto value = cast<ShapedType>(getValue().getType());
  auto type = cast<ShapedType>(getType());
  if (value.getShape() != type.getShape() ||
      value.getElementType() != type.getElementType())
    return emitOpError("has a value of type ")
           << value << " but a result of type " << type;
  return success();
}

LogicalResult WeightOp::verify() {
  if (getSpan().getOffset() < 0 || getSpan().getLength() < 0)
    return emitOpError("has a span at ")
           << getSpan().getOffset() << " of " << getSpan().getLength()
           << " bytes; neither may be negative";
  return success();
}

LogicalResult FoldedOp::verify() {
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getNumOperands() != 1 ||
      yield.getOperand(0).getType() != getType())
    return emitOpError("must end by yielding one value of type ") << getType();
  return success();
}

/// Lets folding make constants of this dialect.
Operation *NnDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  if (auto elements = dyn_cast<ElementsAttr>(value))
    return ConstantOp::create(builder, loc, type, elements);
  return nullptr;
}
