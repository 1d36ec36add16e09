//===- Passes.td - passes of the native stage -----------------------------===//
//
// From nn and onnx operators to a program for the host.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_PASSES_TD
#define SOL_LIB_NATIVE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PackWeightsPass : Pass<"native-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Put constant matrices into the order that products read them";
  let description = [{
    Before: `nn.linear` has a constant matrix as the model has it.
    After: its matrix is an `nn.folded` of `nn.pack_panels`, `packed` is set; one
    packed matrix serves all products with the same constant, and lookups of rows
    in its transpose (a tied embedding) become `nn.embedding` on it. A matrix that
    is also used in another way exists in both orders in the plan.
    Fails when: never.
    (example: test/native/pack-weights.mlir)
  }];
  let dependentDialects = ["::sol::nn::NnDialect"];
}

def FuseLoopsPass : Pass<"native-fuse-loops", "::mlir::func::FuncOp"> {
  let summary = "Make one loop of elementwise operators and sums along rows";
  let description = [{
    Before: operators, each of which would run by a kernel of its own.
    After: where operators over one space of elements feed each other, one
    `cpu.native` whose body says in `linalg` what they compute; also a single
    reduction, softmax or norm along the last axis. Only float32, int64, int32 and
    bool elements (16-bit floats where they are converted or selected), sizes that are known as numbers or expressions, and operands
    that surely broadcast; other operators stay. The body computes with the
    operations of the kernels that it replaces, in their order: the results are
    the same bits.
    Fails when: never.
    (example: test/native/fuse-loops.mlir)
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
    "::sol::cpu::CpuDialect"
  ];
}

def LowerToCpuPass : Pass<"native-lower-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "Turn every operator into a step of the host's program";
  let description = [{
    Before: `onnx` and `nn` operators.
    After: `cpu` steps, and constants.
    Fails when: an operator has no kernel; all such operators are reported.
    (example: test/native/lower-to-cpu.mlir)
  }];
  let dependentDialects = ["::sol::cpu::CpuDialect"];
}

def LowerLoopsPass : Pass<"native-lower-loops", "::mlir::ModuleOp"> {
  let summary = "Show the code that compiled loops become";
  let description = [{
    Before: functions with `cpu.native` steps.
    After: the module holds one function for each different loop instead, in the
    `scf`, `arith`, `math`, `vector` and `llvm` dialects: what emit goes on to
    compile. For looking at; no stage uses it.
    Fails when: a loop's body does not run over one space.
    (example: test/native/lower-loops.mlir)
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def AssignSlotsPass : Pass<"native-assign-slots", "::mlir::func::FuncOp"> {
  let summary = "Give every computed value memory";
  let description = [{
    Before: steps without slots.
    After: each result has the number of a slot; values that are alive together
    have different ones, except that a result may take the slot of an operand that
    dies in the step when the kernel works in place and the types are equal.
    Fails when: never.
    (example: test/native/assign-slots.mlir)
  }];
}

def VerifyNativePass : Pass<"verify-native", "::mlir::func::FuncOp"> {
  let summary = "Check that a function is a complete program for the host";
  let description = [{
    Every operation is a `cpu` step or a constant, every step calls a kernel that
    exists and has a slot for each result that needs one.
    Before and after: the same. Fails when: one of these does not hold.
    (example: test/native/verify-native.mlir)
  }];
}

#endif // SOL_LIB_NATIVE_PASSES_TD
