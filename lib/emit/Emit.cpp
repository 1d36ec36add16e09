//===- Emit.cpp - writes plan.bin -----------------------------------------===//
//
// Puts the pieces of a plan together; see Emit.h.
//
//===----------------------------------------------------------------------===//
#include "lib/emit/Emit.h"

#include "lib/emit/FunctionDescription.h"
#include "lib/emit/Links.h"
#include "lib/emit/NativeSection.h"
#include "runtime/plan/plan_file.h"

using namespace mlir;

namespace sol {
namespace {

/// Reports a failed write at the module.
LogicalResult check(ModuleOp module, const absl::Status &status) {
  if (status.ok())
    return success();
  return module.emitError() << std::string(status.message());
}

} // namespace

LogicalResult emitPlan(ModuleOp module, WeightReader readWeight,
                       const EmitOptions &options) {
  // First, as it can fail and writes nothing.
  native::NativeCode code(options.nativeLevels);
  WalkResult collected = module.walk([&](cpu::NativeOp loop) {
    return failed(code.add(loop)) ? WalkResult::interrupt()
                                  : WalkResult::advance();
  });
  if (collected.wasInterrupted() || failed(code.compile(module)))
    return failure();
  PlanFileWriter writer(options.output);
  if (failed(check(module, writer.open())))
    return failure();
  flatbuffers::FlatBufferBuilder builder(1 << 20);
  ConstantSection constants(writer, std::move(readWeight));
  std::vector<flatbuffers::Offset<fb::Function>> functions;
  for (func::FuncOp func : module.getOps<func::FuncOp>()) {
    auto function =
        describeFunction(func, options.context, constants, code, builder);
    if (failed(function))
      return failure();
    functions.push_back(*function);
  }
  if (failed(check(module, writer.endWeights())))
    return failure();
  uint64_t hashesOffset = 0;
  if (failed(check(module,
                   writer.appendSection(writer.hashes(), planConstantAlignment,
                                        hashesOffset))))
    return failure();
  std::vector<flatbuffers::Offset<fb::Resource>> resources;
  for (const auto &[name, content] : options.resources) {
    uint64_t offset = 0;
    if (failed(check(module, writer.appendSection(
                                 content, planConstantAlignment, offset))))
      return failure();
    resources.push_back(fb::CreateResource(builder, builder.CreateString(name),
                                           offset, content.size(),
                                           PlanFileWriter::hash(content)));
  }
  auto images = writeNativeImages(code, writer, builder);
  if (failed(check(module, images.status())))
    return failure();
  auto loops = describeNativeLoops(code, builder);
  std::vector<flatbuffers::Offset<fb::Link>> links;
  for (const FunctionLink &link : findLinks(module))
    links.push_back(fb::CreateLink(builder, link.fromFunction, link.fromOutput,
                                   link.toFunction, link.toInput));
  builder.Finish(fb::CreatePlan(
      builder, builder.CreateString(options.compiler),
      builder.CreateVector(functions), builder.CreateVector(links),
      writer.weightsOffset(), writer.weightsBytes(), hashesOffset,
      builder.CreateVector(*images), builder.CreateVector(loops),
      builder.CreateVector(resources)));
  if (builder.GetSize() > planMaxDescriptionBytes)
    return module.emitError("has a description of ")
           << builder.GetSize() << " bytes, more than the "
           << planMaxDescriptionBytes << " that a plan may have";
  return check(
      module,
      writer.finish({reinterpret_cast<const char *>(builder.GetBufferPointer()),
                     builder.GetSize()}));
}

} // namespace sol
