//===- PlaceOps.td - operations of the place dialect ----------------------===//
//
// A plan, its regions and its blocks.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_PLACE_PLACEOPS_TD
#define SOL_DIALECTS_PLACE_PLACEOPS_TD

include "dialects/place/PlaceDialect.td"
include "mlir/IR/SymbolInterfaces.td"

class Place_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Place_Dialect, opMnemonic, traits>;

def Place_PlanOp : Place_Op<"plan", [NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "where the blocks of one function lie";
  let description = [{
    `function` is placed on `wafers` wafers of the machine `target`, a name or a
    file as `--target` takes it. Caches have room for `positions` positions of each
    of `sequences` sequences; `chunk` tokens of a prompt go through together.
    `fused` says that products of one operand share a reduction, `defects` names a
    file of what is broken. The body holds its regions, then its blocks, in the
    function's order, one of each number from 0 on. `verify-place` checks the
    rest: P1 to P6 of lib/place/plan/Problem.h.

    Example:
    ```mlir
    place.plan @main on "mesh-8x8" wafers 1 context 64 sequences 1 chunk 4 fused {
      place.region 0 on 0 at [0, 0, 8, 8]
      place.block 0 "embedding" in [array<i64: 0, 0, 1>]
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, StrAttr:$target,
                       I64Attr:$wafers, I64Attr:$positions, I64Attr:$sequences,
                       I64Attr:$chunk, UnitAttr:$fused,
                       OptionalAttr<StrAttr>:$defects);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $function `on` $target `wafers` $wafers `context` $positions `sequences`
    $sequences `chunk` $chunk (`fused` $fused^)? (`defects` $defects^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Place_RegionOp : Place_Op<"region", [HasParent<"PlanOp">]> {
  let summary = "a rectangle of PEs of one wafer";
  let description = [{
    Region number `index` lies on `wafer`: columns and rows from the first two
    numbers of `rectangle` on, as many as the other two say.

    Example: `place.region 2 on 0 at [4, 0, 4, 8]`
  }];
  let arguments = (ins I64Attr:$index, I64Attr:$wafer,
                       DenseI64ArrayAttr:$rectangle);
  let assemblyFormat = "$index `on` $wafer `at` $rectangle attr-dict";
  let hasVerifier = 1;
}

def Place_BlockOp : Place_Op<"block", [HasParent<"PlanOp">]> {
  let summary = "the regions that hold a block";
  let description = [{
    Block number `index` of the function lies on the regions of `shards`: each has
    the number of a region and the first and the past-the-last of the experts that
    it holds. A block without experts has one shard, from 0 to 1.

    Example: `place.block 3 "layer 0 experts" in [array<i64: 0, 0, 5>, array<i64: 1, 5, 8>]`
  }];
  let arguments = (ins I64Attr:$index, StrAttr:$name,
                       TypedArrayAttrBase<DenseI64ArrayAttr, "shards">:$shards);
  let assemblyFormat = "$index $name `in` $shards attr-dict";
  let hasVerifier = 1;
}

#endif // SOL_DIALECTS_PLACE_PLACEOPS_TD
