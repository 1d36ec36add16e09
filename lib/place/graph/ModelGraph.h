//===- ModelGraph.h - a decoder as what a fabric has to do for a token ----===//
//
// The model apart from any machine: blocks in the order in which a token
// passes them, each a list of steps with the sizes that memory and time depend
// on. Plain data: ReadModel.h makes it from IR, everything else in lib/place
// works on it, and tests make their own.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_GRAPH_MODELGRAPH_H
#define SOL_LIB_PLACE_GRAPH_MODELGRAPH_H

#include "absl/status/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sol::place {

/// How numbers are stored.
enum class Format { Float32, Float16, Int8, Int4 };

/// `float32`, `float16`, `int8` or `int4`.
const char *formatName(Format format);
/// Bytes of an element; half a byte for int4.
double formatBytes(Format format);

/// Which axis of a rectangle a vector is sharded over; it is the same on all
/// PEs along the other axis.
enum class Axis {
  Row,   ///< PEs of row y hold part y
  Column ///< PEs of column x hold part x
};

/// What a step computes.
enum class StepKind {
  Lookup,    ///< a row of a table, `k` rows of `n` elements
  Norm,      ///< `n` elements in `groups` vectors, each normalised
  Product,   ///< of a vector of `k` elements and a matrix, `n` elements
  Attention, ///< of one new position with those in the cache
  Local,     ///< `passes` operations on each of `n` elements
  Gather, ///< `n` elements become known to all PEs, and `passes` looks at them
  ArgMax  ///< the index of the largest of `n` elements
};

/// `lookup`, `norm`, `product`, …
const char *stepKindName(StepKind kind);

/// One step of a token's way. Sizes are per token.
struct Step {
  StepKind kind = StepKind::Local;
  std::string node; ///< the ONNX node that it comes from, the first of several
  /// Steps of the same block whose results it takes; none: what the block gets.
  std::vector<int> inputs;
  /// How its operand and its result are sharded.
  Axis from = Axis::Row, to = Axis::Row;

  int64_t k = 0, n = 0;
  int64_t groups = 1; ///< Norm: vectors of n / groups elements
  int64_t words = 1;  ///< Norm: sums that each group needs, 2 with a mean
  int64_t passes = 1; ///< Local and Gather

  /// @name Product and Lookup: what is stored
  Format format = Format::Float32;
  /// Bytes of scales and zero points for each element of the matrix.
  double scaleBytesPerElement = 0;
  /// Products whose operand is the same, done as one: the `n` of each.
  std::vector<int64_t> parts;
  /// Matrices of experts: `experts` are stored, `active` used for a token. 1
  /// and 1 for a plain product.
  int64_t experts = 1, active = 1;
  /// The active experts' results are summed, instead of standing side by side.
  bool sumsExperts = false;
  /// The product whose results are the scores of the vocabulary.
  bool isVocabulary = false;
  /// Key of what is stored, for what several steps share; empty: not shared.
  std::string table;

  /// @name Attention
  int64_t heads = 0, kvHeads = 0, keySize = 0, valueSize = 0;
  int64_t window = 0; ///< positions seen at most; 0: all

  /// Bytes of other parameters: scales of norms, biases; sharded as the result.
  double vectorBytes = 0;

  /// Bytes of all matrices, in all.
  double matrixBytes() const;
  /// Multiply-adds for a token with `context` positions in the cache.
  double macs(int64_t context) const;
  /// Elements of keys and values that a position takes.
  int64_t cacheElements() const {
    return kind == StepKind::Attention ? kvHeads * (keySize + valueSize) : 0;
  }
};

/// What a block is.
enum class BlockKind { Embedding, Attention, FeedForward, Experts, Head };

/// `embedding`, `attention`, `feed-forward`, `experts` or `head`.
const char *blockKindName(BlockKind kind);

/// Steps between two points at which nothing but one vector is passed on.
struct Block {
  BlockKind kind = BlockKind::FeedForward;
  std::string name;   ///< `layer 3 attention`
  int64_t layer = -1; ///< counted by attentions; -1: embedding and head
  std::vector<Step> steps;

  double matrixBytes() const;
  double vectorBytes() const;
  int64_t cacheElements() const;
  /// Experts that can be spread over rectangles; 1 if there are none.
  int64_t experts() const;
};

/// A decoder.
struct ModelGraph {
  std::string name;
  int64_t width = 0;      ///< elements of the vector that passes from block to
                          ///< block
  int64_t vocabulary = 0; ///< scores of the head
  int64_t layers = 0;
  int64_t contextLimit = 0; ///< most positions; 0: not known
  std::vector<Block> blocks;

  /// Bytes of matrices and vectors; what is shared counts once.
  double weightBytes() const;
  /// Elements of matrices; what is shared counts once.
  double parameters() const;
  /// Elements of keys and values for a position, all layers together.
  int64_t cacheElements() const;
  /// Formats of the matrices, most bytes first.
  std::vector<Format> formats() const;

  /// InvalidArgument, naming block and step, where sizes contradict each other:
  /// none below 1, steps that take later ones, blocks that do not begin and end
  /// by rows.
  absl::Status check() const;
};

} // namespace sol::place

#endif // SOL_LIB_PLACE_GRAPH_MODELGRAPH_H
