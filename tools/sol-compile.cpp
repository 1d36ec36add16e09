//===- sol-compile.cpp - compile ONNX models to a plan --------------------===//
//
// The command line of include/sol/compile.h.
//
//===----------------------------------------------------------------------===//
#include "sol/compile.h"
#include "sol/version.h"
#include "tools/progress_line.h"

#include <CLI/CLI.hpp>

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
      ->check(CLI::IsMember({"import", "nn", "native"}));
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
    if (options.output.empty() && options.stopAfter.empty())
      throw CLI::RequiredError("--output");
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
