//===- BranchState.h - caches that a condition decides on -----------------===//
//
// Decoders with one graph for first and later runs, and caches that are read
// and never lengthened: the keys and values of an encoder's states.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_BRANCHSTATE_H
#define SOL_LIB_NN_RECOGNIZE_BRANCHSTATE_H

#include "lib/nn/recognize/state/CacheParts.h"

namespace sol::nn::recognize {

/// Makes caches of the pasts that one branch of an If lengthens, or reads by
/// attention alone, where the other branch gives what they begin with. `pairs`
/// gets (result, argument) for each that is a result of the function; a past
/// that keeps what its first run gave gets `nn.fixed`, and `nn.fed_by` if its
/// result is a tensor. The types of the function are the caller's to set.
void convertBranches(mlir::func::FuncOp function, CachePorts &pairs);

/// Makes caches of the arguments that attention alone reads, in a function that
/// has other caches (`hasCaches`): `nn.fixed`.
void convertFixedPasts(mlir::func::FuncOp function, bool hasCaches);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_BRANCHSTATE_H
