//===- OnnxDialect.cpp - the dialect of ONNX operators --------------------===//
//
// Makes an operation of each operator of the table, and answers what effects it
// has.
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/OnnxSchema.h"
#include "dialects/onnx/TableOperation.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace sol::onnx;

#include "dialects/onnx/OnnxDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/onnx/OnnxOps.cpp.inc"

void OnnxDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxOps.cpp.inc"
      >();
  for (const OpSchema &schema : allSchemas())
    RegisteredOperationName::insert(
        std::make_unique<TableOperation>(schema, this), {});
}

namespace {
/// Pure operators have no effects but those of their graphs.
struct TableEffects
    : public MemoryEffectOpInterface::FallbackModel<TableEffects> {
  void
  getEffects(Operation *,
             SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
                 &) const {}
};
} // namespace

void *OnnxDialect::getRegisteredInterfaceForOp(TypeID interface,
                                               OperationName name) {
  static TableEffects effects;
  if (interface != MemoryEffectOpInterface::getInterfaceID())
    return nullptr;
  const OpSchema *schema = findSchema(name);
  return schema && schema->isPure ? &effects : nullptr;
}
