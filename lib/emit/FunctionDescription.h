//===- FunctionDescription.h - one function of the plan's description -----===//
//
// From `cpu` operations to the FlatBuffers tables of runtime/plan/plan.fbs, one
// step for each operation.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_EMIT_FUNCTIONDESCRIPTION_H
#define SOL_LIB_EMIT_FUNCTIONDESCRIPTION_H

#include "lib/emit/ConstantSection.h"
#include "lib/native/codegen/NativeCode.h"
#include "runtime/plan/plan_generated.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sol {

/// Builds the description of `func`, placing its constants on the way; its
/// compiled loops are those of `code`.
llvm::FailureOr<flatbuffers::Offset<fb::Function>>
describeFunction(mlir::func::FuncOp func, int64_t context,
                 ConstantSection &constants, native::NativeCode &code,
                 flatbuffers::FlatBufferBuilder &builder);

} // namespace sol

#endif // SOL_LIB_EMIT_FUNCTIONDESCRIPTION_H
