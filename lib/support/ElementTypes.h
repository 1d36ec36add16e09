//===- ElementTypes.h - element types of IR and of the runtime ------------===//
//
// One table between MLIR's element types and the runtime's DType.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SUPPORT_ELEMENTTYPES_H
#define SOL_LIB_SUPPORT_ELEMENTTYPES_H

#include "runtime/cpu/tensor.h"

#include "mlir/IR/Types.h"

namespace sol {

/// The runtime's type for an element type of IR; None if there is none.
DType dtypeOf(mlir::Type elementType);

/// The element type of IR for one of the runtime; null for None.
mlir::Type elementTypeOf(DType type, mlir::MLIRContext *context);

} // namespace sol

#endif // SOL_LIB_SUPPORT_ELEMENTTYPES_H
