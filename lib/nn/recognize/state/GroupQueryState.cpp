//===- GroupQueryState.cpp - the caches of GroupQueryAttention ------------===//
//
// The rows of a batch may differ in length here, so appending says where each
// row's step begins.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/state/GroupQueryState.h"

#include "lib/nn/recognize/attention/GroupQuery.h"
#include "lib/nn/shape/SymbolicSize.h"

using namespace mlir;

namespace sol::nn::recognize {

/// The one use of `present` by the function's end; null if it has others, apart
/// from those that ask for its shape.
static OpOperand *soleResult(Value present, Operation *end) {
  OpOperand *result = nullptr;
  for (OpOperand &use : present.getUses()) {
    if (isOnnx(use.getOwner(), "Shape"))
      continue;
    if (use.getOwner() != end || result)
      return nullptr;
    result = &use;
  }
  return result;
}

/// Types of a cache before and after the step; null if a size is not known.
static std::pair<CacheType, CacheType> cacheTypes(const GroupQuery &group,
                                                  Value past) {
  MLIRContext *context = past.getContext();
  auto query = ranked(group.op->getOperand(0)), type = ranked(past);
  if (!type || type.getRank() != 4)
    return {};
  StringAttr batch = sizeText(query, 0), step = sizeText(query, 1),
             length = sizeText(type, 2);
  if (!batch || !step || !length)
    return {};
  auto text = [&](const Twine &size) { return StringAttr::get(context, size); };
  SymbolicSize total = SymbolicSize::parse(length.getValue()) +
                       SymbolicSize::parse(step.getValue());
  SmallVector<StringAttr> sizes{batch, text(Twine(group.sharedHeads)), length,
                                text(Twine(group.headSize))};
  RankedTensorType before = typeOf(sizes, type.getElementType());
  sizes[2] = text(total.text());
  RankedTensorType after = typeOf(sizes, type.getElementType());
  if (!before || !after)
    return {};
  return {CacheType::get(context, before), CacheType::get(context, after)};
}

/// Why the operator's past and present can't be state; empty if they can.
static StringRef whyNoState(const GroupQuery &group, Block &block) {
  auto key = dyn_cast_or_null<BlockArgument>(group.pastKey),
       value = dyn_cast_or_null<BlockArgument>(group.pastValue);
  if (!key || !value || key == value || key.getOwner() != &block ||
      value.getOwner() != &block || group.op->getBlock() != &block)
    return "its past is no argument of the function";
  if (!servesOnlyFor(group.op, key) || !servesOnlyFor(group.op, value))
    return "the past is used otherwise than for its shape";
  Operation *end = block.getTerminator();
  for (unsigned i : {1u, 2u}) {
    Value present = resultOrNull(group.op, i);
    if (!present || !soleResult(present, end))
      return "its present is not just a result of the function";
  }
  if (!cacheTypes(group, key).first || !cacheTypes(group, value).first)
    return "a size is not known";
  return {};
}

static bool convertOne(const GroupQuery &group, Block &block,
                       SharedAcrossLayers &shared, CachePorts &pairs) {
  OpBuilder builder(group.op);
  Value offsets = createOffsets(group, shared, builder);
  AttentionParts parts =
      offsets ? createStep(group, offsets, shared, builder) : AttentionParts();
  if (!parts.query)
    return false;
  Operation *end = block.getTerminator();
  auto append = [&](Value past, Value step, unsigned result) {
    auto argument = cast<BlockArgument>(past);
    auto [before, after] = cacheTypes(group, past);
    Value present = group.op->getResult(result);
    OpOperand *use = soleResult(present, end);
    OpBuilder atStart(&block, block.begin());
    replaceShapes(past, past, atStart);
    argument.setType(before);
    Value longer = CacheAppendOp::create(builder, group.op->getLoc(), after,
                                         past, step, offsets);
    use->set(longer);
    replaceShapes(present, longer, builder);
    pairs.push_back({use->getOperandNumber(), argument.getArgNumber()});
    remarkFound(longer.getDefiningOp(), "cache");
    return longer;
  };
  parts.key = append(group.pastKey, parts.key, 1);
  parts.value = append(group.pastValue, parts.value, 2);
  remarkFound(group.op, "attention");
  group.op->getResult(0).replaceAllUsesWith(
      createResult(group, parts, offsets, builder));
  group.op->erase();
  return true;
}

void convertGroupQueries(func::FuncOp function, CachePorts &pairs) {
  Block &block = function.getBody().front();
  SmallVector<Operation *> operators;
  for (Operation &op : block)
    if (isOnnx(&op, "microsoft.GroupQueryAttention"))
      operators.push_back(&op);
  SharedAcrossLayers shared;
  for (Operation *op : operators) {
    StringRef why;
    auto group = readGroupQuery(op, why);
    if (group)
      why = whyNoState(*group, block);
    if (why.empty() && !convertOne(*group, block, shared, pairs))
      why = "a size is not known";
    if (!why.empty())
      remarkMissed(op, "cache", why);
  }
}

} // namespace sol::nn::recognize
