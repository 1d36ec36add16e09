//===- OnnxOps.td - the dialect of ONNX operators -------------------------===//
//
// The `onnx` dialect and its two operations that are no ONNX operators. The
// operators themselves come from a table (OnnxSchema.h).
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_ONNX_ONNXOPS_TD
#define SOL_DIALECTS_ONNX_ONNXOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::sol::onnx";
  let summary = "ONNX operators as they arrived";
  let description = [{
    Operator `Foo` of ONNX's default domain is `onnx.Foo`, of `com.microsoft`
    `onnx.microsoft.Foo`, always with the meaning of the newest version in the
    table. Operations are made from the table when the dialect is loaded and
    verified against it: number of operands and results, kinds of attributes,
    element types. A missing optional operand before a present one is `onnx.none`;
    a missing optional result has type `none`; attributes at their default may be
    absent; graphs in attributes are regions that end in `onnx.yield`.

    Example: `%1 = "onnx.Softmax"(%0) {axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>`
  }];
  let hasOperationInterfaceFallback = 1;
}

class Onnx_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, opMnemonic, traits>;

def Onnx_NoneOp : Onnx_Op<"none", [Pure]> {
  let summary = "an optional operand that is not given";
  let description = [{
    Example: `%0 = onnx.none : none`
  }];
  let results = (outs NoneType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Onnx_YieldOp : Onnx_Op<"yield", [Pure, Terminator]> {
  let summary = "the results of a graph inside an operator";
  let description = [{
    Example: `onnx.yield %0, %1 : tensor<*xf32>, tensor<i1>`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // SOL_DIALECTS_ONNX_ONNXOPS_TD
