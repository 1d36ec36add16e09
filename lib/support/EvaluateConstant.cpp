//===- EvaluateConstant.cpp - the bytes of a constant ---------------------===//
//
// See EvaluateConstant.h.
//
//===----------------------------------------------------------------------===//
#include "lib/support/EvaluateConstant.h"

#include "lib/support/ElementTypes.h"
#include "lib/support/KernelAttributes.h"
#include "lib/support/TensorBytes.h"
#include "runtime/cpu/thread_pool.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace sol {
namespace {

std::shared_ptr<void> allocateBytes(int64_t bytes) {
  size_t rounded = (std::max<int64_t>(bytes, 1) + 63) / 64 * 64;
  return std::shared_ptr<void>(std::aligned_alloc(64, rounded), std::free);
}

/// Workers of the compiling machine; results don't depend on their number.
class EvaluationContext final : public KernelContext {
public:
  void parallelFor(int64_t count, int64_t grain,
                   absl::FunctionRef<void(int64_t, int64_t)> body) override {
    pool->parallelFor(count, grain, body);
  }
  int threadCount() const override { return pool->threadCount(); }
  void *scratch(size_t bytes) override {
    buffers.push_back(allocateBytes(bytes));
    return buffers.back().get();
  }
  void kernelDone() { buffers.clear(); }

private:
  std::unique_ptr<ThreadPool> pool = ThreadPool::create(0);
  std::vector<std::shared_ptr<void>> buffers;
};

} // namespace

FailureOr<ConstantBytes> bytesOf(ElementsAttr elements) {
  FailureOr<std::vector<char>> bytes = packedBytes(elements);
  if (failed(bytes))
    return failure();
  ConstantBytes result;
  auto type = cast<ShapedType>(elements.getType());
  result.tensor.type = dtypeOf(type.getElementType());
  result.tensor.dims.assign(type.getShape().begin(), type.getShape().end());
  result.owner = allocateBytes(bytes->size());
  if (!result.owner)
    return failure();
  result.tensor.data = result.owner.get();
  if (!bytes->empty())
    std::memcpy(result.tensor.data, bytes->data(), bytes->size());
  return result;
}

DenseElementsAttr elementsOf(ShapedType type, const Tensor &tensor) {
  if (!type.hasStaticShape() || dtypeOf(type.getElementType()) != tensor.type)
    return {};
  // The value's type carries no symbolic sizes: those belong to the result.
  auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
  return elementsFromBytes(
      plain, {tensor.as<char>(), static_cast<size_t>(tensor.bytes())});
}

ConstantEvaluator::ConstantEvaluator(WeightReader readWeight,
                                     int64_t limitBytes)
    : readWeight(std::move(readWeight)), limitBytes(limitBytes),
      context(std::make_unique<EvaluationContext>()) {
  registerAllKernels();
}

ConstantEvaluator::~ConstantEvaluator() = default;

FailureOr<ConstantBytes> ConstantEvaluator::evaluate(Value constant) {
  Operation *op = constant.getDefiningOp();
  if (auto small = dyn_cast_or_null<nn::ConstantOp>(op))
    return bytesOf(small.getValue());
  if (auto weight = dyn_cast_or_null<nn::WeightOp>(op))
    return readWeight(weight);
  if (auto folded = dyn_cast_or_null<nn::FoldedOp>(op))
    return evaluateFolded(folded);
  return failure();
}

FailureOr<ConstantBytes>
ConstantEvaluator::evaluateFolded(nn::FoldedOp folded) {
  llvm::DenseMap<Value, ConstantBytes> known;
  Block &body = folded.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (op.getNumResults() == 1)
      if (isa<nn::ConstantOp, nn::WeightOp, nn::FoldedOp>(op)) {
        FailureOr<ConstantBytes> value = evaluate(op.getResult(0));
        if (failed(value))
          return failure();
        known[op.getResult(0)] = *value;
        continue;
      }
    SmallVector<Tensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand).tensor);
    std::string error;
    FailureOr<SmallVector<ConstantBytes>> results = run(&op, operands, &error);
    if (failed(results)) {
      op.emitError("can't be evaluated: ")
          << (error.empty() ? "no kernel computes it" : error);
      return failure();
    }
    for (auto [result, value] : llvm::zip(op.getResults(), *results))
      known[result] = value;
    // An operand's memory goes as soon as nothing else needs it.
    for (Value operand : op.getOperands())
      if (llvm::all_of(operand.getUsers(), [&](Operation *user) {
            return user == &op || user->isBeforeInBlock(&op);
          }))
        known.erase(operand);
  }
  return known.lookup(body.getTerminator()->getOperand(0));
}

FailureOr<SmallVector<ConstantBytes>>
ConstantEvaluator::run(Operation *op, ArrayRef<Tensor> operands,
                       std::string *error) {
  StringRef name = op->getName().getStringRef();
  const KernelDefinition *kernel =
      findKernel(std::string_view(name.data(), name.size()));
  if (!kernel)
    return failure();
  auto refuse = [&](const absl::Status &status) {
    if (error)
      *error = std::string(status.message());
    return failure();
  };
  KernelCall call;
  call.kernel = name.str();
  call.attributes = kernelAttributes(op->getAttrs());
  if (kernel->prepare)
    if (absl::Status status = kernel->prepare(call); !status.ok())
      return refuse(status);
  SmallVector<Tensor> outputs(op->getNumResults());
  for (auto [output, type] : llvm::zip(outputs, op->getResultTypes()))
    if (auto shaped = dyn_cast<ShapedType>(type))
      output.type = dtypeOf(shaped.getElementType());
  absl::Span<Tensor> outputSpan(outputs.data(), outputs.size());
  Inputs inputs(operands.data(), operands.size());
  if (absl::Status status = kernel->infer(call, inputs, outputSpan);
      !status.ok())
    return refuse(status);
  SmallVector<ConstantBytes> results(outputs.size());
  for (auto [output, result] : llvm::zip(outputs, results)) {
    int64_t bytes = output.present() ? output.bytes() : 0;
    if (bytes < 0 || bytes > limitBytes)
      return refuse(absl::ResourceExhaustedError("the result is too large"));
    result.owner = allocateBytes(bytes);
    output.data = result.owner.get();
    if (!output.data)
      return refuse(absl::ResourceExhaustedError("out of memory"));
    // Kernels leave the bits behind the last packed element as they are.
    if (output.present() && bitWidth(output.type) < 8)
      std::memset(output.data, 0, bytes);
    result.tensor = output;
  }
  absl::Status status = kernel->run(call, *context, inputs, outputSpan);
  static_cast<EvaluationContext &>(*context).kernelDone();
  if (!status.ok())
    return refuse(status);
  return results;
}

} // namespace sol
