//===- main.cpp - run a plan ----------------------------------------------===//
//
// The command line of sol-run, on include/sol/runtime.h alone.
//
//===----------------------------------------------------------------------===//
#include "sol/version.h"
#include "tools/sol-run/run_options.h"
#include "tools/sol-run/tensor_value.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace {

using sol::run::RunOptions;

void addTensorOptions(CLI::App &app, RunOptions &options) {
  app.add_option("--inputs", options.inputFolder,
                 "Folder of input_<i>.pb, <name>.npy or .npz files")
      ->type_name("DIR");
  app.add_option("--input", options.inputs,
                 "An input and its .pb or .npy file, or an .npz file")
      ->type_name("NAME=FILE");
  app.add_option("--outputs", options.outputFolder,
                 "Folder that gets output_<i>.pb if the inputs are .pb, "
                 "<name>.npy otherwise")
      ->type_name("DIR");
  app.add_flag("--random-inputs", options.randomInputs,
               "Run on random inputs of the sizes that --dim gives");
  app.add_option("--dim", options.dimensions, "A named dimension's size")
      ->type_name("NAME=N");
}

void addTextOptions(CLI::App &app, RunOptions &options) {
  app.add_option("--prompt", options.prompt, "What to answer");
  app.add_option("--prompt-file", options.promptFile,
                 "File with what to answer, - for standard input");
  app.add_option("--system", options.system, "The system message");
  app.add_option("--messages", options.messagesFile,
                 "JSON file with the messages of a chat")
      ->type_name("FILE");
  app.add_flag("--interactive", options.interactive, "Chat line by line");
  app.add_flag("--raw", options.raw,
               "Give the prompt as it is, without the chat template");
  app.add_option("--max-tokens", options.maxTokens, "Tokens at most")
      ->check(CLI::PositiveNumber);
  app.add_option("--temperature", options.temperature,
                 "0 (the default) takes the likeliest token")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--top-k", options.topK, "Choose among this many; 0 for all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--top-p", options.topP,
                 "Choose among the likeliest of this probability together")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--seed", options.seed, "Start of the random numbers");
  app.add_option("--stop", options.stop, "A text that ends the answer");
  app.add_option("--chunk", options.chunk,
                 "Tokens of the prompt computed at once; changes no result")
      ->check(CLI::PositiveNumber);
}

void run(const RunOptions &options) {
  sol::run::OpenPlan plan(options);
  if (options.describe)
    return sol::run::describe(plan);
  if (options.wantsText())
    return sol::run::runText(plan, options);
  sol::run::runTensors(plan, options);
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs a plan that sol-compile made.\n\n"
               "  sol-run plan.bin --prompt \"Why is the sky blue?\"\n"
               "  sol-run plan.bin --inputs DIR --outputs DIR\n"
               "  sol-run plan.bin --describe",
               "sol-run");
  app.set_version_flag("--version", sol::versionText("sol-run"));
  RunOptions options;
  app.add_option("plan", options.plan, "The plan")->required();
  app.add_option("--function", options.function,
                 "Function of the plan, if it has several");
  app.add_option("--threads", options.threads,
                 "Workers (default: one for each processor)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--describe", options.describe,
               "Print what the plan takes and gives");
  app.add_flag("--verbose", options.verbose, "Print each node's time");
  app.add_flag("--quiet", options.quiet, "Print no statistics");
  app.add_flag("--no-verify", options.skipVerification,
               "Do not compare weights with their hashes");
  addTensorOptions(app, options);
  addTextOptions(app, options);
  try {
    app.parse(argc, argv);
    if (!options.describe && !options.wantsText() && !options.randomInputs &&
        options.inputFolder.empty() && options.inputs.empty())
      throw CLI::RequiredError(
          "one of --prompt, --inputs, --random-inputs and --describe");
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    run(options);
  } catch (const std::exception &failure) {
    std::cerr << "error: " << failure.what() << "\n";
    return 1;
  }
  return 0;
}
