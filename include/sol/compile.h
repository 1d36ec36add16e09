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

/// Where the model is to lie on wafers. Applies if `target` is not empty.
struct PlaceOptions {
  std::string target;  ///< a name, or a file (docs/targets.md)
  std::string defects; ///< a file that says what is broken; may be empty
  /// Wafers to place on; 0: the fewest that are within 2 % of the best.
  int64_t wafers = 0;
  /// `free`, `layer-per-wafer` or `layer-per-wafer-rectangle`.
  std::string policy = "free";
  /// `latency`, `throughput` or `context`.
  std::string objective = "latency";
  int64_t sequences = 1;    ///< interleaved, each with its own cache
  int64_t promptTokens = 0; ///< for the time to the first token; 0: the context
  double searchSeconds = 10; ///< most time for improving a placement
  bool fused = true;         ///< products of one operand share a reduction
  /// Where the plan's figures go, as JSON; empty: nowhere. With it `output`
  /// may be empty, and then no weights are read or written.
  std::string report;
};

struct CompileOptions {
  std::vector<CompileInput> inputs;
  /// Where the plan goes; with `stopAfter`, the IR (standard output if empty).
  std::string output;
  /// Stop after this stage (`import`, `nn`, `place`, `native`) and write its
  /// IR.
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
  PlaceOptions place;
  /// Files of weights may be absent; the model can then be placed and costed,
  /// and its IR written, but no plan that runs.
  bool weightless = false;
  /// Called with what is being done, as it goes on; may be empty.
  std::function<void(const std::string &)> progress;
};

/// Compiles; diagnostics go to standard error as lines `error: …`. False on
/// failure, and then no output file is left.
bool compile(const CompileOptions &options);

} // namespace sol

#endif // SOL_COMPILE_H
