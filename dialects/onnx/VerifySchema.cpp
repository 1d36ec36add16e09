//===- VerifySchema.cpp - checks an operation against its schema ----------===//
//
// Arity, element types, attributes and regions of the operators of the table.
// Shapes and the values of attributes are left to shape inference.
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/VerifySchema.h"

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/IR/BuiltinDialect.h"

using namespace mlir;

namespace sol::onnx {
namespace {
/// Element types bound to type variables so far, with who bound them.
struct Binding {
  StringRef variable;
  Type type;
  std::string by;
};
using Bindings = SmallVector<Binding, 4>;

std::string typeList(uint32_t types) {
  std::string text;
  for (int number = 1; number < 31; ++number)
    if (types >> number & 1)
      text += (text.empty() ? "" : ", ") + elementTypeName(number).str();
  return text;
}

/// Checks one operand or result and binds its type variable.
LogicalResult checkValue(const OpSchema &schema, const ValueSchema &value,
                         Type type, StringRef kind, Bindings &bindings,
                         EmitError error) {
  if (isa<NoneType>(type)) {
    if (value.arity != Arity::Optional)
      return error() << kind << " `" << value.name << "` is missing";
    return success();
  }
  // Control flow passes on what other dialects define, such as state.
  if (value.arity == Arity::Mixed && !isa<BuiltinDialect>(type.getDialect()))
    return success();
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return error() << kind << " `" << value.name << "` has type " << type
                   << ", which is no tensor";
  Type element = tensor.getElementType();
  int number = elementTypeNumber(element);
  uint32_t allowed = schema.allowedTypes(value);
  if (!number || !(allowed >> number & 1))
    return error() << kind << " `" << value.name << "` has element type "
                   << element << "; allowed are " << typeList(allowed);
  StringRef variable = value.type;
  if (value.arity == Arity::Mixed || variable.contains('|'))
    return success();
  for (const Binding &bound : bindings)
    if (bound.variable == variable && bound.type != element)
      return error() << kind << " `" << value.name << "` has element type "
                     << element << ", but " << bound.by << " has " << bound.type
                     << " and both must be the same";
  bindings.push_back(
      {variable, element, (kind + " `" + value.name + "`").str()});
  return success();
}

LogicalResult checkCount(StringRef what, size_t count, unsigned least,
                         unsigned most, EmitError error) {
  if (count >= least && count <= most)
    return success();
  auto diagnostic = error() << "has " << count << " " << what
                            << (count == 1 ? "" : "s") << ", needs ";
  if (least == most)
    diagnostic << least;
  else if (count < least)
    diagnostic << "at least " << least;
  else
    diagnostic << "at most " << most;
  return diagnostic;
}

bool hasKind(Attribute attribute, AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Float: {
    auto value = dyn_cast<FloatAttr>(attribute);
    return value && value.getType().isF32();
  }
  case AttributeKind::Int: {
    auto value = dyn_cast<IntegerAttr>(attribute);
    return value && value.getType().isSignlessInteger(64);
  }
  case AttributeKind::String:
    return isa<StringAttr>(attribute);
  case AttributeKind::Tensor:
    return isa<ElementsAttr>(attribute);
  case AttributeKind::Floats:
    return isa<DenseF32ArrayAttr>(attribute);
  case AttributeKind::Ints:
    return isa<DenseI64ArrayAttr>(attribute);
  case AttributeKind::Strings: {
    auto array = dyn_cast<ArrayAttr>(attribute);
    return array && llvm::all_of(array, llvm::IsaPred<StringAttr>);
  }
  default:
    return false;
  }
}

StringRef kindName(AttributeKind kind) {
  static constexpr StringLiteral names[] = {
      "nothing", "a float",         "an integer",     "a string", "a tensor",
      "a graph", "floats",          "integers",       "strings",  "tensors",
      "graphs",  "a sparse tensor", "sparse tensors", "a type",   "types"};
  return names[static_cast<unsigned>(kind)];
}

LogicalResult checkOperands(const OpSchema &schema, TypeRange operands,
                            Bindings &bindings, EmitError error) {
  if (failed(checkCount("input", operands.size(), schema.minInputs,
                        schema.maxInputs, error)))
    return failure();
  for (auto [index, type] : llvm::enumerate(operands))
    if (failed(checkValue(schema, *schema.input(index), type, "input", bindings,
                          error)))
      return failure();
  return success();
}
} // namespace

LogicalResult verifyOperands(const OpSchema &schema, TypeRange operands,
                             EmitError error) {
  Bindings bindings;
  return checkOperands(schema, operands, bindings, error);
}

LogicalResult verifyAttributes(const OpSchema &schema,
                               ArrayRef<NamedAttribute> given,
                               EmitError error) {
  for (NamedAttribute attribute : given) {
    StringRef name = attribute.getName();
    if (name.contains('.'))
      continue;
    const AttributeSchema *known = schema.attribute(name);
    if (!known)
      return error() << "has an attribute `" << name << "` that `"
                     << schema.name << "` does not know";
    if (!hasKind(attribute.getValue(), known->kind))
      return error() << "attribute `" << name << "` must be "
                     << kindName(known->kind) << ", got "
                     << attribute.getValue();
  }
  for (const AttributeSchema &known : schema.attributes) {
    bool isGiven = llvm::any_of(given, [&](NamedAttribute attribute) {
      return attribute.getName() == known.name;
    });
    if (known.required && !isGiven && known.kind != AttributeKind::Graph)
      return error() << "lacks the attribute `" << known.name << "` ("
                     << kindName(known.kind) << ")";
  }
  return success();
}

LogicalResult verifySchema(Operation *op, const OpSchema &schema) {
  auto error = [&]() -> InFlightDiagnostic { return op->emitOpError(); };
  Bindings bindings;
  if (failed(checkOperands(schema, op->getOperandTypes(), bindings, error)) ||
      failed(checkCount("result", op->getNumResults(), schema.minOutputs,
                        schema.maxOutputs, error)))
    return failure();
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(checkValue(schema, *schema.output(index), type, "result",
                          bindings, error)))
      return failure();
  return verifyAttributes(schema, op->getAttrs(), error);
}

LogicalResult verifyRegions(Operation *op, const OpSchema &schema) {
  size_t expected = schema.regionNames().size();
  if (op->getNumRegions() != expected)
    return op->emitOpError("has ")
           << op->getNumRegions() << " regions, needs " << expected;
  for (auto [name, region] :
       llvm::zip(schema.regionNames(), op->getRegions())) {
    if (!region.hasOneBlock() || region.front().empty() ||
        !isa<YieldOp>(region.front().back()))
      return op->emitOpError("region `")
             << name << "` must be one block that ends in `onnx.yield`";
  }
  return success();
}

} // namespace sol::onnx
