//===- RegionInference.cpp - shapes of operators that hold graphs ---------===//
//
// If, Loop and Scan. A carried value keeps a size only if every iteration
// provably does.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/InferenceState.h"

using namespace mlir;

namespace sol::nn {

std::optional<Sizes> InferenceState::join(const std::optional<Sizes> &a,
                                          const std::optional<Sizes> &b,
                                          Region *region) const {
  if (!a || !b || a->size() != b->size())
    return std::nullopt;
  Sizes joined;
  for (auto [x, y] : llvm::zip(*a, *b))
    joined.push_back(x == y ? visibleIn(x, region) : SymbolicSize());
  return joined;
}

void InferenceState::inferIf(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      inferBlock(block);
  if (op->getNumRegions() != 2 || op->getRegion(0).empty() ||
      op->getRegion(1).empty())
    return;
  Operation *thenYield = op->getRegion(0).front().getTerminator();
  Operation *elseYield = op->getRegion(1).front().getTerminator();
  for (OpResult result : op->getResults()) {
    unsigned index = result.getResultNumber();
    if (index >= thenYield->getNumOperands() ||
        index >= elseYield->getNumOperands())
      return;
    Value a = thenYield->getOperand(index), b = elseYield->getOperand(index);
    setType(
        result,
        join(sizesOf(a.getType()), sizesOf(b.getType()), op->getParentRegion()),
        baseName(op, index));
  }
}

/// An assumed type: ranked with fresh symbols, or unranked.
static void forgetShape(Value value) {
  if (auto type = dyn_cast<TensorType>(value.getType()))
    value.setType(UnrankedTensorType::get(type.getElementType()));
}

/// Forgets what was inferred in a body, and its symbols with it.
void InferenceState::forgetBody(Region &region) {
  region.walk([&](Operation *inner) {
    for (OpResult result : inner->getResults())
      if (inner->getName().getDialectNamespace() == "onnx") {
        forgetShape(result);
        elements.erase(result);
      }
  });
  SmallVector<StringRef> bound;
  for (auto &entry : owners)
    if (region.isAncestor(entry.second))
      bound.push_back(entry.first());
  for (StringRef name : bound)
    owners.erase(name);
}

SmallVector<std::optional<Sizes>>
InferenceState::inferCarried(Operation *op, ValueRange initial,
                             ValueRange arguments, ValueRange yielded) {
  SmallVector<std::optional<Sizes>> assumed;
  for (Value value : initial)
    assumed.push_back(sizesOf(value.getType()));
  Block &body = op->getRegion(0).front();
  auto inferOnce = [&] {
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      forgetShape(argument);
      setType(argument, assumed[i],
              baseName(op, 0) + ".carried" + std::to_string(i));
    }
    inferBlock(body);
  };
  // Contradictions under an assumption that turns out wrong are none.
  bool failedBefore = failed;
  for (bool changed = true; changed;) {
    forgetBody(op->getRegion(0));
    {
      ScopedDiagnosticHandler silence(op->getContext(),
                                      [](Diagnostic &) { return success(); });
      inferOnce();
    }
    changed = false;
    for (auto [i, value] : llvm::enumerate(yielded)) {
      std::optional<Sizes> next = sizesOf(value.getType());
      if (!assumed[i])
        continue;
      if (!next || next->size() != assumed[i]->size()) {
        assumed[i].reset();
        changed = true;
        continue;
      }
      for (auto [size, other] : llvm::zip(*assumed[i], *next))
        if (size.isKnown() && size != other) {
          size = SymbolicSize();
          changed = true;
        }
    }
  }
  failed = failedBefore;
  forgetBody(op->getRegion(0));
  inferOnce();
  return assumed;
}

void InferenceState::inferLoop(Operation *op) {
  Region &region = op->getRegion(0);
  if (region.empty() || op->getNumOperands() < 2)
    return;
  Block &body = region.front();
  Operation *yield = body.getTerminator();
  unsigned carried = op->getNumOperands() - 2;
  unsigned scanned =
      op->getNumResults() - std::min(op->getNumResults(), carried);
  if (body.getNumArguments() != carried + 2 ||
      yield->getNumOperands() != 1 + carried + scanned) {
    op->emitOpError("has a body of ")
        << body.getNumArguments() << " inputs and " << yield->getNumOperands()
        << " outputs, needs " << carried + 2 << " and "
        << 1 + carried + scanned;
    failed = true;
    return;
  }
  setType(body.getArgument(0), Sizes{}, "");
  setType(body.getArgument(1), Sizes{}, "");
  SmallVector<std::optional<Sizes>> kept = inferCarried(
      op, op->getOperands().drop_front(2), body.getArguments().drop_front(2),
      yield->getOperands().slice(1, carried));
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    if (i < carried) {
      setType(op->getResult(i), kept[i], baseName(op, i));
      continue;
    }
    std::optional<Sizes> part = sizesOf(yield->getOperand(1 + i).getType());
    std::optional<Sizes> all = join(part, part, op->getParentRegion());
    if (all)
      all->insert(all->begin(), SymbolicSize());
    setType(op->getResult(i), all, baseName(op, i));
  }
}

void InferenceState::inferScan(Operation *op) {
  Region &region = op->getRegion(0);
  auto count = op->getAttrOfType<IntegerAttr>("num_scan_inputs");
  if (region.empty() || !count || count.getInt() < 0 ||
      count.getInt() > op->getNumOperands())
    return;
  Block &body = region.front();
  Operation *yield = body.getTerminator();
  unsigned states = op->getNumOperands() - count.getInt();
  if (body.getNumArguments() != op->getNumOperands() ||
      yield->getNumOperands() != op->getNumResults() ||
      op->getNumResults() < states)
    return;
  auto axes = op->getAttrOfType<DenseI64ArrayAttr>("scan_input_axes");
  for (unsigned i = states; i < op->getNumOperands(); ++i) {
    std::optional<Sizes> sizes = sizesOf(op->getOperand(i).getType());
    if (!sizes || sizes->empty())
      continue;
    int64_t axis = axes && i - states < axes.asArrayRef().size()
                       ? axes.asArrayRef()[i - states]
                       : 0;
    axis = axis < 0 ? axis + static_cast<int64_t>(sizes->size()) : axis;
    if (axis < 0 || axis >= static_cast<int64_t>(sizes->size()))
      continue;
    sizes->erase(sizes->begin() + axis);
    setType(body.getArgument(i), sizes, baseName(op, 0));
  }
  SmallVector<std::optional<Sizes>> kept =
      inferCarried(op, op->getOperands().take_front(states),
                   body.getArguments().take_front(states),
                   yield->getOperands().take_front(states));
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    if (i < states) {
      setType(op->getResult(i), kept[i], baseName(op, i));
      continue;
    }
    // The scanned axis may stand anywhere, so only the rank is stated.
    if (std::optional<Sizes> part = sizesOf(yield->getOperand(i).getType()))
      setType(op->getResult(i), Sizes(part->size() + 1), baseName(op, i));
  }
}

} // namespace sol::nn
