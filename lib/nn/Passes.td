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
    Fails when: never; what can't be folded stays.
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

def VerifyNnPass : Pass<"verify-nn", "::mlir::ModuleOp"> {
  let summary = "Check what the nn stage promises the next one";
  let description = [{
    Before and after: the IR is unchanged.
    Fails when: (N1) an operator is neither an `nn` operator nor an ONNX operator
    that has a kernel; (N2) a `?` of a ranked tensor has no symbolic size; (N3) a
    cache is changed by more than one operator.
    (example: test/nn/verify.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

#endif // SOL_LIB_NN_PASSES_TD
