//===- NativeCode.h - the machine code of a plan --------------------------===//
//
// Collects the loops of a plan, equal ones once, and compiles them together.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_CODEGEN_NATIVECODE_H
#define SOL_LIB_NATIVE_CODEGEN_NATIVECODE_H

#include "lib/native/loops/LoopNest.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace sol::native {

/// One function of the images.
struct CompiledLoop {
  cpu::NativeOp op; ///< the first step that calls it
  LoopNest nest;
  int64_t scratchBytes = 0;      ///< for each element of a row
  std::vector<uint64_t> entries; ///< where it begins in each image
};

/// The code for one instruction-set level.
struct CompiledImage {
  std::string level, bytes;
};

class NativeCode {
public:
  explicit NativeCode(std::vector<std::string> levels)
      : levels(std::move(levels)) {}

  /// The number of the loop that computes what `op` does.
  llvm::FailureOr<int> add(cpu::NativeOp op);

  /// Compiles what was added; afterwards `loops` and `images` are whole. Emits
  /// an error at `module` and fails if it can't.
  llvm::LogicalResult compile(mlir::ModuleOp module);

  /// A module with one function of vectors for each loop that was added.
  mlir::OwningOpRef<mlir::ModuleOp> lower(mlir::MLIRContext &context);

  llvm::ArrayRef<CompiledLoop> loops() const { return compiled; }
  llvm::ArrayRef<CompiledImage> images() const { return built; }

private:
  std::vector<std::string> levels;
  std::vector<CompiledLoop> compiled;
  std::vector<CompiledImage> built;
};

} // namespace sol::native

#endif // SOL_LIB_NATIVE_CODEGEN_NATIVECODE_H
