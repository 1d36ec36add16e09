//===- OnnxSchema.h - what is known about each ONNX operator --------------===//
//
// The table of operator schemas: operands, results, attributes with defaults,
// element types, versions, purity. Everything that handles operators without
// knowing them by name (importer, verifier, later stages that need a default)
// looks here.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_ONNX_ONNXSCHEMA_H
#define SOL_DIALECTS_ONNX_ONNXSCHEMA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace sol::onnx {

/// How many values a formal operand or result stands for. `Variadic` and
/// `Mixed` are last; the values of a `Mixed` one may have different element
/// types.
enum class Arity : uint8_t { Single, Optional, Variadic, Mixed };

/// Kinds of attributes, numbered as AttributeProto.AttributeType.
enum class AttributeKind : uint8_t {
  Float = 1,
  Int,
  String,
  Tensor,
  Graph,
  Floats,
  Ints,
  Strings,
  Tensors,
  Graphs,
  SparseTensor,
  SparseTensors,
  TypeProto,
  TypeProtos
};

/// A formal operand or result. `type` is a type variable or the number of an
/// element type; for results also alternatives divided by `|`, of which the
/// first that is there counts: `@a` is the type whose number attribute `a`
/// holds,
/// `#a` the type of the tensor in attribute `a`.
struct ValueSchema {
  const char *name;
  const char *type;
  Arity arity;
};

/// `defaultValue` is the text of the default, lists divided by commas; null if
/// there is none.
struct AttributeSchema {
  const char *name;
  AttributeKind kind;
  bool required;
  const char *defaultValue;
};

/// Element types that a type variable may stand for: bit n is the type of
/// number n in TensorProto.DataType, bit 31 sequences and other things that are
/// no tensors.
struct TypeVariable {
  const char *name;
  uint32_t types;
};

/// `changed` says that nodes of the version before mean something else, or have
/// another form.
struct VersionStep {
  int version;
  bool changed;
};

/// One operator in its newest version.
struct OpSchema {
  const char *domain; // "" or "com.microsoft"
  const char *name;
  llvm::ArrayRef<VersionStep> versions; // ascending
  llvm::ArrayRef<ValueSchema> inputs;
  llvm::ArrayRef<ValueSchema> outputs;
  llvm::ArrayRef<AttributeSchema> attributes; // by name
  llvm::ArrayRef<TypeVariable> types;
  unsigned minInputs, maxInputs, minOutputs, maxOutputs;
  bool isPure;

  /// Newest version of this operator.
  int newestVersion() const { return versions.back().version; }
  /// Schema of the i-th operand or result, null if there are not that many.
  const ValueSchema *input(unsigned index) const;
  const ValueSchema *output(unsigned index) const;
  /// Schema of an attribute, null if there is none of that name.
  const AttributeSchema *attribute(llvm::StringRef attributeName) const;
  /// Names of the attributes that hold graphs, in the order of the regions: an
  /// `If` has then_branch, else_branch.
  llvm::SmallVector<llvm::StringRef, 2> regionNames() const;
  /// Bits of the element types allowed for a formal value; see TypeVariable.
  uint32_t allowedTypes(const ValueSchema &value) const;
};

/// Newest version of the default domain in the table.
int newestOpset();
/// Every operator of the table.
llvm::ArrayRef<OpSchema> allSchemas();
/// The operator `name` of `domain` ("" or "com.microsoft"); null if unknown.
const OpSchema *findSchema(llvm::StringRef domain, llvm::StringRef name);
/// The operator of an operation name such as `onnx.Add`, null if it is not one.
const OpSchema *findSchema(mlir::OperationName name);
/// Name of the operator's operation: `onnx.Add`, `onnx.microsoft.QMoE`.
std::string operationName(const OpSchema &schema);

/// The default of an attribute in its IR form, null if there is none.
mlir::Attribute defaultAttribute(const AttributeSchema &schema,
                                 mlir::MLIRContext *context);
/// The attribute of an ONNX operation, or its default; null if neither is
/// there.
mlir::Attribute attributeOrDefault(mlir::Operation *op, llvm::StringRef name);

/// Type whose number in TensorProto.DataType is `number`; null for strings and
/// for numbers that are no element type here.
mlir::Type elementType(int number, mlir::MLIRContext *context);
/// The inverse of elementType; 0 if `type` has no number.
int elementTypeNumber(mlir::Type type);
/// ONNX's name for an element type, e.g. "float16"; "" if there is none.
llvm::StringRef elementTypeName(int number);

/// Element type of result `index` of an operation with these operand types and
/// attributes; null if the table's rule gives none.
mlir::Type resultElementType(const OpSchema &schema, unsigned index,
                             mlir::TypeRange operands,
                             const mlir::NamedAttrList &attributes,
                             mlir::MLIRContext *context);

} // namespace sol::onnx

#endif // SOL_DIALECTS_ONNX_ONNXSCHEMA_H
