//===- decoder.h - a whole decoder as the program of one region ----------===//
//
// Embedding, layers, head and the choice of the next token, put together from
// the kernels. All layers are alike and run as one loop.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SCHED_KERNELS_DECODER_H
#define SOL_LIB_SCHED_KERNELS_DECODER_H

#include "lib/sched/kernels/attention.h"
#include "lib/sched/kernels/vocabulary.h"

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
};

/// Matrices: one for each layer, or one.
struct DecoderWeights {
  Weights table; ///< [words][width]
  Weights head;  ///< the same for the head; empty: the table itself
  Weights frequencies, finalGain;
  Weights attentionGain, mlpGain;
  AttentionWeights attention;
  Weights gate, up, down;
};

/// Appends the program of a step. Input 0 `tokens`: one row of numbers. Output
/// 0 `logits`: tokens x words; output 1 `next`: tokens x 1. The position is
/// register 0, which counts on by itself; host sets it to 0 for a new sequence.
void writeDecoder(RegionWriter &writer, FabricProgram &program,
                  const DecoderShape &shape, const DecoderWeights &weights);

/// The register of the position.
inline constexpr int32_t positionRegister = 0;

} // namespace sol::fabric

#endif // SOL_LIB_SCHED_KERNELS_DECODER_H
