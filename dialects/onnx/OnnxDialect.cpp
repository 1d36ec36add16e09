//===- OnnxDialect.cpp - the dialect of ONNX operators --------------------===//
//
// Makes an operation of each operator of the table, and answers what effects it
// has. The check of an operation against its schema is in VerifySchema.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/OnnxSchema.h"
#include "dialects/onnx/VerifySchema.h"

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
  for (const OpSchema &schema : allSchemas()) {
    const OpSchema *known = &schema;
    std::string name = operationName(schema);
    registerDynamicOp(DynamicOpDefinition::get(
        StringRef(name).substr(getNamespace().size() + 1), this,
        [known](Operation *op) { return verifySchema(op, *known); },
        [known](Operation *op) { return verifyRegions(op, *known); }));
  }
}

namespace {
/// Effects of operators: a pure one has those of its regions, none without any.
struct TableEffects
    : public MemoryEffectOpInterface::FallbackModel<TableEffects> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
                 &effects) const {
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (!isMemoryEffectFree(&inner)) {
          effects.emplace_back(MemoryEffects::Write::get());
          return;
        }
  }
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
