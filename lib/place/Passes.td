//===- Passes.td - passes of the place stage ------------------------------===//
//
// From a decoder in the nn dialect to a plan of where its operators lie.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_PASSES_TD
#define SOL_LIB_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignRegionsPass : Pass<"place-assign-regions", "::mlir::ModuleOp"> {
  let summary = "Give each block of a decoder its rectangles on wafers";
  let description = [{
    Before: the module has one function, a decoder that the nn stage left.
    After: a `place.plan` for it stands behind it, and its operators carry
    `place.block`. The search tries a number of changes that depends on the
    placement alone unless `seconds` ends it earlier.
    Fails when: an operator has no place on a fabric, the target is not known, or
    the model does not fit; the error says by how much, and what would.
    (example: test/place/assign-regions.mlir)
  }];
  let options = [
    Option<"target", "target", "std::string", "", "name or file of a machine">,
    Option<"wafers", "wafers", "int64_t", "0", "wafers to place on; 0: the fewest near the best">,
    Option<"context", "context", "int64_t", "0", "positions of a cache">,
    Option<"sequences", "sequences", "int64_t", "1", "sequences with a cache each">,
    Option<"seconds", "seconds", "double", "10", "most time for improving">,
  ];
  let dependentDialects = ["::sol::place::PlaceDialect"];
}

def VerifyPlacePass : Pass<"verify-place", "::mlir::ModuleOp"> {
  let summary = "Check that a placement obeys the rules";
  let description = [{
    Before: a module with place.plan operations, whoever made them.
    After: unchanged. (P1) regions are rectangles of wafers that there are; (P2)
    they don't overlap; (P3) none of their PEs is broken; (P4) each block has its
    shards and each expert is placed once; (P5) only experts are spread; (P6) the
    bytes of every PE suffice; (P7) operators carry the number of their block.
    Fails when: one of these does not hold; every violation is told.
    (example: test/place/verify-place.mlir)
  }];
}

#endif // SOL_LIB_PLACE_PASSES_TD
