//===- waferllm.h - the published runs that the model is fitted to -------===//
//
// WaferLLM's decoder (arXiv 2502.04563 and its public repository) with its own
// padded shapes and algorithms: ten all-reduces a layer, each in groups of
// about 30 with roots in the middle, on square meshes. One constant is fitted,
// the cycles that software takes to start a step.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TOOLS_SOL_BENCH_WAFERLLM_H
#define SOL_TOOLS_SOL_BENCH_WAFERLLM_H

#include "machine/cost/fabric_timing.h"

#include <functional>
#include <string>
#include <vector>

namespace sol {

/// One configuration of the repository.
struct WaferLlmCase {
  std::string name;
  int64_t side = 0;                                  ///< of the mesh
  int64_t groups = 0;                                ///< of the reductions
  int64_t width = 0, feedForward = 0, positions = 0; ///< padded to the side
  int64_t layers = 0;
};

/// Llama-3-8B on that many PEs a side, as its configurations pad it.
std::vector<WaferLlmCase> waferLlmLlamaCases();
WaferLlmCase waferLlmQwenCase(); ///< Qwen2-72B at its largest mesh
/// The instrumented profile's configurations, at 240 and 360 a side: 9 of
/// width, 9 positions and 30 of feed-forward a PE, groups of 24.
WaferLlmCase waferLlmProfileCase(int64_t side);

/// Cycles of a layer's ten all-reduces. `timing.start` is what is fitted.
int64_t waferLlmFabricCycles(const FabricTiming &timing,
                             const WaferLlmCase &item);
/// Cycles of a layer's products on each PE, and the starts of its 13 local
/// phases. Sums are float16 in memory, as in its kernels.
int64_t waferLlmLocalCycles(const Target &target, const WaferLlmCase &item);
double waferLlmTokensPerSecond(const Target &target, const WaferLlmCase &item);

/// The start cost at which `cycles`, which grows with it, comes nearest to
/// `wanted`; never below 0.
int64_t fitStart(double wanted, const std::function<double(int64_t)> &cycles);

} // namespace sol

#endif // SOL_TOOLS_SOL_BENCH_WAFERLLM_H
