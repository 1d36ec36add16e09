//===- OnnxDialect.h - the dialect of ONNX operators ----------------------===//
//
// Declarations of the onnx dialect; documentation in OnnxOps.td. What is known
// about each operator is in OnnxSchema.h.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_DIALECTS_ONNX_ONNXDIALECT_H
#define SOL_DIALECTS_ONNX_ONNXDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/onnx/OnnxDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxOps.h.inc"

#endif // SOL_DIALECTS_ONNX_ONNXDIALECT_H
