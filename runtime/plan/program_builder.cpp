//===- program_builder.cpp - from the description to programs -------------===//
//
// The verifier of steps: indices in range, known kernels, constants inside the
// weights section and as long as their sizes say, control flow well formed.
// Sizes of what is computed are not trusted here: kernels infer them anew at
// every run.
//
//===----------------------------------------------------------------------===//
#include "runtime/plan/program_builder.h"

#include "runtime/plan/lifetime_check.h"
#include "runtime/plan/plan_file.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sol {
namespace {

/// Control flow nested deeper than this is refused, so that a hostile file
/// can't exhaust the stack.
constexpr int maxBlockDepth = 32;

class ProgramBuilder {
public:
  ProgramBuilder(const fb::Function &source, std::string_view weights,
                 absl::Span<const ProgramNativeLoop> loops)
      : source(source), weights(weights), loops(loops) {}

  absl::StatusOr<Program> build() {
    program.name = source.name()->str();
    program.slots = source.slots();
    program.context = source.context();
    if (program.slots < 0 || program.context < 0)
      return corrupt("negative slot count or context");
    if (absl::Status status = readValues(); !status.ok())
      return status;
    if (static_cast<size_t>(program.slots) > program.values.size())
      return corrupt(program.slots, " slots for ", program.values.size(),
                     " values");
    if (absl::Status status = readPorts(source.inputs(), program.inputs, true);
        !status.ok())
      return status;
    if (absl::Status status =
            readPorts(source.outputs(), program.outputs, false);
        !status.ok())
      return status;
    if (!source.body())
      return corrupt("no body");
    if (absl::Status status = readBlock(*source.body(), program.body, 0);
        !status.ok())
      return status;
    if (absl::Status status = checkLifetimes(program); !status.ok())
      return corrupt(status.message());
    return std::move(program);
  }

private:
  template <typename... Parts> absl::Status corrupt(const Parts &...parts) {
    return absl::InvalidArgumentError(
        absl::StrCat("function `", source.name() ? source.name()->str() : "",
                     "`: ", parts..., "; compile the model again"));
  }

  absl::Status readValues() {
    if (!source.values())
      return absl::OkStatus();
    for (const fb::Value *item : *source.values()) {
      ProgramValue value;
      value.kind = item->kind();
      if (item->kind() > fb::ValueKind_MAX)
        return corrupt("value of unknown kind ", int(item->kind()));
      if (item->kind() != fb::ValueKind_Absent && !isKnownDType(item->type()))
        return corrupt("value of unknown element type ", int(item->type()));
      if (value.kind != fb::ValueKind_Absent)
        value.type = static_cast<DType>(item->type());
      value.slot = item->slot();
      if (value.kind == fb::ValueKind_Slot &&
          (value.slot < 0 || value.slot >= program.slots))
        return corrupt("value in slot ", value.slot, " of ", program.slots);
      if (value.kind == fb::ValueKind_Constant)
        if (absl::Status status = readConstant(*item, value); !status.ok())
          return status;
      program.values.push_back(std::move(value));
    }
    return absl::OkStatus();
  }

  absl::Status readConstant(const fb::Value &item, ProgramValue &value) {
    if (item.dims())
      value.dims.assign(item.dims()->begin(), item.dims()->end());
    int64_t count = elementCount(value.dims);
    if (count < 0 || byteCount(value.type, count) < 0 ||
        static_cast<uint64_t>(byteCount(value.type, count)) != item.bytes())
      return corrupt("constant of ", item.bytes(), " bytes with sizes ",
                     dimsToString(value.dims));
    if (item.offset() > weights.size() ||
        item.bytes() > weights.size() - item.offset() ||
        item.offset() % planConstantAlignment != 0)
      return corrupt("constant at ", item.offset(), " of ", item.bytes(),
                     " bytes in a weights section of ", weights.size());
    value.data = weights.data() + item.offset();
    return absl::OkStatus();
  }

