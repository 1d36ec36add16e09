//===- TensorBytes.h - elements of constants as ONNX stores them ----------===//
//
// Conversion between MLIR's constants and ONNX's raw data: little-endian, bool
// one byte, 4-bit types two and 2-bit types four to a byte, first element
// lowest. Plans, kernels and files all use that form.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SUPPORT_TENSORBYTES_H
#define SOL_LIB_SUPPORT_TENSORBYTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace sol {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Bits an element takes in ONNX's form (bool: 8); 0 for types that have none.
unsigned packedBits(mlir::Type elementType);

/// Bytes that a tensor of static shape takes in ONNX's form; none if the shape
/// is dynamic, the type has no such form, or the number is beyond 2^62.
std::optional<int64_t> packedSize(mlir::ShapedType type);

/// The elements of a constant in ONNX's form. Fails on a constant that is
/// neither dense nor a resource.
mlir::FailureOr<std::vector<char>> packedBytes(mlir::ElementsAttr value);

/// The constant of `type` (static shape) with these bytes; their number must be
/// packedSize(type), null otherwise.
mlir::DenseElementsAttr elementsFromBytes(mlir::RankedTensorType type,
                                          llvm::ArrayRef<char> bytes);

/// The elements in a serialized TensorProto that keeps them in typed fields
/// (float_data, int32_data, …) or in raw_data, in ONNX's form. `type` says how
/// many of which type there must be.
mlir::FailureOr<std::vector<char>>
bytesOfTensorProto(llvm::ArrayRef<char> message, mlir::RankedTensorType type,
                   EmitError error);

} // namespace sol

#endif // SOL_LIB_SUPPORT_TENSORBYTES_H
