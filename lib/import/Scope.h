//===- Scope.h - names that a node can see --------------------------------===//
//
// Values by their ONNX names, in graphs inside graphs and in functions.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_SCOPE_H
#define SOL_LIB_IMPORT_SCOPE_H

#include "lib/import/onnx.pb.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>
#include <string>

namespace sol {

/// Opset versions by domain; the default domain is "".
using Opsets = llvm::StringMap<int64_t>;
/// Attributes of a function call, by name; what `ref_attr_name` refers to.
using CallAttributes = std::map<std::string, ::onnx::AttributeProto>;

/// The names of one graph or function body. A null value is one whose node
/// could not be imported: it is defined, but its uses are not complained about
/// again.
struct Scope {
  const Scope *parent = nullptr; ///< graph around this one; null for functions
  const ::onnx::GraphProto *graph = nullptr; ///< null for functions
  const Opsets *opsets = nullptr;
  const CallAttributes *attributes = nullptr; ///< null outside of functions
  std::string prefix; ///< put before node names: the calls that led here
  llvm::StringMap<mlir::Value> values;

  /// The scope of a graph inside this one.
  Scope inner() const {
    Scope scope;
    scope.parent = this;
    scope.opsets = opsets;
    scope.attributes = attributes;
    scope.prefix = prefix;
    return scope;
  }

  /// The value of a name here or around; none if there is no such name.
  std::optional<mlir::Value> lookup(llvm::StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->parent) {
      auto found = scope->values.find(name);
      if (found != scope->values.end())
        return found->second;
    }
    return std::nullopt;
  }

  /// The type that the exporter wrote down for a value, which may be wrong;
  /// null if there is none. Slow: for messages.
  mlir::Type declaredType(llvm::StringRef name,
                          mlir::MLIRContext *context) const;
};

/// The tensor type that a graph declares for a value, with the names of its
/// sizes; null if it declares none, or one of elements that are not supported.
mlir::Type declaredTensor(const ::onnx::ValueInfoProto &info,
                          mlir::MLIRContext *context);

} // namespace sol

#endif // SOL_LIB_IMPORT_SCOPE_H
