//===- CpuDialect.h - the dialect that says what the host executes --------===//
//
// Declarations of the cpu dialect; documentation is in CpuOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_CPU_CPUDIALECT_H
#define SOL_DIALECTS_CPU_CPUDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/cpu/CpuDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.h.inc"

#endif // SOL_DIALECTS_CPU_CPUDIALECT_H
