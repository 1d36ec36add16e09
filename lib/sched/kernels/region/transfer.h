//===- transfer.h - a vector from one rectangle to the next --------------===//
//
// How the residual stream goes from the region of some layers to that of the
// next ones, on the same wafer or on another.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SCHED_KERNELS_REGION_TRANSFER_H
#define SOL_LIB_SCHED_KERNELS_REGION_TRANSFER_H

#include "lib/sched/kernels/region/region_writer.h"

namespace sol::fabric {

/// Is there a straight way east, row by row, from the one region to the other?
/// They need as many rows, and the same rows if they are on one wafer; `to`
/// lies east of `from` there.
bool canTransferEast(const Region &from, const Region &to);

/// Each row of `from` sends its shard from its last column; every PE of the row
/// of `to` gets it. `x` is along Axis::Y; so is the result. The colour must be
/// free in both regions and between them. Between wafers, a link of the rows is
/// added to the program.
Sharded transferEast(FabricProgram &program, RegionWriter &from,
                     const Sharded &x, RegionWriter &to, int32_t colour);

} // namespace sol::fabric

#endif // SOL_LIB_SCHED_KERNELS_REGION_TRANSFER_H