  using Ports = flatbuffers::Vector<flatbuffers::Offset<fb::Port>>;
  absl::Status readPorts(const Ports *ports, std::vector<ProgramPort> &result,
                         bool isInput) {
    if (!ports)
      return absl::OkStatus();
    for (const fb::Port *item : *ports) {
      ProgramPort port;
      port.name = item->name()->str();
      port.value = item->value();
      if (!isValue(port.value))
        return corrupt("port `", port.name, "` of value ", port.value);
      fb::ValueKind kind = program.values[port.value].kind;
      if (isInput && kind != fb::ValueKind_Input && kind != fb::ValueKind_State)
        return corrupt("input `", port.name, "` is no input value");
      if (kind == fb::ValueKind_State &&
          (!item->sizes() || item->sizes()->size() != 4))
        return corrupt("cache `", port.name, "` has no four sizes");
      if (!isKnownDType(item->type()))
        return corrupt("port `", port.name, "` of unknown element type ",
                       int(item->type()));
      port.type = static_cast<DType>(item->type());
      port.hasRank = item->has_rank();
      if (item->sizes())
        for (const flatbuffers::String *size : *item->sizes())
          port.sizes.push_back(size->str());
      port.role = item->role() ? item->role()->str() : "";
      port.partner = item->partner();
      result.push_back(std::move(port));
    }
    return absl::OkStatus();
  }

  bool isValue(int index) const {
    return index >= 0 && index < static_cast<int>(program.values.size());
  }

  absl::Status readIndices(const flatbuffers::Vector<int32_t> *indices,
                           std::vector<int> &result) {
    if (!indices)
      return absl::OkStatus();
    for (int32_t index : *indices) {
      if (!isValue(index))
        return corrupt("value index ", index, " of ", program.values.size());
      result.push_back(index);
    }
    return absl::OkStatus();
  }

  absl::Status readBlock(const fb::Block &item, ProgramBlock &block,
                         int depth) {
    if (depth > maxBlockDepth)
      return corrupt("control flow nested deeper than ", maxBlockDepth);
    if (absl::Status status = readIndices(item.arguments(), block.arguments);
        !status.ok())
      return status;
    if (absl::Status status = readIndices(item.results(), block.results);
        !status.ok())
      return status;
    if (!item.steps())
      return absl::OkStatus();
    for (const fb::Step *step : *item.steps())
      if (absl::Status status = readStep(*step, block, depth); !status.ok())
        return status;
    return absl::OkStatus();
  }

  absl::Status readStep(const fb::Step &item, ProgramBlock &block, int depth) {
    ProgramStep &step = block.steps.emplace_back();
    step.kind = item.kind();
    step.call.kernel = item.name() ? item.name()->str() : "";
    step.call.location = item.location() ? item.location()->str() : "";
    step.view = item.view();
    if (absl::Status status = readIndices(item.inputs(), step.inputs);
        !status.ok())
      return status;
    if (absl::Status status = readIndices(item.outputs(), step.outputs);
        !status.ok())
      return status;
    for (int output : step.outputs)
      if (program.values[output].kind == fb::ValueKind_Constant ||
          program.values[output].kind == fb::ValueKind_Input)
        return corrupt("step `", step.call.location, "` writes value ", output,
                       ", which is read only");
    readAttributes(item, step.call.attributes);
    if (item.blocks())
      for (const fb::Block *inner : *item.blocks())
        if (absl::Status status =
                readBlock(*inner, step.blocks.emplace_back(), depth + 1);
            !status.ok())
          return status;
    return step.kind == fb::StepKind_Native ? checkNative(step, item.native())
                                            : checkStep(step);
  }

  absl::Status checkNative(ProgramStep &step, int index) {
    if (index < 0 || static_cast<size_t>(index) >= loops.size())
      return corrupt("step `", step.call.location, "` calls compiled loop ",
                     index, " of ", loops.size());
    const ProgramNativeLoop &loop = loops[index];
    step.loop = &loop;
    step.call.kernel = loop.name;
    if (step.view || !step.blocks.empty())
      return corrupt("step `", step.call.location,
                     "` is a compiled loop with a view or blocks");
    if (step.inputs.size() != loop.operands.size() ||
        step.outputs.size() != loop.results.size())
      return corrupt("step `", step.call.location, "` has ", step.inputs.size(),
                     " operands and ", step.outputs.size(),
                     " results where compiled loop `", loop.name, "` has ",
                     loop.operands.size(), " and ", loop.results.size());
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const ProgramValue &value = program.values[step.inputs[i]];
      if (value.kind == fb::ValueKind_State ||
          value.type != loop.operands[i].type)
        return corrupt("step `", step.call.location, "` gives operand ", i,
                       " of compiled loop `", loop.name, "` ", describe(value),
                       " where it takes ", dtypeName(loop.operands[i].type));
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const ProgramValue &value = program.values[step.outputs[i]];
      if (value.kind != fb::ValueKind_Slot ||
          value.type != loop.results[i].type)
        return corrupt("step `", step.call.location, "` puts result ", i,
                       " of compiled loop `", loop.name, "`, ",
                       dtypeName(loop.results[i].type), " in a slot, into ",
                       describe(value));
    }
    return absl::OkStatus();
  }

