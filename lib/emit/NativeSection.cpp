//===- NativeSection.cpp - compiled loops in the plan ---------------------===//
//
// See NativeSection.h.
//
//===----------------------------------------------------------------------===//
#include "lib/emit/NativeSection.h"

#include "lib/support/ElementTypes.h"
#include "runtime/plan/plan_file.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sol {
namespace {

using Operands = std::vector<flatbuffers::Offset<fb::NativeOperand>>;

Operands describeTensors(TypeRange types,
                         ArrayRef<native::TensorAxes> axesOfEach,
                         flatbuffers::FlatBufferBuilder &builder) {
  Operands tensors;
  for (auto [type, axes] : llvm::zip(types, axesOfEach)) {
    std::vector<int32_t> list(axes.begin(), axes.end());
    DType element = dtypeOf(getElementTypeOrSelf(type));
    tensors.push_back(fb::CreateNativeOperand(
        builder, static_cast<uint8_t>(element), builder.CreateVector(list)));
  }
  return tensors;
}

} // namespace

absl::StatusOr<std::vector<flatbuffers::Offset<fb::NativeImage>>>
writeNativeImages(const native::NativeCode &code, PlanFileWriter &writer,
                  flatbuffers::FlatBufferBuilder &builder) {
  std::vector<flatbuffers::Offset<fb::NativeImage>> images;
  for (const native::CompiledImage &image : code.images()) {
    uint64_t offset = 0;
    absl::Status status =
        writer.appendSection(image.bytes, planSectionAlignment, offset);
    if (!status.ok())
      return status;
    images.push_back(fb::CreateNativeImage(
        builder, builder.CreateString(image.level), offset, image.bytes.size(),
        PlanFileWriter::hash(image.bytes)));
  }
  return images;
}

std::vector<flatbuffers::Offset<fb::NativeLoop>>
describeNativeLoops(const native::NativeCode &code,
                    flatbuffers::FlatBufferBuilder &builder) {
  std::vector<flatbuffers::Offset<fb::NativeLoop>> loops;
  for (const native::CompiledLoop &loop : code.loops()) {
    cpu::NativeOp op = loop.op;
    Operands operands =
        describeTensors(op->getOperandTypes(), loop.nest.operands, builder);
    Operands results =
        describeTensors(op->getResultTypes(), loop.nest.results, builder);
    std::vector<int32_t> groups(loop.nest.groups.begin(),
                                loop.nest.groups.end());
    loops.push_back(fb::CreateNativeLoop(
        builder, builder.CreateString(op.getName().str()),
        builder.CreateVector(groups), static_cast<int32_t>(loop.nest.sizes),
        builder.CreateVector(operands), builder.CreateVector(results),
        loop.nest.byRows, static_cast<int32_t>(loop.scratchBytes),
        builder.CreateVector(loop.entries)));
  }
  return loops;
}

} // namespace sol
