//===- sol-compile.cpp - compile ONNX models to a plan --------------------===//
//
// The command line of include/sol/compile.h.
//
//===----------------------------------------------------------------------===//
#include "sol/compile.h"
#include "sol/version.h"
#include "tools/progress_line.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <filesystem>
#include <iostream>

namespace {

/// `NAME=FILE`.
sol::CompileInput namedInput(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw CLI::ValidationError("--function", "`" + text + "` is not NAME=FILE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// What says where the model is to lie on wafers.
void addPlaceOptions(CLI::App &app, sol::CompileOptions &options,
                     std::string &wafers) {
  sol::PlaceOptions &place = options.place;
  app.add_option("--target", place.target,
                 "Place the model on wafers of this machine and cost it: a "
                 "name, or a file")
      ->type_name("NAME|FILE");
  app.add_option("--wafers", wafers,
                 "Wafers to place on; auto takes the fewest that are within "
                 "2 % of the best (default)")
      ->type_name("N|auto");
  app.add_option("--policy", place.policy,
                 "How layers are put on wafers (default: free)")
      ->check(CLI::IsMember(
          {"free", "layer-per-wafer", "layer-per-wafer-rectangle"}));
  app.add_option("--optimize", place.objective,
                 "What a placement is to be best at (default: latency)")
      ->check(CLI::IsMember({"latency", "throughput", "context"}));
  app.add_option("--sequences", place.sequences,
                 "Sequences that are interleaved, each with a cache for the "
                 "context (default: 1)")
      ->check(CLI::PositiveNumber);
  app.add_option("--prompt-tokens", place.promptTokens,
                 "Length of the prompt for the time to the first token "
                 "(default: the context)")
      ->check(CLI::PositiveNumber);
  app.add_option("--defects", place.defects, "What is broken on the wafers")
      ->type_name("FILE");
  app.add_option("--search-seconds", place.searchSeconds,
                 "Most time for improving a placement (default: 10)")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("!--no-fused-products", place.fused,
               "Give each product a reduction of its own, for comparison");
  app.add_flag("--weightless", options.weightless,
               "Let files of weights be absent: the model is placed and "
               "costed, but can't run");
  app.add_option("--report", place.report,
                 "Write the placement and its figures as JSON; -o may then be "
                 "left out, and no weights are read")
      ->type_name("FILE");
}

/// What --wafers says: 0 for auto.
int64_t wafersOf(const std::string &text) {
  if (text.empty() || text == "auto")
    return 0;
  int64_t wafers = 0;
  auto [end, failed] =
      std::from_chars(text.data(), text.data() + text.size(), wafers);
  if (failed != std::errc() || end != text.data() + text.size() || wafers < 1)
    throw CLI::ValidationError("--wafers", "`" + text +
                                               "` is neither a number of 1 or "
                                               "more nor auto");
  return wafers;
}

/// Throws where options don't go together.
void checkOptions(const sol::CompileOptions &options) {
  const sol::PlaceOptions &place = options.place;
  if (!place.report.empty() && place.target.empty())
    throw CLI::RequiredError("--report needs --target, which");
  if (options.stopAfter == "place" && place.target.empty())
    throw CLI::RequiredError("--stop-after=place needs --target, which");
  if (options.output.empty() && options.stopAfter.empty() &&
      place.report.empty())
    throw CLI::RequiredError("--output");
  if (options.weightless && !options.output.empty() &&
      options.stopAfter.empty())
    throw CLI::ValidationError(
        "--weightless", "a model without weights can be costed, not run: "
                        "leave out -o and give --report");
}

/// The function that a file becomes: its name without extension.
std::string functionName(const std::string &path) {
  return std::filesystem::path(path).stem().string();
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Compiles ONNX models to a plan that sol-run executes.\n\n"
               "  sol-compile model.onnx -o plan.bin\n"
               "  sol-compile encoder.onnx decoder.onnx -o plan.bin",
               "sol-compile");
  app.set_version_flag("--version", sol::versionText("sol-compile"));
  sol::CompileOptions options;
  std::vector<std::string> files, functions;
  bool noRecognition = false;
  std::string wafers;
  addPlaceOptions(app, options, wafers);
  app.add_option("files", files, "ONNX models, or the IR that a stage left")
      ->type_name("FILE");
  app.add_option("--function", functions,
                 "A model and the name of its function in the plan")
      ->type_name("NAME=FILE");
  app.add_option(
         "-o,--output", options.output,
         "The plan; with --stop-after, the IR (default: standard output)")
      ->type_name("FILE");
  app.add_option(
         "--context", options.context,
         "Most positions of a sequence (default: the model's own limit)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--no-recognition", noRecognition,
               "Run every operator by the generic path");
  app.add_option("--native", options.nativeLevels,
                 "Instruction-set levels that fused loops are compiled for, "
                 "or none (default: x86-64,x86-64-v3)")
      ->delimiter(',')
      ->check(CLI::IsMember({"x86-64", "x86-64-v2", "x86-64-v3", "none"}));
  app.add_flag("--remarks", options.remarks,
               "Say what was recognised, and what nearly was and why not");
  app.add_option("--stop-after", options.stopAfter,
                 "Write the IR after a stage instead of a plan")
      ->check(CLI::IsMember({"import", "nn", "place", "native"}));
  app.add_option("--dump-ir", options.dumpIrFolder,
                 "Write the IR after each stage into this folder")
      ->type_name("DIR");
  try {
    app.parse(argc, argv);
    for (const std::string &file : files)
      options.inputs.push_back({functionName(file), file});
    for (const std::string &function : functions)
      options.inputs.push_back(namedInput(function));
    if (options.inputs.empty())
      throw CLI::RequiredError("a model");
    options.place.wafers = wafersOf(wafers);
    checkOptions(options);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.recognition = !noRecognition;
  if (std::find(options.nativeLevels.begin(), options.nativeLevels.end(),
                "none") != options.nativeLevels.end())
    options.nativeLevels.clear();
  sol::ProgressLine progress;
  options.progress = [&](const std::string &text) { progress.show(text); };
  return sol::compile(options) ? 0 : 1;
}
