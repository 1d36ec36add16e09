//===- ReadModel.h - a decoder's graph from its IR ------------------------===//
//
// From a function of the nn stage to a ModelGraph, by data flow: what depends
// on the tokens is followed from the table that they are looked up in to the
// scores; positions, masks and sizes are not.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_GRAPH_READMODEL_H
#define SOL_LIB_PLACE_GRAPH_READMODEL_H

#include "lib/place/graph/ModelGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace sol::place {

/// What was read, and which operation belongs to which block.
struct ReadModel {
  ModelGraph graph;
  std::map<mlir::Operation *, int> blockOf;
};

/// Reads a decoder. Fails, with an error at the operation that it can't take:
/// no tokens, an operator that has no place on a fabric, attention without a
/// cache, a product with a matrix that is not known, sizes that are not known.
mlir::FailureOr<ReadModel> readModel(mlir::func::FuncOp function);

} // namespace sol::place

#endif // SOL_LIB_PLACE_GRAPH_READMODEL_H
