//===- sol-plan-dump.cpp - show what a plan holds -------------------------===//
//
// Prints the description of a plan as text, a step a line, or as JSON. Opens
// the plan as a runtime does, so a damaged one is refused with the reason.
//
//===----------------------------------------------------------------------===//
#include "runtime/plan/plan_reader.h"
#include "sol/version.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

namespace {

using nlohmann::ordered_json;
using namespace sol;

ordered_json attributesOf(const ProgramStep &step) {
  ordered_json result = ordered_json::object();
  for (const auto &[name, value] : step.call.attributes.all())
    std::visit([&](const auto &item) { result[name] = item; }, value);
  return result;
}

const char *kindName(fb::StepKind kind) {
  switch (kind) {
  case fb::StepKind_If:
    return "if";
  case fb::StepKind_Loop:
    return "loop";
  case fb::StepKind_Native:
    return "native";
  case fb::StepKind_Kernel:
    break;
  }
  return "kernel";
}

ordered_json blockOf(const ProgramBlock &block) {
  ordered_json steps = ordered_json::array();
  for (const ProgramStep &step : block.steps) {
    ordered_json item = {{"kind", kindName(step.kind)},
                         {"kernel", step.call.kernel},
                         {"node", step.call.location},
                         {"inputs", step.inputs},
                         {"outputs", step.outputs},
                         {"attributes", attributesOf(step)},
                         {"view", step.view}};
    for (const ProgramBlock &inner : step.blocks)
      item["blocks"].push_back(blockOf(inner));
    steps.push_back(std::move(item));
  }
  return {{"arguments", block.arguments},
          {"steps", std::move(steps)},
          {"results", block.results}};
}

ordered_json portsOf(const std::vector<ProgramPort> &ports) {
  ordered_json result = ordered_json::array();
  for (const ProgramPort &port : ports)
    result.push_back({{"name", port.name},
                      {"value", port.value},
                      {"type", dtypeName(port.type)},
                      {"sizes", port.sizes},
                      {"role", port.role},
                      {"partner", port.partner}});
  return result;
}

ordered_json valuesOf(const Program &program, const fb::Function &source) {
  ordered_json result = ordered_json::array();
  for (size_t i = 0; i < program.values.size(); ++i) {
    const ProgramValue &value = program.values[i];
    ordered_json item = {{"kind", fb::EnumNameValueKind(value.kind)},
                         {"type", dtypeName(value.type)}};
    if (value.kind == fb::ValueKind_Slot)
      item["slot"] = value.slot;
    if (value.kind == fb::ValueKind_Constant) {
      item["sizes"] =
          std::vector<int64_t>(value.dims.begin(), value.dims.end());
      item["offset"] = source.values()->Get(i)->offset();
      item["bytes"] = source.values()->Get(i)->bytes();
    }
    result.push_back(std::move(item));
  }
  return result;
}

ordered_json
nativeOperandsOf(const std::vector<ProgramNativeOperand> &operands) {
  ordered_json result = ordered_json::array();
  for (const ProgramNativeOperand &operand : operands)
    result.push_back(
        {{"type", dtypeName(operand.type)}, {"axes", operand.axes}});
  return result;
}

ordered_json nativeOf(const Plan &plan) {
  ordered_json images = ordered_json::array(), loops = ordered_json::array();
  if (plan.description().native_images())
    for (const fb::NativeImage *image : *plan.description().native_images())
      images.push_back({{"level", image->level()->str()},
                        {"offset", image->offset()},
                        {"bytes", image->bytes()},
                        {"hash", image->hash()}});
  for (const ProgramNativeLoop &loop : plan.nativeLoops())
    loops.push_back({{"name", loop.name},
                     {"groups", loop.groups},
                     {"sizes", loop.sizes},
                     {"by_rows", loop.byRows},
                     {"scratch", loop.scratch},
                     {"operands", nativeOperandsOf(loop.operands)},
                     {"results", nativeOperandsOf(loop.results)},
                     {"entries", loop.entries}});
  return {{"images", std::move(images)}, {"loops", std::move(loops)}};
}

ordered_json planToJson(const Plan &plan) {
  const fb::Plan &description = plan.description();
  ordered_json result = {
      {"compiler", description.compiler() ? description.compiler()->str() : ""},
      {"format", planFormatVersion},
      {"weights",
       {{"offset", description.weights_offset()},
        {"bytes", description.weights_bytes()}}}};
  result["resources"] = ordered_json::array();
  if (description.resources())
    for (const fb::Resource *item : *description.resources())
      result["resources"].push_back({{"name", item->name()->str()},
                                     {"offset", item->offset()},
                                     {"bytes", item->bytes()},
                                     {"hash", item->hash()}});
  result["native"] = nativeOf(plan);
  result["links"] = ordered_json::array();
  for (const ProgramLink &link : plan.links())
    result["links"].push_back({{"from_function", link.fromFunction},
                               {"from_output", link.fromOutput},
                               {"to_function", link.toFunction},
                               {"to_input", link.toInput}});
  for (size_t i = 0; i < plan.functions().size(); ++i) {
    const Program &program = plan.functions()[i];
    result["functions"].push_back(
        {{"name", program.name},
         {"context", program.context},
         {"slots", program.slots},
         {"inputs", portsOf(program.inputs)},
         {"outputs", portsOf(program.outputs)},
         {"values", valuesOf(program, *description.functions()->Get(i))},
         {"body", blockOf(program.body)}});
  }
  return result;
}

/// `%3` for a value of a slot, `#3` for a constant, `-` for a missing one.
std::string valueText(const Program &program, int index) {
  const ProgramValue &value = program.values[index];
  if (value.kind == fb::ValueKind_Absent)
    return "-";
  if (value.kind == fb::ValueKind_Constant)
    return "#" + std::to_string(index);
  std::string text = "%" + std::to_string(index);
  if (value.kind == fb::ValueKind_Slot)
    text += "@" + std::to_string(value.slot);
  return text;
}

std::string listText(const Program &program, const std::vector<int> &values) {
  std::string text;
  for (int value : values)
    text += (text.empty() ? "" : ", ") + valueText(program, value);
  return text;
}

void printBlock(const Program &program, const ProgramBlock &block,
                const std::string &indent) {
  for (const ProgramStep &step : block.steps) {
    std::cout << indent << listText(program, step.outputs)
              << (step.outputs.empty() ? "" : " = ")
              << (step.loop ? "native \"" + step.call.kernel + "\""
                            : step.call.kernel)
              << "(" << listText(program, step.inputs) << ")";
    if (!step.call.attributes.all().empty())
      std::cout << " " << attributesOf(step).dump();
    std::cout << (step.view ? " view" : "");
    if (!step.call.location.empty())
      std::cout << "  // " << step.call.location;
    std::cout << "\n";
    for (const ProgramBlock &inner : step.blocks)
      printBlock(program, inner, indent + "    ");
  }
  std::cout << indent << "give " << listText(program, block.results) << "\n";
}

/// `float32 [0, -1], int64 []`: types and axes.
std::string operandsText(const std::vector<ProgramNativeOperand> &operands) {
  std::string text;
  for (const ProgramNativeOperand &operand : operands)
    text += (text.empty() ? "" : ", ") + std::string(dtypeName(operand.type)) +
            " " + ordered_json(operand.axes).dump();
  return text;
}

/// What lies beside the functions: embedded files, and machine code.
void printSections(const Plan &plan) {
  const fb::Plan &description = plan.description();
  if (description.resources())
    for (const fb::Resource *item : *description.resources())
      std::cout << "embedded " << item->name()->str() << ", " << item->bytes()
                << " bytes\n";
  if (description.native_images())
    for (const fb::NativeImage *image : *description.native_images())
      std::cout << "machine code for " << image->level()->str() << ", "
                << image->bytes() << " bytes at " << image->offset() << "\n";
  for (const ProgramNativeLoop &loop : plan.nativeLoops()) {
    std::cout << "compiled loop \"" << loop.name << "\" over "
              << ordered_json(loop.groups).dump() << " of " << loop.sizes
              << (loop.sizes == 1 ? " size" : " sizes")
              << (loop.byRows ? " by rows" : "");
    if (loop.scratch > 0)
      std::cout << ", scratch " << loop.scratch;
    std::cout << ": " << operandsText(loop.operands) << " -> "
              << operandsText(loop.results) << "\n";
  }
}

void printText(const Plan &plan) {
  const fb::Plan &description = plan.description();
  std::cout << "made by "
            << (description.compiler() ? description.compiler()->str() : "?")
            << ", " << description.weights_bytes() << " bytes of weights\n";
  printSections(plan);
  for (const Program &program : plan.functions()) {
    std::cout << "function " << program.name << ", " << program.slots
              << " slots";
    if (program.context > 0)
      std::cout << ", context of " << program.context << " tokens";
    std::cout << "\n";
    for (const ProgramPort &port : program.inputs)
      std::cout << "  %" << port.value << " = input " << port.name << " "
                << dtypeName(port.type) << " "
                << ordered_json(port.sizes).dump() << " " << port.role << "\n";
    printBlock(program, program.body, "  ");
    for (const ProgramPort &port : program.outputs)
      std::cout << "  output " << port.name << " = "
                << valueText(program, port.value) << "\n";
  }
  for (const ProgramLink &link : plan.links()) {
    const Program &from = plan.functions()[link.fromFunction];
    const Program &to = plan.functions()[link.toFunction];
    std::cout << "link " << from.name << "."
              << from.outputs[link.fromOutput].name << " to " << to.name << "."
              << to.inputs[link.toInput].name << "\n";
  }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Prints what a plan holds.\n\n  sol-plan-dump plan.bin",
               "sol-plan-dump");
  app.set_version_flag("--version", versionText("sol-plan-dump"));
  std::string path;
  bool asJson = false;
  app.add_option("plan", path, "The plan")->required();
  app.add_flag("--json", asJson, "Print JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  PlanOpenOptions options;
  options.loadCode = false; // so that plans for other processors can be read
  absl::StatusOr<std::shared_ptr<const Plan>> plan = Plan::open(path, options);
  if (!plan.ok()) {
    std::cerr << "error: " << std::string(plan.status().message()) << "\n";
    return 1;
  }
  if (asJson)
    std::cout << planToJson(**plan).dump(1, ' ', false,
                                         ordered_json::error_handler_t::replace)
              << "\n";
  else
    printText(**plan);
  return 0;
}
