//===- OnnxSchema.cpp - what is known about each ONNX operator ------------===//
//
// The generated table and the look-ups in it.
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/OnnxSchema.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sol::onnx {
namespace {
#include "dialects/onnx/OnnxTable.inc"

constexpr llvm::StringLiteral microsoftPrefix = "onnx.microsoft.";
constexpr llvm::StringLiteral defaultPrefix = "onnx.";

/// Schemas by operation name.
const llvm::StringMap<const OpSchema *> &schemasByOperation() {
  static const llvm::StringMap<const OpSchema *> map = [] {
    llvm::StringMap<const OpSchema *> result;
    for (const OpSchema &schema : opSchemas)
      result[operationName(schema)] = &schema;
    return result;
  }();
  return map;
}

const ValueSchema *valueAt(ArrayRef<ValueSchema> values, unsigned index) {
  if (index < values.size())
    return &values[index];
  if (!values.empty() && values.back().arity >= Arity::Variadic)
    return &values.back();
  return nullptr;
}
} // namespace

const ValueSchema *OpSchema::input(unsigned index) const {
  return valueAt(inputs, index);
}

const ValueSchema *OpSchema::output(unsigned index) const {
  return valueAt(outputs, index);
}

const AttributeSchema *OpSchema::attribute(StringRef attributeName) const {
  for (const AttributeSchema &schema : attributes)
    if (attributeName == schema.name)
      return &schema;
  return nullptr;
}

SmallVector<StringRef, 2> OpSchema::regionNames() const {
  SmallVector<StringRef, 2> names;
  for (const AttributeSchema &schema : llvm::reverse(attributes))
    if (schema.kind == AttributeKind::Graph)
      names.push_back(schema.name);
  return names;
}

uint32_t OpSchema::allowedTypes(const ValueSchema &value) const {
  StringRef text = value.type;
  unsigned number;
  if (!text.getAsInteger(10, number))
    return 1u << number;
  for (const TypeVariable &variable : types)
    if (text == variable.name)
      return variable.types;
  return ~0u; // alternatives: each is checked by whatever gives it
}

int newestOpset() { return newestOpsetVersion; }

ArrayRef<OpSchema> allSchemas() { return opSchemas; }

const OpSchema *findSchema(StringRef domain, StringRef name) {
  if (!domain.empty() && domain != "com.microsoft")
    return nullptr;
  StringRef prefix = domain.empty() ? defaultPrefix : microsoftPrefix;
  return schemasByOperation().lookup((prefix + name).str());
}

const OpSchema *findSchema(OperationName name) {
  return schemasByOperation().lookup(name.getStringRef());
}

std::string operationName(const OpSchema &schema) {
  StringRef prefix = *schema.domain ? microsoftPrefix : defaultPrefix;
  return (prefix + schema.name).str();
}

Attribute defaultAttribute(const AttributeSchema &schema,
                           MLIRContext *context) {
  if (!schema.defaultValue)
    return {};
  StringRef text = schema.defaultValue;
  Builder builder(context);
  SmallVector<StringRef> items;
  if (!text.empty())
    text.split(items, ',');
  auto toInt = [](StringRef item) {
    int64_t value = 0;
    return item.getAsInteger(10, value) ? int64_t(0) : value;
  };
  auto toFloat = [](StringRef item) {
    double value = 0;
    return item.getAsDouble(value) ? 0.0f : static_cast<float>(value);
  };
  switch (schema.kind) {
  case AttributeKind::Float:
    return builder.getF32FloatAttr(toFloat(text));
  case AttributeKind::Int:
    return builder.getI64IntegerAttr(toInt(text));
  case AttributeKind::String:
    return builder.getStringAttr(text);
  case AttributeKind::Ints:
    return builder.getDenseI64ArrayAttr(llvm::map_to_vector(items, toInt));
  case AttributeKind::Floats:
    return builder.getDenseF32ArrayAttr(llvm::map_to_vector(items, toFloat));
  case AttributeKind::Strings:
    return builder.getStrArrayAttr(items);
  default:
    return {};
  }
}

Attribute attributeOrDefault(Operation *op, StringRef name) {
  if (Attribute attribute = op->getAttr(name))
    return attribute;
  const OpSchema *schema = findSchema(op->getName());
  const AttributeSchema *attribute = schema ? schema->attribute(name) : nullptr;
  return attribute ? defaultAttribute(*attribute, op->getContext())
                   : Attribute();
}

namespace {
/// An element type, its ONNX name and how MLIR writes it.
struct ElementTypeRow {
  int number;
  const char *name;
  Type (*make)(MLIRContext *);
};

template <unsigned width, IntegerType::SignednessSemantics sign>
Type makeInteger(MLIRContext *context) {
  return IntegerType::get(context, width, sign);
}

template <typename T> Type makeFloat(MLIRContext *context) {
  return T::get(context);
}

template <typename T> Type makeComplex(MLIRContext *context) {
  return ComplexType::get(T::get(context));
}

constexpr auto isSignless = IntegerType::Signless;
constexpr auto isUnsigned = IntegerType::Unsigned;

constexpr ElementTypeRow elementTypes[] = {
    {1, "float32", makeFloat<Float32Type>},
    {2, "uint8", makeInteger<8, isUnsigned>},
    {3, "int8", makeInteger<8, isSignless>},
    {4, "uint16", makeInteger<16, isUnsigned>},
    {5, "int16", makeInteger<16, isSignless>},
    {6, "int32", makeInteger<32, isSignless>},
    {7, "int64", makeInteger<64, isSignless>},
    {8, "string", nullptr},
    {9, "bool", makeInteger<1, isSignless>},
    {10, "float16", makeFloat<Float16Type>},
    {11, "float64", makeFloat<Float64Type>},
    {12, "uint32", makeInteger<32, isUnsigned>},
    {13, "uint64", makeInteger<64, isUnsigned>},
    {14, "complex64", makeComplex<Float32Type>},
    {15, "complex128", makeComplex<Float64Type>},
    {16, "bfloat16", makeFloat<BFloat16Type>},
    {17, "float8e4m3fn", makeFloat<Float8E4M3FNType>},
    {18, "float8e4m3fnuz", makeFloat<Float8E4M3FNUZType>},
    {19, "float8e5m2", makeFloat<Float8E5M2Type>},
    {20, "float8e5m2fnuz", makeFloat<Float8E5M2FNUZType>},
    {21, "uint4", makeInteger<4, isUnsigned>},
    {22, "int4", makeInteger<4, isSignless>},
    {23, "float4e2m1", makeFloat<Float4E2M1FNType>},
    {24, "float8e8m0", makeFloat<Float8E8M0FNUType>},
    {25, "uint2", makeInteger<2, isUnsigned>},
    {26, "int2", makeInteger<2, isSignless>},
    {27, "float6e2m3", nullptr},
    {28, "float6e3m2", nullptr},
};
} // namespace

Type elementType(int number, MLIRContext *context) {
  for (const ElementTypeRow &row : elementTypes)
    if (row.number == number)
      return row.make ? row.make(context) : Type();
  return {};
}

int elementTypeNumber(Type type) {
  if (!type)
    return 0;
  for (const ElementTypeRow &row : elementTypes)
    if (row.make && row.make(type.getContext()) == type)
      return row.number;
  return 0;
}

StringRef elementTypeName(int number) {
  for (const ElementTypeRow &row : elementTypes)
    if (row.number == number)
      return row.name;
  return "";
}

namespace {
/// Element type of the first operand bound to the type variable, null if none
/// is.
Type boundType(const OpSchema &schema, StringRef variable, TypeRange operands) {
  for (auto [index, type] : llvm::enumerate(operands)) {
    const ValueSchema *value = schema.input(index);
    auto tensor = dyn_cast<TensorType>(type);
    if (value && tensor && variable == value->type)
      return tensor.getElementType();
  }
  return {};
}

/// Value of an integer attribute or of its default, if either is there.
std::optional<int64_t> integerOrDefault(const OpSchema &schema, StringRef name,
                                        const NamedAttrList &attributes,
                                        MLIRContext *context) {
  Attribute found = attributes.get(name);
  const AttributeSchema *attribute = schema.attribute(name);
  if (!found && attribute)
    found = defaultAttribute(*attribute, context);
  auto integer = dyn_cast_or_null<IntegerAttr>(found);
  if (!integer)
    return std::nullopt;
  return integer.getInt();
}
} // namespace

Type resultElementType(const OpSchema &schema, unsigned index,
                       TypeRange operands, const NamedAttrList &attributes,
                       MLIRContext *context) {
  const ValueSchema *value = schema.output(index);
  if (!value)
    return {};
  SmallVector<StringRef> alternatives;
  StringRef(value->type).split(alternatives, '|');
  for (StringRef rule : alternatives) {
    int number;
    if (!rule.getAsInteger(10, number))
      return elementType(number, context);
    if (rule.consume_front("@")) {
      auto given = integerOrDefault(schema, rule, attributes, context);
      if (given && *given > 0 && *given < 32)
        return elementType(static_cast<int>(*given), context);
    } else if (rule.consume_front("#")) {
      if (auto tensor = dyn_cast_or_null<ElementsAttr>(attributes.get(rule)))
        return tensor.getElementType();
    } else if (Type bound = boundType(schema, rule, operands)) {
      return bound;
    }
  }
  return {};
}

} // namespace sol::onnx
