//===- PlaceDialect.td - the dialect that says where things lie -----------===//
//
// The `place` dialect. Operations are in PlaceOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_PLACE_PLACEDIALECT_TD
#define SOL_DIALECTS_PLACE_PLACEDIALECT_TD

include "mlir/IR/OpBase.td"

def Place_Dialect : Dialect {
  let name = "place";
  let cppNamespace = "::sol::place";
  let summary = "where the operators of a decoder lie on wafers";
  let description = [{
    A `place.plan` beside a function says which rectangles of PEs hold which
    blocks of it; each operator of the function that takes part carries
    `place.block`, the number of its block. What is computed stays in the
    function: this dialect only says where.
  }];
  let extraClassDeclaration = [{
    /// Name of the attribute that holds the number of an operator's block.
    static constexpr ::llvm::StringLiteral blockAttr = "place.block";
  }];
}

#endif // SOL_DIALECTS_PLACE_PLACEDIALECT_TD
