//===- FormFolded.cpp - operators on weights become expressions -----------===//
//
// Finds the operators that depend on constants and weights alone and moves each
// result that something else uses into one nn.folded, with all that it needs.
// Nothing is computed here. A result that would be much larger than what it is
// made of stays an operator: a model of a few bytes can ask for terabytes.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/fold/Rewrites.h"

#include "dialects/nn/NnDialect.h"
#include "runtime/cpu/kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sol::nn {

/// Results up to this size are kept whatever they are made of.
static constexpr int64_t freeBytes = 64 << 10;
/// Larger ones may take this many times the bytes of their weights.
static constexpr int64_t maxGrowth = 2;
/// Results that need more operators stay operators.
static constexpr size_t maxOperators = 256;

static bool isConstantValue(Value value) {
  return isa_and_nonnull<ConstantOp, WeightOp, FoldedOp>(value.getDefiningOp());
}

namespace {
/// What is known of operators that depend on constants alone.
class Candidates {
public:
  /// Adds `op` if it is one; operands are looked at before.
  void consider(Operation *op);
  bool contains(Value value) const {
    return value.getDefiningOp() && operators.contains(value.getDefiningOp());
  }
  ArrayRef<Operation *> all() const { return operators.getArrayRef(); }

private:
  /// Bytes of the constants that a value is made of.
  int64_t sourceBytes(Value value) const {
    auto it = sources.find(value.getDefiningOp());
    return it != sources.end() ? it->second : byteSize(value.getType());
  }

  llvm::SetVector<Operation *> operators;
  llvm::DenseMap<Operation *, int64_t> sources;
};
} // namespace

/// A weight that arrived quantized stays so: later stages choose its format.
static bool keepsQuantized(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return name.ends_with("DequantizeLinear") &&
         byteSize(op->getResult(0).getType()) > maxConstantBytes;
}

void Candidates::consider(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (op->getName().getDialectNamespace() != "onnx" || op->getNumRegions() ||
      op->getNumResults() == 0 || op->hasTrait<OpTrait::IsTerminator>() ||
      isa<NoneType>(op->getResult(0).getType()) || !isMemoryEffectFree(op) ||
      !findKernel({name.data(), name.size()}) || keepsQuantized(op))
    return;
  int64_t source = 0;
  bool any = false;
  for (Value operand : op->getOperands()) {
    // A missing operand would need onnx.none in the body, which is no constant.
    if (!isConstantValue(operand) && !contains(operand))
      return;
    source += std::max<int64_t>(sourceBytes(operand), 0);
    any = true;
  }
  for (Type type : op->getResultTypes()) {
    if (isa<NoneType>(type))
      continue;
    int64_t bytes = byteSize(type);
    if (bytes < 0 || bytes > std::max(freeBytes, maxGrowth * source))
      return;
  }
  if (any && operators.insert(op))
    sources[op] = source;
}

/// Operators that `value` needs, in order, up to constants; false if they are a
/// longer chain than `depth`.
static bool collect(Value value, const Candidates &candidates, size_t depth,
                    llvm::SetVector<Operation *> &needed) {
  Operation *op = value.getDefiningOp();
  if (!op || needed.contains(op))
    return true;
  if (depth == 0)
    return false;
  if (candidates.contains(value))
    for (Value operand : op->getOperands())
      if (!collect(operand, candidates, depth - 1, needed))
        return false;
  needed.insert(op);
  return true;
}

/// Copies the body of a folded value in front of the builder's position.
static Value inlineFolded(FoldedOp folded, OpBuilder &builder) {
  IRMapping mapping;
  Block &body = folded.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

static size_t bodySize(Operation *op) {
  auto folded = dyn_cast<FoldedOp>(op);
  return folded ? folded.getBody().front().getOperations().size() : 1;
}

/// One nn.folded that computes `result`; null if it would be too long.
static Value createFolded(OpResult result, const Candidates &candidates) {
  llvm::SetVector<Operation *> needed;
  if (!collect(result, candidates, maxOperators, needed))
    return {};
  size_t count = 0;
  for (Operation *op : needed)
    count += bodySize(op);
  if (count > maxOperators)
    return {};
  OpBuilder builder(result.getOwner());
  auto type = cast<RankedTensorType>(result.getType());
  auto folded = FoldedOp::create(builder, result.getOwner()->getLoc(), type);
  Block *body = builder.createBlock(&folded.getBody());
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (Operation *op : needed) {
    if (auto inner = dyn_cast<FoldedOp>(op))
      mapping.map(inner.getResult(), inlineFolded(inner, builder));
    else
      builder.clone(*op, mapping);
  }
  YieldOp::create(builder, folded.getLoc(), mapping.lookup<Value>(result));
  return folded.getResult();
}

void formFolded(func::FuncOp function) {
  registerAllKernels();
  Candidates candidates;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<FoldedOp>(op))
      return WalkResult::skip();
    candidates.consider(op);
    return WalkResult::advance();
  });
  for (Operation *op : candidates.all())
    for (OpResult result : op->getResults()) {
      bool isFinal = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return user->getNumResults() == 0 ||
               !candidates.contains(user->getResult(0));
      });
      if (!isFinal)
        continue;
      if (Value folded = createFolded(result, candidates))
        result.replaceUsesWithIf(folded, [&](OpOperand &use) {
          Operation *user = use.getOwner();
          return user->getNumResults() == 0 ||
                 !candidates.contains(user->getResult(0));
        });
    }
}

} // namespace sol::nn
