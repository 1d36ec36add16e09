//===- MachineCode.h - from functions in MLIR to an object file -----------===//
//
// Lowers to LLVM, optimizes and assembles for one instruction-set level.
// Nothing depends on the processor that this runs on.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_CODEGEN_MACHINECODE_H
#define SOL_LIB_NATIVE_CODEGEN_MACHINECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace sol::native {

/// Registers what the lowering needs in a context; before it is used there.
void registerMachineCodeDialects(mlir::MLIRContext &context);

/// Turns a module of `lowerLoop`'s functions into LLVM IR. Null after an error.
std::unique_ptr<llvm::Module> lowerToLlvm(mlir::ModuleOp module,
                                          llvm::LLVMContext &context);

/// Compiles for `level` (`x86-64`, `x86-64-v3`: a name that the x86-64 psABI
/// gives) into an ELF object of position-independent code. Errors say why.
llvm::Expected<std::string> compileObject(const llvm::Module &module,
                                          llvm::StringRef level);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_CODEGEN_MACHINECODE_H
