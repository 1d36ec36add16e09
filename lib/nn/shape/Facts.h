//===- Facts.h - what is known about a value before the run ---------------===//
//
// Sizes of tensors, and elements of small integer tensors, as symbolic sizes;
// between them and MLIR types.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_SHAPE_FACTS_H
#define SOL_LIB_NN_SHAPE_FACTS_H

#include "lib/nn/shape/SymbolicSize.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace sol::nn {

/// One for each axis; unknown ones allowed.
using Sizes = llvm::SmallVector<SymbolicSize, 4>;
/// Elements of an integer or bool tensor of known shape, row-major; unknown
/// ones allowed. True is 1, false 0.
using Elements = std::vector<SymbolicSize>;
/// Only tensors up to this many elements are followed element by element.
inline constexpr int64_t maxTrackedElements = 128;

/// Facts that inference found; valid until the IR changes.
using ElementFacts = llvm::DenseMap<mlir::Value, Elements>;

/// Sizes that a type states: of a tensor, or of what a cache stands for.
/// Nullopt if the rank is not known or there is none.
std::optional<Sizes> sizesOf(mlir::Type type);

/// The tensor type with these sizes, of which none may be unknown.
mlir::RankedTensorType tensorType(llvm::ArrayRef<SymbolicSize> sizes,
                                  mlir::Type elementType);

/// True for the element types whose tensors are followed: bool, int32, int64.
bool isTrackedType(mlir::Type elementType);

/// The elements of a constant, or nullopt if it is too large or not tracked.
std::optional<Elements> elementsOf(mlir::ElementsAttr value);

/// The constant of this type that holds `elements`; null if one is no number.
mlir::DenseElementsAttr constantOf(const Elements &elements,
                                   mlir::RankedTensorType type);

/// `[batch, 3, past + sequence]`, for messages.
std::string sizesText(llvm::ArrayRef<SymbolicSize> sizes);

/// Product of the sizes.
SymbolicSize elementCount(llvm::ArrayRef<SymbolicSize> sizes);

/// The sizes as numbers if all of them are.
std::optional<llvm::SmallVector<int64_t>>
staticSizes(llvm::ArrayRef<SymbolicSize> sizes);

} // namespace sol::nn

#endif // SOL_LIB_NN_SHAPE_FACTS_H
