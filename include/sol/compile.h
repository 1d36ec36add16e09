//===- compile.h - from ONNX files to a plan ------------------------------===//
//
// The compiler as a library; `sol-compile` is a thin face on it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_COMPILE_H
#define SOL_COMPILE_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sol {

/// One model that becomes a function of the plan.
struct CompileInput {
  std::string function; ///< its name in the plan
  std::string path;     ///< an ONNX file, or a `.mlir` file that a stage left
};

struct CompileOptions {
  std::vector<CompileInput> inputs;
  /// Where the plan goes; with `stopAfter`, the IR (standard output if empty).
  std::string output;
  /// Stop after this stage (`import`, `nn`, `native`) and write its IR.
  std::string stopAfter;
  /// Folder that gets the IR after each stage, if not empty.
  std::string dumpIrFolder;
  /// Recognise structure; without it everything takes the generic path.
  bool recognition = true;
  /// Instruction-set levels that get machine code for fused loops, as the
  /// x86-64 psABI names them; with none every operator runs by a kernel of the
  /// runtime, on any processor. The compiling machine is never asked.
  std::vector<std::string> nativeLevels = {"x86-64", "x86-64-v3"};
  /// Say on standard error what was recognised, and what nearly was.
  bool remarks = false;
  /// Most positions of a sequence; 0 takes the model's own limit.
  int64_t context = 0;
  /// Called with what is being done, as it goes on; may be empty.
  std::function<void(const std::string &)> progress;
};

/// Compiles; diagnostics go to standard error as lines `error: …`. False on
/// failure, and then no output file is left.
bool compile(const CompileOptions &options);

} // namespace sol

#endif // SOL_COMPILE_H
