//===- native_loops.h - the compiled loops that a plan describes ----------===//
//
// Turns the tables of a plan's compiled loops into ProgramNativeLoop, refusing
// what an interpreter could not trust. Knows nothing of the code itself;
// native_image.h finds it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_PLAN_NATIVE_LOOPS_H
#define SOL_RUNTIME_PLAN_NATIVE_LOOPS_H

#include "runtime/plan/program.h"

#include "absl/status/statusor.h"

#include <vector>

namespace sol {

/// The loops of `plan`, `function` null in all. InvalidArgument names the loop
/// and the field. Refused are:
/// - groups or axes out of range, two axes along one dimension, a dimension
///   that no operand has, so that nothing would give its size;
/// - no result, or one in which two units would write one element: a result has
///   every dimension, or, by rows, every one that is not part of a row;
/// - element types unknown or below one byte;
/// - less than 1 or more than `maxNativeSizes` sizes, scratch below 0 or above
///   `maxNativeScratch` bytes an element;
/// - other than one entry for each image, or one outside its image.
absl::StatusOr<std::vector<ProgramNativeLoop>>
buildNativeLoops(const fb::Plan &plan);

constexpr int maxNativeSizes = 64;
constexpr int64_t maxNativeScratch = 65536;

} // namespace sol

#endif // SOL_RUNTIME_PLAN_NATIVE_LOOPS_H
