//===- native_plan.cpp - plans with machine code, made by hand ------------===//
//
// See native_plan.h.
//
//===----------------------------------------------------------------------===//
#include "native_plan.h"

#include <unistd.h>

namespace sol::test {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

uint8_t codeOf(DType type) { return static_cast<uint8_t>(type); }

auto describeOperands(FlatBufferBuilder &builder,
                      const std::vector<OperandText> &operands) {
  std::vector<Offset<fb::NativeOperand>> tables;
  for (const OperandText &operand : operands)
    tables.push_back(fb::CreateNativeOperand(
        builder, codeOf(operand.type), builder.CreateVector(operand.axes)));
  return builder.CreateVector(tables);
}

auto describeLoops(FlatBufferBuilder &builder,
                   const std::vector<LoopText> &loops) {
  std::vector<Offset<fb::NativeLoop>> tables;
  for (const LoopText &loop : loops)
    tables.push_back(fb::CreateNativeLoop(
        builder, builder.CreateString(loop.name),
        builder.CreateVector(loop.groups), loop.sizes,
        describeOperands(builder, loop.operands),
        describeOperands(builder, loop.results), loop.byRows, loop.scratch,
        builder.CreateVector(loop.entries)));
  return builder.CreateVector(tables);
}

auto describeImages(FlatBufferBuilder &builder,
                    const std::vector<ImageText> &images) {
  std::vector<Offset<fb::NativeImage>> tables;
  for (const ImageText &image : images)
    tables.push_back(
        fb::CreateNativeImage(builder, builder.CreateString(image.level),
                              image.offset, image.bytes, image.hash));
  return builder.CreateVector(tables);
}

Offset<fb::Function> describeFunction(FlatBufferBuilder &builder,
                                      const PlanText &text) {
  std::vector<Offset<fb::Value>> values;
  std::vector<Offset<fb::Port>> inputs, outputs;
  auto port = [&](size_t value) {
    return fb::CreatePort(
        builder, builder.CreateString("port" + std::to_string(value)),
        static_cast<int>(value), codeOf(text.values[value].type), true,
        builder.CreateVectorOfStrings({"?", "?", "?", "?"}));
  };
  for (size_t i = 0; i < text.values.size(); ++i) {
    const ValueText &value = text.values[i];
    values.push_back(
        fb::CreateValue(builder, codeOf(value.type), value.kind, value.slot));
    if (value.kind == fb::ValueKind_Input || value.kind == fb::ValueKind_State)
      inputs.push_back(port(i));
  }
  outputs.push_back(port(text.values.size() - 1));
  std::vector<Offset<fb::Step>> steps;
  for (const StepText &step : text.steps)
    steps.push_back(fb::CreateStep(
        builder, fb::StepKind_Native, 0, builder.CreateString("here"), 0,
        builder.CreateVector(step.inputs), builder.CreateVector(step.outputs),
        step.view, 0, step.loop));
  auto body = fb::CreateBlock(builder, 0, builder.CreateVector(steps));
  return fb::CreateFunction(builder, builder.CreateString("f"),
                            builder.CreateVector(inputs),
                            builder.CreateVector(outputs),
                            builder.CreateVector(values), body, text.slots);
}

} // namespace

absl::StatusOr<std::shared_ptr<const Plan>>
openPlan(const PlanText &text, const PlanOpenOptions &options) {
  std::string path =
      testing::TempDir() + "native-" + std::to_string(getpid()) + ".bin";
  PlanFileWriter writer(path);
  if (absl::Status status = writer.open(); !status.ok())
    return status;
  if (absl::Status status = writer.endWeights(); !status.ok())
    return status;
  std::vector<ImageText> images;
  for (const std::string &level : text.levels) {
    ImageText &image = images.emplace_back();
    image = {level, 0, codeBytes.size(), PlanFileWriter::hash(codeBytes)};
    if (absl::Status status =
            writer.appendSection(codeBytes, 4096, image.offset);
        !status.ok())
      return status;
  }
  if (text.changeImages)
    text.changeImages(images);
  FlatBufferBuilder builder;
  auto functions = builder.CreateVector(
      std::vector<Offset<fb::Function>>{describeFunction(builder, text)});
  auto imageTables = describeImages(builder, images);
  auto loopTables = describeLoops(builder, text.loops);
  builder.Finish(fb::CreatePlan(builder, builder.CreateString("test"),
                                functions, 0, writer.weightsOffset(), 0, 0,
                                imageTables, loopTables));
  if (absl::Status status = writer.finish(
          {reinterpret_cast<const char *>(builder.GetBufferPointer()),
           builder.GetSize()});
      !status.ok())
    return status;
  auto plan = Plan::open(path, options);
  std::filesystem::remove(path);
  return plan;
}

} // namespace sol::test
