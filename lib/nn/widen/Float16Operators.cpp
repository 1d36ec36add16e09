//===- Float16Operators.cpp - what operators do with 16-bit floats --------===//
//
// See Float16Operators.h. Operators of the table are told apart by name where
// their meaning matters, and by their schema for what they accept.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/widen/Float16Operators.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/onnx/OnnxSchema.h"
#include "lib/support/NodeText.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sol::nn {

bool isFloat16Tensor(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor &&
         (tensor.getElementType().isF16() || tensor.getElementType().isBF16());
}

Type withFloat32(Type type) {
  return cast<TensorType>(type).clone(Float32Type::get(type.getContext()));
}

bool isConstantOfModel(Value value) {
  return isa_and_nonnull<ConstantOp, WeightOp, FoldedOp>(value.getDefiningOp());
}

bool isLargeConstant(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isConstantOfModel(value) && type.hasStaticShape() &&
         type.getNumElements() > maxWidenedBytes / 4;
}

/// Elements come out as they went in.
static bool movesElements(Operation *op, StringRef name) {
  static const llvm::StringSet<> movements = {
      "CenterCropPad", "Compress",       "Concat",         "DepthToSpace",
      "Dropout",       "Expand",         "Flatten",        "Gather",
      "GatherND",      "GatherElements", "Identity",       "OneHot",
      "Pad",           "Reshape",        "Slice",          "ReverseSequence",
      "Split",         "SpaceToDepth",   "Squeeze",        "TensorScatter",
      "Tile",          "Transpose",      "Trilu",          "Unsqueeze",
      "Where",         "ScatterND",      "ScatterElements"};
  auto reduction = op->getAttrOfType<StringAttr>("reduction");
  return movements.contains(name) &&
         (!reduction || reduction.getValue() == "none");
}

/// Their answer is about 16-bit values: two that round alike are equal, and
/// what is infinite in float16 may not be in float32. Or their operands are
/// quantized, random, or a state that is given back.
static bool meansTheType(Operation *op, StringRef name) {
  static const llvm::StringSet<> meaning = {"BitCast",
                                            "Cast",
                                            "CastLike",
                                            "Equal",
                                            "Greater",
                                            "GreaterOrEqual",
                                            "IsInf",
                                            "Less",
                                            "LessOrEqual",
                                            "NonZero",
                                            "Unique",
                                            "Bernoulli",
                                            "Multinomial",
                                            "RandomNormalLike",
                                            "RandomUniformLike",
                                            "QuantizeLinear",
                                            "QLinearMatMul",
                                            "microsoft.QuantizeLinear",
                                            "microsoft.QAttention",
                                            "microsoft.MatMulNBits",
                                            "microsoft.GatherBlockQuantized",
                                            "microsoft.MoE",
                                            "microsoft.QMoE"};
  if (meaning.contains(name))
    return true;
  const onnx::OpSchema *schema = onnx::findSchema(op->getName());
  for (OpOperand &operand : op->getOpOperands())
    if (StringRef(schema->input(operand.getOperandNumber())->name)
            .starts_with("past") &&
        !isa<NoneType>(operand.get().getType()))
      return true;
  return false;
}

/// Whether the schema takes float32 wherever `op` has 16-bit floats, and gives
/// float32 for them.
static bool acceptsFloat32(Operation *op, const onnx::OpSchema &schema) {
  constexpr uint32_t float32 = 1 << 1;
  SmallVector<Type> operands(op->getOperandTypes());
  for (auto [index, type] : llvm::enumerate(operands)) {
    if (!isFloat16Tensor(type))
      continue;
    if (!(schema.allowedTypes(*schema.input(index)) & float32))
      return false;
    type = withFloat32(type);
  }
  for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
    if (isa<NoneType>(type))
      continue;
    Type wanted = isFloat16Tensor(type) ? Float32Type::get(op->getContext())
                                        : getElementTypeOrSelf(type);
    Type given = onnx::resultElementType(schema, index, operands,
                                         NamedAttrList(op->getAttrDictionary()),
                                         op->getContext());
    if (given != wanted)
      return false;
  }
  return true;
}

/// Operators beside whose work the widening of a constant is small.
static bool mayWidenLarge(StringRef name) {
  static const llvm::StringSet<> products = {"Conv",
                                             "ConvTranspose",
                                             "DequantizeLinear",
                                             "Gemm",
                                             "MatMul",
                                             "microsoft.DequantizeLinear",
                                             "microsoft.FusedGemm",
                                             "microsoft.FusedMatMul"};
  return products.contains(name);
}

Float16Kind float16KindOf(Operation *op) {
  if (isa<LinearOp, RmsNormOp, RotaryOp, AttentionOp, GateOp>(op))
    return Float16Kind::Compute;
  const onnx::OpSchema *schema = onnx::findSchema(op->getName());
  // What nothing computes is refused later, by the types that the model has.
  if (!schema || op->getNumRegions() ||
      !isComputed(op->getName().getStringRef()))
    return Float16Kind::Keep;
  StringRef name = op->getName().stripDialect();
  if (meansTheType(op, name) || !acceptsFloat32(op, *schema))
    return Float16Kind::Keep;
  if (movesElements(op, name) ||
      llvm::none_of(op->getResultTypes(), isFloat16Tensor))
    return Float16Kind::Follow;
  bool isLarge = llvm::any_of(op->getOperands(), [](Value operand) {
    return isFloat16Tensor(operand.getType()) && isLargeConstant(operand);
  });
  return isLarge && !mayWidenLarge(name) ? Float16Kind::Keep
                                         : Float16Kind::Compute;
}

bool readsFloat16(OpOperand &operand) {
  // Weight and bias of a product, key and value of an attention.
  unsigned index = operand.getOperandNumber();
  return isa<LinearOp, AttentionOp>(operand.getOwner()) &&
         (index == 1 || index == 2);
}

} // namespace sol::nn
