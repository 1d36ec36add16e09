//===- WeightSource.cpp - what is stored for a constant matrix ------------===//
//
// See WeightSource.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/graph/WeightSource.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/onnx/OnnxDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sol::place {
namespace {

/// How deep chains of operators on constants go at most; real ones have a
/// handful.
constexpr int deepestChain = 64;

/// Collects the tensors that `value` comes from. False if it depends on an
/// input of the function.
bool collectLeaves(Value value, llvm::SetVector<Operation *> &leaves,
                   int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > deepestChain)
    return false;
  if (isa<nn::WeightOp, nn::ConstantOp>(op)) {
    leaves.insert(op);
    return true;
  }
  if (auto folded = dyn_cast<nn::FoldedOp>(op)) {
    folded.getBody().walk([&](Operation *inner) {
      if (isa<nn::WeightOp, nn::ConstantOp>(inner))
        leaves.insert(inner);
    });
    return true;
  }
  if (isa<NoneType>(value.getType()))
    return true;
  if (op->getNumOperands() == 0 || op->getNumRegions() != 0)
    return false;
  for (Value operand : op->getOperands())
    if (!collectLeaves(operand, leaves, depth + 1))
      return false;
  return true;
}

std::optional<Format> formatOf(Type element) {
  if (element.isF32())
    return Format::Float32;
  if (element.isF16() || element.isBF16())
    return Format::Float16;
  if (element.isInteger(8))
    return Format::Int8;
  if (element.isInteger(4))
    return Format::Int4;
  return std::nullopt;
}

/// Equal for the same bytes of the same file.
std::string keyOf(Operation *leaf) {
  auto weight = dyn_cast<nn::WeightOp>(leaf);
  if (!weight)
    return "";
  nn::SpanAttr span = weight.getSpan();
  return (span.getFile().getValue() + ":" + Twine(span.getOffset()) + ":" +
          Twine(span.getLength()))
      .str();
}

} // namespace

bool isKnownBeforeRun(Value value) {
  llvm::SetVector<Operation *> leaves;
  return collectLeaves(value, leaves);
}

std::optional<WeightSource> weightSource(Value value) {
  llvm::SetVector<Operation *> leaves;
  if (!collectLeaves(value, leaves) || leaves.empty())
    return std::nullopt;
  WeightSource source;
  Operation *largest = nullptr;
  double all = 0;
  for (Operation *leaf : leaves) {
    auto type = cast<ShapedType>(leaf->getResult(0).getType());
    // Integers of 32 and 64 bits are sizes, axes and biases of integer sums.
    double bytes = static_cast<double>(type.getNumElements()) *
                   static_cast<double>(type.getElementTypeBitWidth()) / 8;
    if (type.getElementType().isInteger(64))
      continue;
    all += bytes;
    if (largest && bytes <= source.bytes)
      continue;
    largest = leaf;
    source.bytes = bytes;
    source.elements = static_cast<double>(type.getNumElements());
  }
  if (!largest)
    return std::nullopt;
  std::optional<Format> format = formatOf(
      cast<ShapedType>(largest->getResult(0).getType()).getElementType());
  if (!format)
    return std::nullopt;
  source.format = *format;
  source.otherBytes = all - source.bytes;
  source.key = keyOf(largest);
  return source;
}

} // namespace sol::place
