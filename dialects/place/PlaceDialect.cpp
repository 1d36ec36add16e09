//===- PlaceDialect.cpp - the dialect that says where things lie ----------===//
//
// Registration of the place dialect, and what its operations check alone.
//
//===----------------------------------------------------------------------===//
#include "dialects/place/PlaceDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace sol::place;

#include "dialects/place/PlaceDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/place/PlaceOps.cpp.inc"

LogicalResult PlanOp::verifyRegions() {
  uint64_t regions = 0, blocks = 0;
  for (Operation &op : getBody().front()) {
    auto region = dyn_cast<RegionOp>(op);
    auto block = dyn_cast<BlockOp>(op);
    if (!region && !block)
      return op.emitOpError("has no place in a place.plan");
    uint64_t index = region ? region.getIndex() : block.getIndex();
    uint64_t &next = region ? regions : blocks;
    if (index != next)
      return op.emitOpError("has number ") << index << ", expected " << next;
    ++next;
  }
  return success();
}

LogicalResult RegionOp::verify() {
  if (getRectangle().size() != 4)
    return emitOpError("has a rectangle of ")
           << getRectangle().size() << " numbers, expected 4";
  return success();
}

LogicalResult BlockOp::verify() {
  for (Attribute shard : getShards())
    if (auto numbers = dyn_cast<DenseI64ArrayAttr>(shard);
        !numbers || numbers.size() != 3)
      return emitOpError("has the shard ")
             << shard << ", expected a region and the ends of its experts";
  return success();
}

void PlaceDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/place/PlaceOps.cpp.inc"
      >();
}
