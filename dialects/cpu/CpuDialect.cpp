//===- CpuDialect.cpp - the dialect that says what the host executes ------===//
//
// Registration of the cpu dialect.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace sol::cpu;

#include "dialects/cpu/CpuDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.cpp.inc"

/// Arguments must read what the operands are; what an element is made of is
/// checked where the loop is analysed (lib/native/loops/LoopNest.h).
LogicalResult NativeOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getNumOperands())
    return emitOpError("has ") << getNumOperands() << " operands and a body of "
                               << block.getNumArguments() << " arguments";
  for (auto [operand, argument] :
       llvm::zip(getOperands(), block.getArguments())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (argument.getType() !=
        RankedTensorType::get(type.getShape(), type.getElementType()))
      return emitOpError("has an argument of type ")
             << argument.getType() << " for an operand of type " << type;
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield->getNumOperands() != getNumResults())
    return emitOpError("must end by a cpu.yield of ")
           << getNumResults() << " values";
  for (auto [value, result] : llvm::zip(yield.getValues(), getResults()))
    if (getElementTypeOrSelf(value.getType()) !=
        getElementTypeOrSelf(result.getType()))
      return emitOpError("yields ")
             << value.getType() << " for a result of type " << result.getType();
  return success();
}

void CpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/CpuOps.cpp.inc"
      >();
}
