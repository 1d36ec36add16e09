//===- BlockBuilder.h - from a list of steps to blocks --------------------===//
//
// The second half of ReadModel: cuts the steps where one vector alone is
// passed on, joins what is done in one go, and says how vectors are sharded.
// Knows no IR.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_GRAPH_BLOCKBUILDER_H
#define SOL_LIB_PLACE_GRAPH_BLOCKBUILDER_H

#include "lib/place/graph/ModelGraph.h"

#include "absl/status/statusor.h"

namespace sol::place {

/// Blocks, and the block of each step of the list that they were made from.
struct BlockList {
  std::vector<Block> blocks;
  std::vector<int> blockOf;
};

/// Makes blocks of steps whose `inputs` index the list itself, in an order in
/// which each takes earlier ones only. The first is a lookup, the last chooses
/// the token. A block ends behind a step whose result, of `width` elements, is
/// all that later ones take. InvalidArgument if there is no attention, naming
/// what is there.
absl::StatusOr<BlockList> makeBlocks(const std::vector<Step> &steps,
                                     int64_t width);

/// Joins products of the same operand, chains of operations on elements, and
/// gives each step the sharding that follows from products that turn rows into
/// columns and columns into rows. Adds a gather
/// where two sharings meet.
void arrangeBlock(Block &block);

} // namespace sol::place

#endif // SOL_LIB_PLACE_GRAPH_BLOCKBUILDER_H
