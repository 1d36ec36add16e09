//===- RotaryPairs.h - entries of heads that are turned together ----------===//
//
// A rotary embedding turns the entries of a head by twos. Exporters write the
// two parts, first and second entries of all pairs, and tables that give each
// angle to both, with Slice, Concat, Reshape and their like; here they are seen
// through. A question that can't be answered for certain is answered with "no".
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_ROTARYPAIRS_H
#define SOL_LIB_NN_RECOGNIZE_ROTARYPAIRS_H

#include "lib/nn/recognize/match/Match.h"

namespace sol::nn::recognize {

/// Which of 2R entries are a pair: i and i + R, or 2i and 2i + 1.
enum class Pairing { halves, neighbours };

/// First or second entries of all pairs.
enum class Part { first, second };

/// Whether two pieces are certainly the same entries.
bool samePiece(const Piece &a, const Piece &b);

/// The entries of which `value` is one part: for halves, x[8:16] is the second
/// part of x[0:16]; for neighbours, x[1::2] that of x. Null root if there are
/// none.
Piece wholeOf(mlir::Value value, Part part, Pairing pairing);

/// The first and second entries of which `value` is made, by a concatenation
/// or entry by entry in turn.
std::optional<std::pair<mlir::Value, mlir::Value>> partsOf(mlir::Value value,
                                                           Pairing pairing);

/// Whether both entries of each pair along the last axis, which has `size`
/// entries, are certainly equal: cosines or sines of which nn.rotary takes one
/// for each pair. Rank 1 to 4.
bool isDoubled(mlir::Value value, int64_t size, Pairing pairing);

/// The first entries of all pairs of a value that isDoubled; created beside it,
/// so that all layers share them.
mlir::Value createUndoubled(mlir::OpBuilder &builder, mlir::Value value,
                            Pairing pairing);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_ROTARYPAIRS_H
