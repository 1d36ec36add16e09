//===- BufferState.h - caches that are buffers of a fixed length ----------===//
//
// Past and present of one length, where new keys and values are written at
// given positions, become one cache that is written in place.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_BUFFERSTATE_H
#define SOL_LIB_NN_RECOGNIZE_BUFFERSTATE_H

#include "lib/nn/recognize/state/CacheParts.h"

namespace sol::nn::recognize {

/// Turns each argument of `function` of batch x heads x capacity x head size
/// that one TensorScatter, ScatterND or ScatterElements writes into along its
/// third axis, and the result that is the buffer afterwards, into a cache with
/// an nn.cache_write. The positions must be those of an input, or follow one
/// number of an input for each row: that input gets its role here, and so does
/// an input that counts what attention reads of such a buffer. Others stay
/// tensors, with a remark. `pairs` gets (result, argument) for each cache; the
/// types of the function are the caller's to set.
void convertBuffers(mlir::func::FuncOp function, CachePorts &pairs);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_BUFFERSTATE_H
