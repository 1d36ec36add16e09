//===- CpuDialect.cpp - the dialect that says what the host executes ------===//
//
// Registration of the cpu dialect.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace sol::cpu;

#include "dialects/cpu/CpuDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.cpp.inc"

void CpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/CpuOps.cpp.inc"
      >();
}
