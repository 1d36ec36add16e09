//===- KernelAttributes.h - an operator's attributes as kernels see them --===//
//
// From MLIR attributes to the runtime's: used to evaluate constants and to
// write plans, so that both call kernels alike.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SUPPORT_KERNELATTRIBUTES_H
#define SOL_LIB_SUPPORT_KERNELATTRIBUTES_H

#include "runtime/cpu/attributes.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace sol {

/// The attributes of an operator. A unit attribute is the integer 1; a tensor
/// of one element (`value` of ConstantOfShape) is that element; names with a
/// dot are notes of the compiler and left out. An attribute of another kind (a
/// type, a larger tensor) has no meaning to a kernel and is left out as well.
Attributes kernelAttributes(mlir::ArrayRef<mlir::NamedAttribute> attributes);

} // namespace sol

#endif // SOL_LIB_SUPPORT_KERNELATTRIBUTES_H
