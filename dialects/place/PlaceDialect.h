//===- PlaceDialect.h - the dialect that says where things lie ------------===//
//
// Declarations of the place dialect; documentation is in PlaceOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_PLACE_PLACEDIALECT_H
#define SOL_DIALECTS_PLACE_PLACEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/place/PlaceDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/place/PlaceOps.h.inc"

#endif // SOL_DIALECTS_PLACE_PLACEDIALECT_H
