//===- GroupQueryState.h - the caches of GroupQueryAttention --------------===//
//
// GroupQueryAttention with past and present that qualify as caches becomes nn
// operators on state.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_GROUPQUERYSTATE_H
#define SOL_LIB_NN_RECOGNIZE_GROUPQUERYSTATE_H

#include "lib/nn/recognize/state/CacheParts.h"

namespace sol::nn::recognize {

/// Turns each GroupQueryAttention of `function` whose past and present are an
/// argument and a result into nn operators. `pairs` gets (result, argument)
/// for each cache; the types of the function are the caller's to set.
void convertGroupQueries(mlir::func::FuncOp function, CachePorts &pairs);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_GROUPQUERYSTATE_H