  static std::string describe(const ProgramValue &value) {
    return absl::StrCat(dtypeName(value.type), " of kind ",
                        fb::EnumNameValueKind(value.kind));
  }

  absl::Status checkStep(ProgramStep &step) {
    switch (step.kind) {
    case fb::StepKind_Kernel:
      step.kernel = findKernel(step.call.kernel);
      if (!step.kernel)
        return corrupt("step `", step.call.location, "` calls kernel `",
                       step.call.kernel, "`, which this runtime lacks");
      if (step.view && (step.inputs.empty() || step.outputs.size() != 1))
        return corrupt("step `", step.call.location, "` is no view");
      for (int output : step.outputs)
        if ((program.values[output].kind == fb::ValueKind_View) != step.view)
          return corrupt("step `", step.call.location,
                         "` takes its output for a view or not one wrongly");
      if (step.kernel->prepare)
        if (absl::Status status = step.kernel->prepare(step.call); !status.ok())
          return corrupt("step `", step.call.location, "`: ", status.message());
      return absl::OkStatus();
    case fb::StepKind_If:
      if (step.inputs.size() != 1 || step.blocks.size() != 2 ||
          step.blocks[0].results.size() != step.outputs.size() ||
          step.blocks[1].results.size() != step.outputs.size())
        return corrupt("step `", step.call.location, "` is no valid branch");
      return absl::OkStatus();
    case fb::StepKind_Loop:
      // Operands: trip count, condition, carried values; the body takes the
      // iteration, the condition and the carried values, and gives the
      // condition, the carried values and the scanned ones.
      if (step.inputs.size() < 2 || step.blocks.size() != 1 ||
          step.blocks[0].arguments.size() != step.inputs.size() ||
          step.blocks[0].results.size() != step.outputs.size() + 1 ||
          step.outputs.size() + 2 < step.inputs.size())
        return corrupt("step `", step.call.location, "` is no valid loop");
      return absl::OkStatus();
    case fb::StepKind_Native:
      break;
    }
    return corrupt("step `", step.call.location, "` of unknown kind ",
                   int(step.kind));
  }

  static void readAttributes(const fb::Step &item, Attributes &attributes) {
    if (!item.attributes())
      return;
    for (const fb::Attribute *attribute : *item.attributes())
      attributes.set(attribute->name()->str(), attributeValue(*attribute));
  }

  static AttributeValue attributeValue(const fb::Attribute &attribute) {
    switch (attribute.kind()) {
    case fb::AttributeKind_Integer:
      return attribute.integer();
    case fb::AttributeKind_Real:
      return attribute.real();
    case fb::AttributeKind_Text:
      return attribute.text() ? attribute.text()->str() : std::string();
    case fb::AttributeKind_Integers:
      return attribute.integers()
                 ? std::vector<int64_t>(attribute.integers()->begin(),
                                        attribute.integers()->end())
                 : std::vector<int64_t>();
    case fb::AttributeKind_Reals:
      return attribute.reals() ? std::vector<float>(attribute.reals()->begin(),
                                                    attribute.reals()->end())
                               : std::vector<float>();
    case fb::AttributeKind_Texts:
      break;
    }
    std::vector<std::string> texts;
    if (attribute.texts())
      for (const flatbuffers::String *text : *attribute.texts())
        texts.push_back(text->str());
    return texts;
  }

  const fb::Function &source;
  std::string_view weights;
  absl::Span<const ProgramNativeLoop> loops;
  Program program;
};

} // namespace

absl::StatusOr<Program>
buildProgram(const fb::Function &function, std::string_view weights,
             absl::Span<const ProgramNativeLoop> loops) {
  return ProgramBuilder(function, weights, loops).build();
}

} // namespace sol
