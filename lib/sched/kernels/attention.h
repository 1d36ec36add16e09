//===- attention.h - attention with a cache on the fabric ----------------===//
//
// From the normed residual stream to the output product, for decode and for
// chunks of a few tokens. Columns are divided among the heads of keys; cached
// positions go to rows in turn, so that load stays even as a context grows.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SCHED_KERNELS_ATTENTION_H
#define SOL_LIB_SCHED_KERNELS_ATTENTION_H

#include "lib/sched/kernels/linear.h"

namespace sol::fabric {

struct AttentionShape {
  int32_t heads = 1; ///< of queries, a multiple of keyHeads
  int32_t keyHeads = 1;
  int32_t headSize = 2;  ///< even
  int32_t context = 1;   ///< positions that the cache holds
  float scale = 1;       ///< of the scores, as 1 / sqrt(headSize)
  float softcap = 0;     ///< scores become cap * tanh(score / cap); 0: not
  bool rotary = true;    ///< pairs (i, i + headSize / 2) are turned
  float epsilon = 1e-6f; ///< of the norms of heads
};

struct AttentionWeights {
  Weights query, key, value; ///< [width][heads * headSize], rows are inputs
  Weights output;            ///< [heads * headSize][width]
  Weights queryBias, keyBias, valueBias; ///< matrices of one row; may be empty
  /// Each head's query and key are normed, as rmsNorm does, before they are
  /// turned: matrices of one row with headSize elements; both or none.
  Weights queryGain, keyGain;
};

/// How heads lie on columns. With `columns` PEs for each head of keys, PE j of
/// them holds pairs j * pairs and on: elements j * pairs … of the first half
/// and the same of the second half. With several heads a column, `columns` is
/// 1 and `perColumn` heads follow each other.
struct HeadLayout {
  int32_t columns = 1;   ///< PEs of one head of keys
  int32_t perColumn = 1; ///< heads of keys of one column
  int32_t blocks = 1;    ///< columns that have heads, in units of `columns`
  int32_t pairs = 1;     ///< of one head on one PE
  int32_t elements() const { return 2 * pairs; }

  static HeadLayout of(const AttentionShape &shape, int32_t columns);
};

/// Where the token's positions come from; made once for all layers.
struct Positions {
  int32_t first = -1;  ///< register: position of the chunk's first token
  int32_t cosine = -1; ///< buffers: tokens x pairs
  int32_t sine = -1;
  int32_t tokens = 1;
};

/// Cosines and sines of position * frequency for the pairs of each column;
/// `frequencies` is a matrix of one row with headSize / 2 elements.
Positions rotaryAngles(RegionWriter &writer, const AttentionShape &shape,
                       int32_t positionRegister, int32_t tokens,
                       const Weights &frequencies);

/// Output product included; the cache is a buffer of the region, written at
/// the tokens' positions and read up to them. `x` is along Axis::Y.
Sharded attention(RegionWriter &writer, const Sharded &x,
                  const AttentionShape &shape, const AttentionWeights &weights,
                  const Positions &positions, ElementType storage,
                  ElementType cacheStorage);

} // namespace sol::fabric

#endif // SOL_LIB_SCHED_KERNELS_ATTENTION_H
