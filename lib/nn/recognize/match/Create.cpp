//===- Create.cpp - what recognisers put in place -------------------------===//
//
// Operations that recognisers create around the operators they recognise, the
// driver that applies their patterns, and remarks.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/match/Match.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace sol::nn::recognize {

Value createOnnx(OpBuilder &builder, Location loc, StringRef name,
                 ValueRange operands, Type type,
                 ArrayRef<NamedAttribute> attributes) {
  OperationState state(loc, ("onnx." + name).str(), operands, type, attributes);
  return builder.create(state)->getResult(0);
}

Value createInts(OpBuilder &builder, Location loc, ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({int64_t(values.size())},
                                    builder.getIntegerType(64));
  return ConstantOp::create(
      builder, loc, type,
      cast<ElementsAttr>(DenseElementsAttr::get(type, values)));
}

Value createNone(OpBuilder &builder, Location loc) {
  return createOnnx(builder, loc, "none", {}, builder.getNoneType());
}

Value createPiece(OpBuilder &builder, Location loc, Value value, int64_t start,
                  int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t axis = type.getRank() - 1;
  if (start == 0 && size == type.getDimSize(axis))
    return value;
  return createOnnx(builder, loc, "Slice",
                    {value, createInts(builder, loc, {start}),
                     createInts(builder, loc, {start + size}),
                     createInts(builder, loc, {axis})},
                    withSize(type, axis, size));
}

Value createTranspose(OpBuilder &builder, Location loc, Value value,
                      ArrayRef<int64_t> perm) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<StringAttr> sizes;
  SmallVector<int64_t> shape;
  for (int64_t axis : perm) {
    sizes.push_back(sizeText(type, axis));
    shape.push_back(type.getDimSize(axis));
  }
  RankedTensorType result = typeOf(sizes, type.getElementType());
  if (!result)
    result = RankedTensorType::get(shape, type.getElementType());
  return createOnnx(
      builder, loc, "Transpose", value, result,
      builder.getNamedAttr("perm", builder.getDenseI64ArrayAttr(perm)));
}

Value createUnsqueeze(OpBuilder &builder, Location loc, Value value,
                      int64_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<StringAttr> sizes;
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(sizeText(type, i));
  sizes.insert(sizes.begin() + axis, builder.getStringAttr("1"));
  shape.insert(shape.begin() + axis, 1);
  RankedTensorType result = typeOf(sizes, type.getElementType());
  if (!result)
    result = RankedTensorType::get(shape, type.getElementType());
  return createOnnx(builder, loc, "Unsqueeze",
                    {value, createInts(builder, loc, {axis})}, result);
}

void remarkFound(Operation *op, StringRef what) {
  remark::passed(
      op->getLoc(),
      remark::RemarkOpts::name("recognized").category("recognize").function(""))
      << what;
}

void remarkMissed(Operation *op, StringRef what, StringRef why) {
  remark::missed(op->getLoc(), remark::RemarkOpts::name("not-recognized")
                                   .category("recognize")
                                   .function(""))
      << (Twine(what) + ": " + why).str();
}

/// Removes ONNX operations without users, which the driver may not know to be
/// free of effects, and what only they used.
static void eraseUnused(Operation *root) {
  SmallVector<Operation *> operations;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root && op->use_empty() && op->getNumResults() > 0)
      operations.push_back(op);
  });
  llvm::SmallPtrSet<Operation *, 16> erased;
  while (!operations.empty()) {
    Operation *op = operations.pop_back_val();
    if (erased.contains(op) || !op->use_empty())
      continue;
    bool mayGo = isPure(op) || (op->getDialect() &&
                                op->getName().getDialectNamespace() == "onnx");
    if (!mayGo || op->getNumRegions() > 0)
      continue;
    SmallVector<Operation *> makers;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        makers.push_back(maker);
    op->erase();
    erased.insert(op);
    for (Operation *maker : makers)
      if (!erased.contains(maker) && maker->use_empty())
        operations.push_back(maker);
  }
}

void applyRecognisers(Operation *root, RewritePatternSet &&patterns) {
  GreedyRewriteConfig config;
  config.enableFolding(false);
  config.enableConstantCSE(false);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // Each pattern replaces operators by fewer, so the driver always ends; should
  // it run into its limit, the IR is still right.
  (void)applyPatternsGreedily(root, std::move(patterns), config);
  eraseUnused(root);
}

} // namespace sol::nn::recognize
