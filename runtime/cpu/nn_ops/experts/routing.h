//===- routing.h - which experts a token goes to --------------------------===//
//
// The largest router logits and their softmax weights. Among equal logits the
// expert with the lower number comes first.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_EXPERTS_ROUTING_H
#define SOL_RUNTIME_CPU_NN_OPS_EXPERTS_ROUTING_H

#include "runtime/cpu/elementary.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/operands.h"

namespace sol::nn {

struct Routing {
  /// One choice of a token; no expert (-1) where logits are NaN.
  struct Pick {
    int64_t expert;
    float weight;
  };
  int64_t experts = 0;
  int64_t count = 0;       ///< experts a token
  bool normalized = false; ///< weights of the chosen sum to one

  /// Checks operand and attributes. QMoE takes the softmax over the chosen
  /// experts whatever its attribute says: `alwaysNormalize`.
  absl::Status read(const KernelCall &call, const Tensor &logits,
                    int64_t tokens, int64_t expertCount, bool alwaysNormalize) {
    experts = expertCount;
    SOL_NN_TRY(checkType(logits, "router_probs",
                         {DType::F32, DType::F16, DType::BF16}));
    SOL_NN_TRY(checkDims(logits, "router_probs", {tokens, experts}));
    SOL_NN_ASSIGN(count, call.attributes.integer("k", 1));
    if (count <= 0 || count > experts)
      return invalid("attribute `k` is ", count, ", must lie in [1, ", experts,
                     "]");
    SOL_NN_ASSIGN(int64_t normalize,
                  call.attributes.integer("normalize_routing_weights", 0));
    normalized = alwaysNormalize || normalize != 0;
    SOL_NN_ASSIGN(int64_t sparse,
                  call.attributes.integer("use_sparse_mixer", 0));
    if (sparse != 0)
      return invalid("attribute `use_sparse_mixer` is ", sparse,
                     ", which is not supported: must be 0");
    return absl::OkStatus();
  }

  /// Fills `picks` with `count` choices of a token; `row` holds `experts`
  /// floats of workspace.
  void choose(const Tensor &logits, int64_t token, float *row,
              Pick *picks) const {
    loadRow(logits, token * experts, experts, row);
    for (int64_t n = 0; n < count; ++n) {
      int64_t best = -1;
      for (int64_t e = 0; e < experts; ++e) {
        bool taken = false;
        for (int64_t before = 0; before < n; ++before)
          taken |= picks[before].expert == e;
        if (!taken && row[e] == row[e] && (best < 0 || row[e] > row[best]))
          best = e;
      }
      picks[n] = {best, 0.0f};
    }
    // Softmax over all experts, or over the chosen ones alone.
    float most = picks[0].expert < 0 ? 0.0f : row[picks[0].expert];
    auto weight = [&](int64_t e) { return elementary::exp(row[e] - most); };
    float sum = 0;
    if (normalized)
      for (int64_t n = 0; n < count; ++n)
        sum += picks[n].expert < 0 ? 0.0f : weight(picks[n].expert);
    else
      sum = laneSum<float>(experts, weight);
    for (int64_t n = 0; n < count; ++n)
      if (picks[n].expert >= 0)
        picks[n].weight = weight(picks[n].expert) / sum;
  }
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_EXPERTS_ROUTING_H
