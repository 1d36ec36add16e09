//===- GroupQueryState.h - the caches of GroupQueryAttention --------------===//
//
// GroupQueryAttention with past and present that qualify as caches becomes nn
// operators on state.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_GROUPQUERYSTATE_H
#define SOL_LIB_NN_RECOGNIZE_GROUPQUERYSTATE_H

#include "lib/nn/recognize/match/Match.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sol::nn::recognize {

/// Replaces what asks for the shape of `tensor` by the shape of `cache`, built
/// where `builder` stands.
void replaceShapes(mlir::Value tensor, mlir::Value cache,
                   mlir::OpBuilder &builder);

/// Turns each GroupQueryAttention of `function` whose past and present are an
/// argument and a result into nn operators. `pairs` gets (result, argument)
/// for each cache; the types of the function are the caller's to set.
void convertGroupQueries(
    mlir::func::FuncOp function,
    llvm::SmallVectorImpl<std::pair<unsigned, unsigned>> &pairs);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_GROUPQUERYSTATE_H
