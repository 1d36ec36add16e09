//===- vocabulary.h - from tokens to vectors, and back -------------------===//
//
// One table serves both ways: words along x, width along y. As a look-up the
// column that has a token's row gives it to all; as the head it is a product.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SCHED_KERNELS_VOCABULARY_H
#define SOL_LIB_SCHED_KERNELS_VOCABULARY_H

#include "lib/sched/kernels/linear.h"

namespace sol::fabric {

/// A table of `words` rows of `width` elements on all PEs: PE [x, y] holds
/// rowShard rows from x * rowShard on, shard elements from y * shard on.
struct Table {
  int64_t words = 0, width = 0;
  int32_t rowShard = 0, shard = 0;
  int32_t buffer = -1;
};

Table table(RegionWriter &writer, int64_t words, int64_t width,
            const Weights &weights, ElementType storage);

/// Vectors along Axis::Y of the tokens whose numbers lie at elements 0 and on
/// of `tokens`, the same on all PEs; zeros for a token that the table lacks.
Sharded lookUp(RegionWriter &writer, const Table &table, int32_t tokens,
               int32_t count);

/// x table^T along Axis::X, x along Axis::Y.
Sharded logits(RegionWriter &writer, const Table &table, const Sharded &x);

/// The largest logit of each token and its number, as pairs of elements of the
/// buffer that is returned, on all PEs; the lowest number of equals.
int32_t greedyTokens(RegionWriter &writer, const Sharded &logits);

} // namespace sol::fabric

#endif // SOL_LIB_SCHED_KERNELS_VOCABULARY_H
