//===- Passes.td - the passes of the nn stage -----------------------------===//
//
// From ONNX operators with unknown shapes to nn operators with known ones.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_PASSES_TD
#define SOL_LIB_NN_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Shapes and constants
//===----------------------------------------------------------------------===//

def NnInferShapesPass : Pass<"nn-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "Give every value its most precise type";
  let description = [{
    Before: function arguments have the types that the model declares; other
    values may have any type with the right element type.
    After: every value that a rule covers is a ranked tensor with static sizes
    or symbolic ones (`#nn.dims`); sizes that depend on data are symbols that
    start with `@`; results of functions and regions have the types of what they
    give. Only facts that hold in every run that succeeds are stated.
    Fails when: operands of a node contradict its operator (rank, axis, sizes,
    element types), or a result of the function contradicts what the model
    declares. All contradictions are reported.
    (example: test/nn/infer-shapes.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnFoldPass : Pass<"nn-fold", "::mlir::ModuleOp"> {
  let summary = "Compute what does not depend on the run, drop what does nothing";
  let description = [{
    Before: shapes inferred.
    After: values whose elements are known are `nn.constant` (at most 1 KiB) or
    `nn.folded` (an expression over weights, evaluated when the plan is written);
    operators that give their operand unchanged are gone, as are chains of
    movements that equal one; an `If` with a known condition is replaced by its
    branch; shape operands that can be written as constants are. A value is not
    folded when it takes more than 64 KiB and more than twice the bytes of the
    weights that it derives from.
    Fails when: nn-infer-shapes does, which it begins with; what can't be folded
    stays.
    (example: test/nn/fold.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnSimplifyPass : Pass<"nn-simplify", "::mlir::ModuleOp"> {
  let summary = "Infer shapes and fold until nothing changes";
  let description = [{
    Before: as nn-infer-shapes.  After: as nn-infer-shapes, nn-fold and cse, none
    of which would change anything, unless `max-rounds` ended the loop first.
    Fails when: nn-infer-shapes does.
    (example: test/nn/simplify.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
  let options = [Option<"maxRounds", "max-rounds", "int64_t", "8",
                        "Rounds of infer, fold and cse at most">];
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

def NnRecognizeNormPass : Pass<"nn-recognize-norm", "::mlir::ModuleOp"> {
  let summary = "Find normalisations";
  let description = [{
    Before: shapes inferred, constants folded.
    After: root-mean-square norms over the last axis are nn.rms_norm, decomposed
    layer norms are onnx.LayerNormalization, norms that add a skip are an Add and
    a norm. Only what is computed in float32 is taken; what differs in a detail
    stays as it is.
    Fails when: never.
    (example: test/nn/recognize/recognize-norm.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnRecognizeLinearPass : Pass<"nn-recognize-linear", "::mlir::ModuleOp"> {
  let summary = "Find products with matrices known before the run";
  let description = [{
    Before: shapes inferred, constants folded.
    After: MatMul and Gemm with a known matrix are nn.linear; a known vector that
    is added to a product in float32 is its bias. A matrix that folding transposed
    is taken as the weight it was, so a tied embedding stays one weight here;
    packing it for products makes a second copy in the plan.
    Fails when: never.
    (example: test/nn/recognize/recognize-linear.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnRecognizeRotaryPass : Pass<"nn-recognize-rotary", "::mlir::ModuleOp"> {
  let summary = "Find rotary position embeddings";
  let description = [{
    Before: shapes inferred, constants folded.
    After: rotations of heads, of halves or of neighbouring entries, whole or in
    part, and both domains' RotaryEmbedding are nn.rotary. If steps come before
    heads and are exchanged with them, that is done first. Of cosines and sines
    that are given to both entries of a pair, one is taken; whether they are is
    proved from what computes them (through Gather and nn.folded, too) or from the
    numbers of an nn.constant. Weights are not read.
    Fails when: never.
    (example: test/nn/recognize/recognize-rotary.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnRecognizeAttentionPass
    : Pass<"nn-recognize-attention", "::mlir::ModuleOp"> {
  let summary = "Find attention";
  let description = [{
    Before: shapes inferred, constants folded.
    After: softmaxed products of queries with keys, times values, are
    nn.attention, with scales, soft cap, mask, sinks and repeated heads taken in;
    so are operators that are an attention by themselves. A mask that chooses
    between 0 and a number of at most -1e30 is taken as the bool that chooses.
    Only what is computed in float32 is taken.
    Fails when: never.
    (example: test/nn/recognize/recognize-attention.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnCacheStatePass : Pass<"nn-cache-state", "::mlir::ModuleOp"> {
  let summary = "Make past and present one state";
  let description = [{
    Before: attention recognised.
    After: a function argument of batch x heads x length x head size that is only
    lengthened along its third axis and asked for its shape, and the result that
    is the longer tensor, have type !nn.cache; the result has `nn.state_of`, the
    argument's index. Attention reads the cache, other uses of the present an
    nn.cache_read. GroupQueryAttention with such a pair becomes nn.rotary,
    nn.cache_append and nn.attention. If one branch of an If lengthens the past
    and the other computes what it begins with, the former appends and the latter
    has an nn.cache_fill; so it is with a past that one attention of the former
    branch reads, if the latter's attention with the same matrix for its queries
    reads what is given back (`nn.fixed`). An argument that only attention reads,
    beside such caches, is `nn.fixed`, too. A past that TensorScatter, ScatterND or
    ScatterElements writes into along its third axis is a buffer (role `buffer`):
    an nn.cache_write stands for the operator if the positions are those of an
    input, or count on from one, which gets its role. A past that is used otherwise
    stays a tensor, with a remark.
    Fails when: never.
    (example: test/nn/recognize/cache-state.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnRecognizeMlpPass : Pass<"nn-recognize-mlp", "::mlir::ModuleOp"> {
  let summary = "Find activations and gates of feed-forward networks";
  let description = [{
    Before: shapes inferred, constants folded.
    After: GELU written out, with erf or tanh, is onnx.Gelu; SiLU, GELU or ReLU of
    one branch times another of the same shape is nn.gate. In float32 only.
    Fails when: never.
    (example: test/nn/recognize/recognize-mlp.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnRecognizeExpertsPass : Pass<"nn-recognize-experts", "::mlir::ModuleOp"> {
  let summary = "Find mixtures of experts";
  let description = [{
    Before: shapes inferred, constants folded; gates not recognised.
    After: a mixture of gated networks is onnx.microsoft.MoE, whichever way it is
    written: each token's experts gathered; every expert computing every token; a
    block for each expert, with the tokens that chose it; rows sorted by expert,
    each expert multiplying its run. What experts do with tokens that did not
    choose them is not computed any more.
    Fails when: never.
    (example: test/nn/recognize/recognize-experts.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnAssignRolesPass : Pass<"nn-assign-roles", "::mlir::ModuleOp"> {
  let summary = "Say what each input and output of a model is for";
  let description = [{
    Before: caches are state.
    After: every argument has `nn.role`: tokens, attention_mask, positions, past
    (with `nn.fed_by`, the index of the result that is its next value),
    encoder_states, encoder_mask, use_cache, window, pixels or other; the result
    that has a number for each token of the vocabulary has `nn.role` logits. Data
    flow and shapes decide; names only where two inputs flow alike (`input_ids`
    among several that look up tables, `encoder_` masks, positions that look up a
    table) or where a past is filled inside a branch (`present.x` feeds
    `past_key_values.x`, `output.x` feeds `input.x`).
    Fails when: never.
    (example: test/nn/recognize/assign-roles.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnPrintRecognizedPass : Pass<"nn-print-recognized", "::mlir::ModuleOp"> {
  let summary = "Print how often each structure was recognised";
  let description = [{
    Before and after: the IR is unchanged. One line of JSON for each function goes
    to standard output: attention, cross_attention (keys from another sequence),
    cache (each of keys and values is one), fixed_cache (filled by the first run
    and read by later ones), norm, rotary, mlp, experts, linear. Of the branches
    of an If the larger number counts.
    Fails when: never.
    (example: test/nn/recognize/print-recognized.mlir)
  }];
}

def NnWidenFloat16Pass : Pass<"nn-widen-float16", "::mlir::ModuleOp"> {
  let summary = "Compute 16-bit floats in float32";
  let description = [{
    Before: shapes inferred, operators final.
    After: an operator that computes with float16 or bfloat16 takes and gives
    float32; operators that move elements do as their operands. Arguments,
    results, caches, matrices of products and larger weights stay 16 bits. A value
    is rounded to its 16 bits where the graph's own Cast says so, where it is given
    out (then also for who goes on with it), appended to a cache or given by a
    branch or loop, and for operators that mean 16-bit values: comparisons, IsInf,
    conversions to integers, quantized products. Constants of at most 64 KiB are
    widened when the plan is written, larger ones at each run.
    Fails when: never.
    (example: test/nn/widen-float16.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def NnCheckTokenMixingPass : Pass<"nn-check-token-mixing", "::mlir::ModuleOp"> {
  let summary = "Warn of operators through which tokens change each other's numbers";
  let description = [{
    Before and after: the IR is unchanged. A function with an operator that takes
    one scale from a whole tensor whose size depends on batch or sequence
    (DynamicQuantizeLinear and its fusions) gets a warning: its results depend on
    how a prompt is cut into chunks and on the company in a batch.
    Fails when: never.
    (example: test/nn/check-token-mixing.mlir)
  }];
}

def VerifyNnPass : Pass<"verify-nn", "::mlir::ModuleOp"> {
  let summary = "Check what the nn stage promises the next one";
  let description = [{
    Before and after: the IR is unchanged.
    Fails when: (N1) an operator is neither an `nn` operator nor an ONNX operator
    that has a kernel; (N2) a `?` of a ranked tensor has no symbolic size; (N3) a
    cache is changed by more than one operator of those that run together (of the
    branches of an If one runs).
    (example: test/nn/verify-nn.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

#endif // SOL_LIB_NN_PASSES_TD
