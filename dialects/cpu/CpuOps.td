//===- CpuOps.td - operations of the cpu dialect --------------------------===//
//
// Steps: calls of kernels, and control flow.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_CPU_CPUOPS_TD
#define SOL_DIALECTS_CPU_CPUOPS_TD

include "dialects/cpu/CpuDialect.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Cpu_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Cpu_Dialect, opMnemonic, traits>;

def Cpu_KernelOp : Cpu_Op<"kernel"> {
  let summary = "call a kernel of the runtime";
  let description = [{
    Runs the kernel `name` with `parameters`. `slots` (after `assign-slots`) gives
    the slot that each result lives in, -1 for a result that is missing, a cache or
    a `view` of operand 0.

    Example:
    `%0 = cpu.kernel "onnx.Add"(%a, %b) {parameters = {}, slots = array<i64: 2>} : (tensor<…>, tensor<…>) -> tensor<…>`
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands_,
                       DictionaryAttr:$parameters, UnitAttr:$view,
                       OptionalAttr<DenseI64ArrayAttr>:$slots);
  let results = (outs Variadic<AnyType>:$results_);
  let assemblyFormat = [{
    $name `(` $operands_ `)` attr-dict `:` functional-type($operands_, $results_)
  }];
}

def Cpu_IfOp : Cpu_Op<"if", [SingleBlock]> {
  let summary = "run one of two lists of steps";
  let description = [{
    The regions use values from outside directly and end by `cpu.yield`; what they
    yield is copied to the slots of the results.

    Example:
    ```mlir
    %0 = cpu.if %c {slots = array<i64: 0>} : tensor<i1> -> tensor<2xf32> {
      cpu.yield %a : tensor<2xf32>
    } else {
      cpu.yield %b : tensor<2xf32>
    }
    ```
  }];
  let arguments = (ins AnyTensor:$condition, OptionalAttr<DenseI64ArrayAttr>:$slots);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $condition attr-dict `:` type($condition) `->` type($results_) $thenRegion
    `else` $elseRegion
  }];
}

def Cpu_LoopOp : Cpu_Op<"loop", [SingleBlock]> {
  let summary = "repeat a list of steps";
  let description = [{
    ONNX Loop: operands are the trip count and the condition (each may be missing:
    type none) and the carried values; the body takes the iteration, the condition
    and the carried values and yields the condition, the carried values, and values
    that are stacked over the iterations. `argument_slots` are the slots of the
    body's carried arguments.

    Example: `%0 = cpu.loop %n, %c, %x : (…) -> tensor<…> { ^bb0(…): … cpu.yield … }`
  }];
  let arguments = (ins Variadic<AnyType>:$operands_,
                       OptionalAttr<DenseI64ArrayAttr>:$slots,
                       OptionalAttr<DenseI64ArrayAttr>:$argument_slots);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $operands_ attr-dict `:` functional-type($operands_, $results_) $body
  }];
}

def Cpu_NativeOp : Cpu_Op<"native", [IsolatedFromAbove, SingleBlock]> {
  let summary = "run a loop that is compiled to machine code";
  let description = [{
    Several operators over one space of elements, in one loop. The body says in
    `linalg` on tensors what the loop computes, without the temporary tensors ever
    being stored as such: `linalg.generic` with only parallel axes for elements,
    one whose last axis is a reduction for what is joined along rows, and one
    without the last axis for what is computed once for each row. The space's axes
    are the same in all of them. Arguments have the operands' shapes; a value
    without the last axis is yielded for a result whose last axis has size 1.

    `name` lists the operators; emit makes one function of equal bodies. `slots` as
    in `cpu.kernel`.

    Example:
    ```mlir
    %0 = cpu.native "Mul+Add"(%a, %b) {slots = array<i64: 2>} : (tensor<?x64xf32, …>, tensor<64xf32>) -> tensor<?x64xf32, …> {
    ^bb0(%x: tensor<?x64xf32>, %y: tensor<64xf32>):
      …
      %1 = linalg.generic {indexing_maps = […], iterator_types = ["parallel", "parallel"]} …
      cpu.yield %1 : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyRankedTensor>:$operands_,
                       OptionalAttr<DenseI64ArrayAttr>:$slots);
  let results = (outs Variadic<AnyRankedTensor>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $name `(` $operands_ `)` attr-dict `:` functional-type($operands_, $results_)
    $body
  }];
}

def Cpu_NoneOp : Cpu_Op<"none", [Pure]> {
  let summary = "a missing optional operand";
  let description = [{
    Stands where an operator leaves out an operand before one that is present.

    Example: `%0 = cpu.none : none`
  }];
  let results = (outs NoneType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Cpu_YieldOp : Cpu_Op<"yield", [Pure, Terminator]> {
  let summary = "end of a list of steps";
  let description = [{
    Gives the values that leave a branch or an iteration.

    Example: `cpu.yield %a : tensor<2xf32>`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // SOL_DIALECTS_CPU_CPUOPS_TD
