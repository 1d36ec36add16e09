//===- CpuDialect.td - the dialect that says what the host executes -------===//
//
// The `cpu` dialect. Operations are in CpuOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_CPU_CPUDIALECT_TD
#define SOL_DIALECTS_CPU_CPUDIALECT_TD

include "mlir/IR/OpBase.td"

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::sol::cpu";
  let summary = "what the host executes: steps over value slots";
  let description = [{
    A program for the step interpreter (runtime/session). Each operation is one
    step of the plan; constants stay `nn.constant`, `nn.weight` and `nn.folded`.
  }];
  let extraClassDeclaration = [{
    /// Name of the function attribute that holds the number of slots.
    static constexpr ::llvm::StringLiteral slotsAttr = "cpu.slots";
  }];
}

#endif // SOL_DIALECTS_CPU_CPUDIALECT_TD
