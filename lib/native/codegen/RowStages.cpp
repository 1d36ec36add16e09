//===- RowStages.cpp - how often a loop goes along a row ------------------===//
//
// See RowStages.h.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/RowStages.h"

using namespace mlir;

namespace sol::native {

RowStages::RowStages(cpu::NativeOp op, const LoopNest &nest) : rank(nest.rank) {
  for (auto generic : op.getBody().getOps<linalg::GenericOp>()) {
    unsigned earliest = 0;
    for (Value input : generic.getInputs())
      earliest = std::max(earliest, readyFor(input));
    stage[generic] = earliest;
    if (!isPerRow(generic) || joinsRows(generic))
      stages = std::max(stages, earliest + 1);
    for (Value input : generic.getInputs()) {
      auto source = input.getDefiningOp<linalg::GenericOp>();
      if (source && !isPerRow(source) && stage[source] < earliest)
        later.insert(source);
    }
  }
}

unsigned RowStages::readyFor(Value value) const {
  auto source = value.getDefiningOp<linalg::GenericOp>();
  if (!source)
    return 0;
  return stage.lookup(source) + (joinsRows(source) ? 1 : 0);
}

} // namespace sol::native
