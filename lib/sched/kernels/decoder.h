//===- decoder.h - a whole decoder as the program of one region ----------===//
//
// Embedding, layers, head and the choice of the next token, put together from
// the kernels. All layers are alike and run as one loop.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SCHED_KERNELS_DECODER_H
#define SOL_LIB_SCHED_KERNELS_DECODER_H

#include "lib/sched/kernels/attention.h"
#include "lib/sched/kernels/experts.h"
#include "lib/sched/kernels/vocabulary.h"

#include <optional>

namespace sol::fabric {

struct DecoderShape {
  AttentionShape attention;
  int32_t layers = 1;
  int64_t width = 0, hidden = 0, words = 0;
  int32_t tokens = 1; ///< of a step
  float epsilon = 1e-5f;
  Opcode activation = Opcode::Silu;
  ElementType storage = ElementType::Float32; ///< of matrices and table
  ElementType cacheStorage = ElementType::Float32;
  /// Layers have a mixture of experts instead of the gated MLP.
  std::optional<ExpertsShape> experts;
  /// This colour and the next one join the regions of several stages.
  int32_t transferColour = 22;
};

/// Matrices: one for each layer (of experts, one for each of them), or one.
struct DecoderWeights {
  Weights table; ///< [words][width]
  Weights head;  ///< the same for the head; empty: the table itself
  Weights frequencies, finalGain;
  Weights attentionGain, mlpGain;
  AttentionWeights attention;
  Weights gate, up, down;
  ExpertsWeights experts;
};

/// Consecutive layers on one region. The first stage has the embedding too, the
/// last one the head.
struct DecoderStage {
  RegionWriter *writer = nullptr;
  int32_t layers = 0;
};

/// Appends the program of a step to the stages' regions, each of which lies
/// east of the one before (canTransferEast), maybe on another wafer. Input 0
/// `tokens`: one row of numbers. Output 0 `logits`: tokens x words; output 1
/// `next`: tokens x 1. The position is register 0, which counts on by itself;
/// the host sets it to 0 for a new sequence.
void writeDecoder(FabricProgram &program,
                  const std::vector<DecoderStage> &stages,
                  const DecoderShape &shape, const DecoderWeights &weights);

/// The register of the position.
inline constexpr int32_t positionRegister = 0;

} // namespace sol::fabric

#endif // SOL_LIB_SCHED_KERNELS_DECODER_H
