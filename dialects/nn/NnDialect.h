//===- NnDialect.h - the dialect that says what is computed ---------------===//
//
// Declarations of the nn dialect, its attributes, types and operations; their
// documentation is in NnDialect.td and NnOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_NN_NNDIALECT_H
#define SOL_DIALECTS_NN_NNDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/nn/NnDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/nn/NnAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/nn/NnTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnOps.h.inc"

#endif // SOL_DIALECTS_NN_NNDIALECT_H
