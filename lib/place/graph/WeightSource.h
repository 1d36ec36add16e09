//===- WeightSource.h - what is stored for a constant matrix --------------===//
//
// Follows a constant of the IR to the tensors of the model's files and says how
// many bytes they take and in what format. Reads no bytes.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_GRAPH_WEIGHTSOURCE_H
#define SOL_LIB_PLACE_GRAPH_WEIGHTSOURCE_H

#include "lib/place/graph/ModelGraph.h"

#include "mlir/IR/Value.h"

#include <optional>

namespace sol::place {

/// A constant as the model's files hold it.
struct WeightSource {
  Format format = Format::Float32; ///< of the largest tensor
  double elements = 0;             ///< of the largest tensor
  double bytes = 0;                ///< of the largest tensor
  double otherBytes = 0;           ///< scales and zero points beside it
  std::string key;                 ///< equal for equal tensors
};

/// Whether a value is known before the run: a constant, or an operator of
/// constants alone.
bool isKnownBeforeRun(mlir::Value value);

/// What is stored for `value`; nothing if it depends on an input, or has
/// elements of another type than the formats.
std::optional<WeightSource> weightSource(mlir::Value value);

} // namespace sol::place

#endif // SOL_LIB_PLACE_GRAPH_WEIGHTSOURCE_H
