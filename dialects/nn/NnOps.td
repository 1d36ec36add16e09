//===- NnOps.td - operations of the nn dialect ----------------------------===//
//
// Values (constant, weight, folded), state (caches) and the operators of
// transformers.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_NN_NNOPS_TD
#define SOL_DIALECTS_NN_NNOPS_TD

include "dialects/nn/NnDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Nn_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Nn_Dialect, opMnemonic, traits>;

def Nn_OptionalTensor : AnyTypeOf<[AnyTensor, NoneType]>;
def Nn_TensorOrCache : AnyTypeOf<[AnyTensor, Nn_CacheType]>;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def Nn_ConstantOp : Nn_Op<"constant", [ConstantLike, Pure]> {
  let summary = "a small tensor whose elements are in the IR";
  let description = [{
    For tensors of at most 1 KiB; larger ones are `nn.weight` or `nn.folded`.

    Example: `%0 = nn.constant dense<[1, -1]> : tensor<2xi64>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Nn_WeightOp : Nn_Op<"weight", [Pure]> {
  let summary = "a tensor whose bytes lie in a file";
  let description = [{
    Refers to a tensor of the model without reading it.

    Example:
    `%0 = nn.weight <"model.onnx_data", 0, 4096, raw, 0> : tensor<32x32xf32>`
  }];
  let arguments = (ins Nn_SpanAttr:$span, OptionalAttr<StrAttr>:$name);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$span (`name` $name^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Nn_FoldedOp : Nn_Op<"folded", [Pure, SingleBlock, IsolatedFromAbove]> {
  let summary = "a constant given by an expression over weights";
  let description = [{
    The body is evaluated when the plan is written, with the kernels of the
    runtime; the result is stored in the plan. It uses no value from outside.

    Example:
    ```mlir
    %0 = nn.folded : tensor<64x32xf32> {
      %w = nn.weight <"model.onnx_data", 0, 8192, raw, 0> : tensor<32x64xf32>
      %t = "onnx.Transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
      nn.yield %t : tensor<64x32xf32>
    }
    ```
  }];
  let results = (outs AnyStaticShapeTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`:` type($result) $body attr-dict";
  let hasVerifier = 1;
}

def Nn_YieldOp : Nn_Op<"yield", [Pure, Terminator]> {
  let summary = "end of a region of an nn operation";
  let description = [{
    Gives the region's results. Example: `nn.yield %t : tensor<4xf32>`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

def Nn_CacheAppendOp : Nn_Op<"cache_append"> {
  let summary = "put the positions of this step behind those of the past";
  let description = [{
    `step` is batch x heads x step length x head size. The result is the same
    cache, longer; `cache` must not be used after it otherwise than for its past
    length. `offsets`, an int64 tensor of batch, says at which position each row's
    step begins: what the row held from there on is taken back first. Without it
    each row's step begins behind what the row holds.

    Example: `%c1 = nn.cache_append %c0, %k : (!nn.cache<…>, tensor<…>) -> !nn.cache<…>`
  }];
  let arguments = (ins Nn_CacheType:$cache, AnyRankedTensor:$step,
                       Optional<AnyTensor>:$offsets);
  let results = (outs Nn_CacheType:$result);
  let assemblyFormat = "$cache `,` $step (`,` $offsets^)? attr-dict `:` functional-type(operands, results)";
}

def Nn_CacheFillOp : Nn_Op<"cache_fill"> {
  let summary = "make a cache hold one tensor and nothing else";
  let description = [{
    `tensor` is batch x heads x length x head size. What the cache held is
    forgotten; the result is the same cache, which holds `tensor`, and `cache` must
    not be used after it. The first run of a decoder fills its caches so: those of
    its own tokens, and those of the encoder's states, which later runs only read.

    Example: `%c1 = nn.cache_fill %c0, %k : (!nn.cache<…>, tensor<…>) -> !nn.cache<…>`
  }];
  let arguments = (ins Nn_CacheType:$cache, AnyRankedTensor:$tensor);
  let results = (outs Nn_CacheType:$result);
  let assemblyFormat = "$cache `,` $tensor attr-dict `:` functional-type(operands, results)";
}

def Nn_CacheWriteOp : Nn_Op<"cache_write"> {
  let summary = "write positions of a buffer in place";
  let description = [{
    `step` is batch x heads x step length x head size. `cache` is a buffer: it holds
    its whole capacity, whether positions were written or not, and stays as long as
    it is. Entry i of `step` goes to position `positions`[i] of every row,
    `positions` being an int64 tensor of step length, in which negative numbers
    count from the end and of equal ones the last counts; or, if `starts`, entry i
    of row b goes to `positions`[b] + i, `positions` being an int64 tensor of batch.
    Positions outside the buffer are an error. The result is the same cache;
    `cache` must not be used after it.

    Example: `%c1 = nn.cache_write %c0, %k, %p : (!nn.cache<…>, tensor<…>, tensor<…>) -> !nn.cache<…>`
  }];
  let arguments = (ins Nn_CacheType:$cache, AnyRankedTensor:$step,
                       AnyRankedTensor:$positions, UnitAttr:$starts);
  let results = (outs Nn_CacheType:$result);
  let assemblyFormat = "$cache `,` $step `,` $positions attr-dict `:` functional-type(operands, results)";
}

def Nn_CacheLengthOp : Nn_Op<"cache_length", [Pure]> {
  let summary = "number of positions a cache holds";
  let description = [{
    A scalar int64: the past length when given a cache that arrives, the total
    length after an append.

    Example: `%n = nn.cache_length %c : !nn.cache<…> -> tensor<i64>`
  }];
  let arguments = (ins Nn_CacheType:$cache);
  let results = (outs AnyTensor:$length);
  let assemblyFormat = "$cache attr-dict `:` type($cache) `->` type($length)";
}

def Nn_CacheShapeOp : Nn_Op<"cache_shape", [Pure]> {
  let summary = "the four sizes of a cache's tensor";
  let description = [{
    An int64 tensor of 4: batch, heads, positions held, head size; what `Shape`
    gives of the tensor that the cache stands for.

    Example: `%s = nn.cache_shape %c : !nn.cache<…> -> tensor<4xi64>`
  }];
  let arguments = (ins Nn_CacheType:$cache);
  let results = (outs AnyTensor:$shape);
  let assemblyFormat = "$cache attr-dict `:` type($cache) `->` type($shape)";
}

def Nn_CacheReadOp : Nn_Op<"cache_read"> {
  let summary = "all positions of a cache as a tensor";
  let description = [{
    A copy: batch x heads x length x head size. For uses that are not attention.

    Example: `%t = nn.cache_read %c : !nn.cache<…> -> tensor<…>`
  }];
  let arguments = (ins Nn_CacheType:$cache);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$cache attr-dict `:` type($cache) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

def Nn_LinearOp : Nn_Op<"linear", [Pure]> {
  let summary = "product with a constant matrix, and a bias";
  let description = [{
    `x` is ... x K, `weight` a constant K x N (N x K if `transposed`), `bias` N or
    none; the result is ... x N. Each output element is one chain of fused
    multiply-adds over k ascending, in float32 from 0, then the bias is added.
    After `native-pack-weights`, `packed` is set and `weight` holds panels
    `[ceil(N/16)][K][16]`, the last padded with zeros; `columns` is N.

    Example: `%y = nn.linear %x, %w, %none : (tensor<…>, tensor<…>, none) -> tensor<…>`
  }];
  let arguments = (ins AnyTensor:$x, AnyTensor:$weight, Nn_OptionalTensor:$bias,
                       UnitAttr:$transposed, UnitAttr:$packed,
                       OptionalAttr<I64Attr>:$columns);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
}

def Nn_PackPanelsOp : Nn_Op<"pack_panels", [Pure]> {
  let summary = "a matrix in the order that products read it";
  let description = [{
    K x N (N x K if `transposed`) to panels `[ceil(N/16)][K][16]`, the last one
    padded with zeros. Stands in `nn.folded` only.

    Example: `%p = nn.pack_panels %w : tensor<64x40xf32> -> tensor<3x64x16xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$matrix, UnitAttr:$transposed);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$matrix attr-dict `:` type($matrix) `->` type($result)";
}

def Nn_EmbeddingOp : Nn_Op<"embedding", [Pure]> {
  let summary = "rows of a table that lies in panels";
  let description = [{
    `panels` is a table of `columns` rows of K elements as `nn.pack_panels` lays
    out its transpose: `[ceil(columns/16)][K][16]`. Row `indices`[i] becomes row i
    of the result, ... x K; negative indices count from the end. So that a tied
    embedding serves the output head and the lookup from one copy.

    Example: `%y = nn.embedding %panels, %ids {columns = 49152 : i64} : (tensor<…>, tensor<…>) -> tensor<…>`
  }];
  let arguments = (ins AnyRankedTensor:$panels, AnyTensor:$indices, I64Attr:$columns);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$panels `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Nn_RmsNormOp : Nn_Op<"rms_norm", [Pure]> {
  let summary = "root-mean-square normalisation over the last axis";
  let description = [{
    x / sqrt(mean(x*x) + epsilon) * scale, computed in float32 (Zhang and
    Sennrich, arXiv 1910.07467). `scale` has the size of the last axis, or is none.

    Example: `%y = nn.rms_norm %x, %scale {epsilon = 1.0e-5 : f32} : (tensor<…>, tensor<…>) -> tensor<…>`
  }];
  let arguments = (ins AnyTensor:$x, Nn_OptionalTensor:$scale, F32Attr:$epsilon);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$x `,` $scale attr-dict `:` functional-type(operands, results)";
}

def Nn_RotaryOp : Nn_Op<"rotary", [Pure]> {
  let summary = "rotary position embedding";
  let description = [{
    `x` is batch x heads x step x head size; the first 2R entries of each head are
    rotated by angles whose cosines and sines are `cos` and `sin`, broadcastable
    to batch x 1 x step x R; the rest pass through. Entry i pairs with i + R, or
    2i with 2i + 1 if `interleaved`: (a, b) becomes (a cos - b sin, b cos + a sin)
    (Su et al., arXiv 2104.09864).

    Example: `%y = nn.rotary %x, %cos, %sin : (tensor<…>, tensor<…>, tensor<…>) -> tensor<…>`
  }];
  let arguments = (ins AnyTensor:$x, AnyTensor:$cos, AnyTensor:$sin,
                       UnitAttr:$interleaved);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$x `,` $cos `,` $sin attr-dict `:` functional-type(operands, results)";
}

def Nn_AttentionOp : Nn_Op<"attention", [Pure]> {
  let summary = "scaled dot-product attention";
  let description = [{
    `query` is batch x Hq x step x D; `key` and `value` are caches or tensors of
    batch x Hkv x length x D (Dv); query head h reads key/value head
    h / (Hq / Hkv). scores = scale * q . k; if `softcap` > 0, scores = softcap *
    tanh(scores / softcap); then `mask`, broadcastable to batch x Hq x step x
    length, is added (float) or excludes where false (bool); rows are softmaxed,
    with one more logit of value `sinks`[h] that carries no value where given;
    the result is batch x Hq x step x Dv. `masked_rows` says what a row without any
    allowed key gives: "zero", "nan" or "mean" (all scores equal, as a finite
    mask leaves them). If `causal`, the query at position p has keys up to
    position p; if `window` > 0, the last `window` of those only. Query i of row b
    is at position `offsets`[b] + i, `offsets` being an int64 tensor of batch;
    without it, at length - step + i. `nn-cache-state` sets `cached` to 1 where key
    and value are caches, for kernels, which see no types.

    Example:
    `%y = nn.attention %q, %k, %v, %mask, %none {scale = 0.125 : f32, softcap = 0.0 : f32, masked_rows = "zero"} : (…) -> tensor<…>`
  }];
  let arguments = (ins AnyTensor:$query, Nn_TensorOrCache:$key,
                       Nn_TensorOrCache:$value, Nn_OptionalTensor:$mask,
                       Nn_OptionalTensor:$sinks, Optional<AnyTensor>:$offsets,
                       F32Attr:$scale, F32Attr:$softcap, StrAttr:$masked_rows,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$query `,` $key `,` $value `,` $mask `,` $sinks (`,` $offsets^)? attr-dict `:` functional-type(operands, results)";
}

def Nn_GateOp : Nn_Op<"gate", [Pure]> {
  let summary = "activation of one branch times the other";
  let description = [{
    activation(gate) * up, elementwise; `activation` is "silu", "gelu", "gelu_tanh",
    "relu" or "sigmoid" (Shazeer, arXiv 2002.05202).

    Example: `%y = nn.gate %gate, %up {activation = "silu"} : (tensor<…>, tensor<…>) -> tensor<…>`
  }];
  let arguments = (ins AnyTensor:$gate, AnyTensor:$up, StrAttr:$activation);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` functional-type(operands, results)";
}

#endif // SOL_DIALECTS_NN_NNOPS_TD
