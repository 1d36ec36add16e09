//===- fabric_tables.h - what the fabric's model says about itself -------===//
//
// The tables of `sol-bench fabric`: each compares the cost library with events,
// with a bound, or with a published figure.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TOOLS_SOL_BENCH_FABRIC_TABLES_H
#define SOL_TOOLS_SOL_BENCH_FABRIC_TABLES_H

#include "tools/sol-bench/table.h"

#include "absl/status/statusor.h"
#include "sol/target.h"

namespace sol {

/// Reductions over a line to its end: forms, events, the bound.
absl::StatusOr<Table> reductionTable(const Target &target);
/// All-reduces over a line and a rectangle: what is chosen, and events.
absl::StatusOr<Table> allReduceTable(const Target &target);
/// The start cost fitted to WaferLLM's profile and to its row, each alone, and
/// what either predicts of the other figures.
absl::StatusOr<std::vector<Table>> waferLlmTables();
/// The service's published rates, with the ratio of our estimate to them.
absl::StatusOr<Table> vendorTable();
/// The shapes that are studied, estimated: one wafer a layer, or fewest.
absl::StatusOr<Table> shapeTable(const Target &target);

} // namespace sol

#endif // SOL_TOOLS_SOL_BENCH_FABRIC_TABLES_H
