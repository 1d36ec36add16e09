//===- ConstantSection.cpp - constants of all functions, each once --------===//
//
// See ConstantSection.h.
//
//===----------------------------------------------------------------------===//
#include "lib/emit/ConstantSection.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;

namespace sol {

ConstantSection::ConstantSection(PlanFileWriter &writer,
                                 WeightReader readWeight)
    : writer(writer),
      evaluator(std::move(readWeight), std::numeric_limits<int64_t>::max()) {}

FailureOr<PlacedConstant> ConstantSection::place(Value constant) {
  Operation *op = constant.getDefiningOp();
  std::string key;
  llvm::raw_string_ostream stream(key);
  // A weight's name is a note: equal spans are equal weights.
  if (auto weight = dyn_cast<nn::WeightOp>(op))
    stream << "weight " << weight.getSpan() << weight.getType();
  else
    op->print(stream, OpPrintingFlags().useLocalScope().skipRegions(false));
  auto known = placed.find(key);
  if (known != placed.end())
    return known->second;
  FailureOr<ConstantBytes> value = evaluator.evaluate(constant);
  if (failed(value))
    return failure();
  PlacedConstant result;
  result.type = value->tensor.type;
  result.dims = value->tensor.dims;
  result.bytes = value->tensor.bytes();
  absl::Status status = writer.appendConstant(
      {value->tensor.as<char>(), static_cast<size_t>(result.bytes)},
      result.offset);
  if (!status.ok()) {
    op->emitError() << std::string(status.message());
    return failure();
  }
  placed[key] = result;
  return result;
}

} // namespace sol
