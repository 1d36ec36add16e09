//===- CacheParts.h - what becomes of the users of a cache's tensor -------===//
//
// Shared by the conventions by which graphs hand on keys and values: what asks
// for shapes, and what reads the longer tensor.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_CACHEPARTS_H
#define SOL_LIB_NN_RECOGNIZE_CACHEPARTS_H

#include "lib/nn/recognize/match/Match.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sol::nn::recognize {

/// Length is the third axis of batch x heads x length x head size.
constexpr int64_t lengthAxis = 2;

/// A cache that the function takes and gives: (result, argument), by index.
using CachePorts = llvm::SmallVectorImpl<std::pair<unsigned, unsigned>>;

/// The type of the cache that stands for `tensor`, which is ranked.
CacheType cacheType(mlir::Value tensor);

/// Replaces what asks for the shape of `tensor` by the shape of `cache`, built
/// where `builder` stands.
void replaceShapes(mlir::Value tensor, mlir::Value cache,
                   mlir::OpBuilder &builder);

/// Makes `past` a cache; what asks for its shape does so before anything is
/// appended.
void makeCache(mlir::BlockArgument past);

/// Whether `past` serves `op` as one operand, and otherwise for its shape only.
bool servesOnlyFor(mlir::Operation *op, mlir::BlockArgument past);

/// Why `past`, lengthened by `concat`, can't be a cache; empty if it can.
llvm::StringRef whyNoCache(mlir::BlockArgument past, mlir::Operation *concat);

/// Replaces the uses of `present`, the tensor that `cache` stands for:
/// attention and `end` read the cache itself, what is left reads a copy.
void replacePresent(mlir::Value present, mlir::Value cache,
                    mlir::Operation *end, mlir::OpBuilder &builder);

/// Puts an append in the place of `concat`, before `end`, which ends the block
/// and may have the longer tensor among its operands: attention and `end` get
/// the cache, what is left a copy. `past` is a cache already.
CacheAppendOp appendInstead(mlir::Operation *concat, mlir::BlockArgument past,
                            mlir::Operation *end);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_CACHEPARTS_H
