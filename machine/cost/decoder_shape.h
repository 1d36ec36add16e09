//===- decoder_shape.h - a decoder by its sizes --------------------------===//
//
// What targets/shapes/*.json hold: enough to count weights, work and cache of a
// decoder without its graph. tools/make-model.py makes the graph of the same
// file. Used by estimates, never by a plan.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_DECODER_SHAPE_H
#define SOL_MACHINE_COST_DECODER_SHAPE_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>

namespace sol {

struct DecoderShape {
  std::string name;
  int64_t layers = 0, width = 0;
  int64_t heads = 0, kvHeads = 0, headDim = 0;
  int64_t feedForward = 0; ///< of one network, or of one expert
  int64_t experts = 0;     ///< 0: no mixture
  int64_t expertsPerToken = 0;
  int64_t vocabulary = 0;

  int64_t queryWidth() const { return heads * headDim; }
  int64_t cacheWidth() const { return 2 * kvHeads * headDim; }
  /// Inner width of the networks that a token goes through.
  int64_t activeWidth() const {
    return feedForward * (experts ? expertsPerToken : 1);
  }
  /// Weights of one layer's attention, of its networks that a token uses or of
  /// all of them; norms are not counted.
  int64_t attentionWeights() const {
    return width * (2 * queryWidth() + cacheWidth());
  }
  int64_t activeWeights() const {
    return 3 * width * activeWidth() + width * experts;
  }
  int64_t networkWeights() const {
    return 3 * width * feedForward * (experts ? experts : 1) + width * experts;
  }
  /// Of all layers, without embedding and output matrix.
  int64_t layerWeights() const {
    return layers * (attentionWeights() + networkWeights());
  }
};

/// Reads a shape file. Errors name file and field, as loadTarget's.
absl::StatusOr<DecoderShape> loadShape(const std::string &path);

/// The shape of that name that came with Sol, or a file, as findTarget does.
absl::StatusOr<DecoderShape> findShape(const std::string &nameOrFile);

} // namespace sol

#endif // SOL_MACHINE_COST_DECODER_SHAPE_H
