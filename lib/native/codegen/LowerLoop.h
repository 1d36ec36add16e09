//===- LowerLoop.h - from a cpu.native to a function of vectors -----------===//
//
// A function of the form that runtime/cpu/native_call.h documents, in the
// `scf`, `arith`, `math`, `vector` and `llvm` dialects.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_CODEGEN_LOWERLOOP_H
#define SOL_LIB_NATIVE_CODEGEN_LOWERLOOP_H

#include "lib/native/loops/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace sol::native {

/// Builds the function `symbol` in `module` and returns the bytes of scratch
/// memory that it needs for each element of a row.
int64_t lowerLoop(cpu::NativeOp op, const LoopNest &nest,
                  llvm::StringRef symbol, mlir::ModuleOp module);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_CODEGEN_LOWERLOOP_H
