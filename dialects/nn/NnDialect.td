//===- NnDialect.td - the dialect that says what is computed --------------===//
//
// The `nn` dialect, its attributes and its types. Operations are in NnOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_NN_NNDIALECT_TD
#define SOL_DIALECTS_NN_NNDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Nn_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::sol::nn";
  let summary = "what a transformer computes, apart from how and where";
  let description = [{
    Values that every stage shares (constants, weights as references to files,
    symbolic sizes, caches) and the operators of transformers with exact
    semantics: norms, rotary embedding, attention, gated feed-forward, experts.
    ONNX operators that are not recognised as part of one stay `onnx` operators.
  }];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Name of the function argument and result attribute that holds the ONNX
    /// value's name.
    static constexpr ::llvm::StringLiteral nameAttr = "nn.name";
  }];
}

class Nn_Attr<string name, string attrMnemonic> : AttrDef<Nn_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Nn_DimsAttr : Nn_Attr<"Dims", "dims"> {
  let summary = "the symbolic sizes of a tensor's axes";
  let description = [{
    The encoding of a tensor type whose sizes are known as expressions over
    symbols: one text for each axis, so that equal sizes have equal texts. A text
    is a number, a symbol, or a sum of products in canonical order
    (lib/nn/shape/SymbolicSize.h writes it). The axis of a number has that static
    size in the type, every other axis is `?`.

    Example: `tensor<?x?x64xf32, #nn.dims<"batch", "past + sequence", "64">>`
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$sizes);
  let assemblyFormat = "`<` $sizes `>`";
}

def Nn_SpanAttr : Nn_Attr<"Span", "span"> {
  let summary = "bytes of a file that hold a tensor";
  let description = [{
    `length` bytes at `offset` of `file`, a path relative to the model's folder.
    `encoding` says what they are: `raw` for the elements themselves,
    little-endian and packed as ONNX's raw data; `proto` for a serialized
    TensorProto that keeps its elements in typed fields. `hash` is the XXH3 64-bit
    hash of the bytes, 0 if it has not been computed.

    Example: `#nn.span<"model.onnx_data", 4096, 2304, raw, 0>`
  }];
  let parameters = (ins "::mlir::StringAttr":$file, "int64_t":$offset,
                        "int64_t":$length, "bool":$isProto, "uint64_t":$hash);
  let hasCustomAssemblyFormat = 1;
}

class Nn_Type<string name, string typeMnemonic> : TypeDef<Nn_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Nn_CacheType : Nn_Type<"Cache", "cache"> {
  let summary = "keys or values of past positions, kept between runs";
  let description = [{
    State that one attention layer appends to and reads. `tensor` is what a read
    of it gives: batch x heads x length x head size, the length being the number
    of positions held. A value of this type is used once by an operator that
    changes it.

    Example: `!nn.cache<tensor<?x3x?x64xf32, #nn.dims<"batch", "3", "past", "64">>>`
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
}

#endif // SOL_DIALECTS_NN_NNDIALECT_TD
