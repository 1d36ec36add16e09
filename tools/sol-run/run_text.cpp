//===- run_text.cpp - prompts and chats -----------------------------------===//
//
// The generated text alone goes to standard output; all else to standard error.
//
//===----------------------------------------------------------------------===//
#include "tools/progress_line.h"
#include "tools/sol-run/run_options.h"
#include "tools/sol-run/tensor_value.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <vector>

namespace sol::run {
namespace {

using nlohmann::json;

/// Set by Ctrl-C: the answer ends after the token in progress.
std::atomic<bool> interrupted = false;

void onInterrupt(int) { interrupted = true; }

struct Answer {
  std::string text;
  ProgressLine progress;
};

/// Shows how much of a long prompt is computed. Ctrl-C ends it here too.
int onPromptProgress(int64_t done, int64_t total, void *user) {
  if (auto *line = static_cast<ProgressLine *>(user))
    line->show("prompt: " + std::to_string(done) + " of " +
               std::to_string(total) + " tokens, " +
               std::to_string(100 * done / total) + " %");
  return interrupted;
}

int onText(const char *text, size_t bytes, void *user) {
  auto *answer = static_cast<Answer *>(user);
  answer->progress.clear();
  answer->text.append(text, bytes);
  std::fwrite(text, 1, bytes, stdout);
  // A reader that went away ends the generation as Ctrl-C does.
  return std::fflush(stdout) != 0 || interrupted;
}

void printStatistics(const sol_generation_result &result) {
  double decodeSeconds = result.seconds - result.seconds_to_first_token;
  double decoded = static_cast<double>(result.generated_tokens) - 1;
  std::fprintf(stderr,
               "%lld prompt tokens, time to first token %.3f s; %lld tokens, "
               "%.1f tokens/s; ended by %s\n",
               static_cast<long long>(result.prompt_tokens),
               result.seconds_to_first_token,
               static_cast<long long>(result.generated_tokens),
               decodeSeconds > 0 && decoded > 0 ? decoded / decodeSeconds : 0.0,
               result.reason);
}

std::string answer(const OpenSession &session, const RunOptions &options,
                   const std::string &prompt) {
  std::vector<const char *> stops;
  for (const std::string &stop : options.stop)
    stops.push_back(stop.c_str());
  sol_generation_options generation = {};
  generation.prompt = prompt.c_str();
  generation.raw = options.raw;
  generation.max_tokens = options.maxTokens;
  generation.temperature = options.temperature;
  generation.top_k = options.topK;
  generation.top_p = options.topP;
  generation.seed = options.seed;
  generation.stop = stops.data();
  generation.stop_count = stops.size();
  generation.chunk = options.chunk;
  Answer collected;
  generation.on_prompt_progress = onPromptProgress;
  generation.progress_user = options.quiet ? nullptr : &collected.progress;
  sol_generation_result result = {};
  interrupted = false;
  check(sol_session_generate(session.session, &generation, onText, &collected,
                             &result));
  collected.progress.clear();
  if (!options.quiet) {
    std::fputc('\n', stdout);
    std::fflush(stdout);
    printStatistics(result);
  }
  return collected.text;
}

std::string readPrompt(const RunOptions &options) {
  if (options.prompt)
    return *options.prompt;
  if (options.promptFile != "-")
    return readFile(options.promptFile);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

json startMessages(const RunOptions &options) {
  json messages = json::array();
  if (!options.messagesFile.empty()) {
    messages = json::parse(readFile(options.messagesFile), nullptr, false);
    if (!messages.is_array())
      throw Failure(options.messagesFile +
                    ": is no JSON array of {\"role\", \"content\"}");
  }
  if (!options.system.empty())
    messages.insert(messages.begin(),
                    {{"role", "system"}, {"content", options.system}});
  return messages;
}

/// JSON text; bytes that are no UTF-8 are an error, not an exception's text.
std::string dump(const json &messages) {
  try {
    return messages.dump();
  } catch (const json::exception &) {
    throw Failure("the prompt is not UTF-8");
  }
}

void chat(const OpenSession &session, const RunOptions &options) {
  json messages = startMessages(options);
  std::string line;
  while (true) {
    std::fputs("> ", stderr);
    if (!std::getline(std::cin, line))
      break;
    if (line.empty())
      continue;
    messages.push_back({{"role", "user"}, {"content", line}});
    std::string text = answer(session, options, dump(messages));
    messages.push_back({{"role", "assistant"}, {"content", text}});
  }
  std::fputc('\n', stderr);
}

/// Of several functions, text comes from the one that others feed and that
/// feeds none.
std::string textFunction(const OpenPlan &open, const RunOptions &options) {
  const sol_plan *plan = open.plan;
  size_t links = sol_plan_link_count(plan);
  if (!options.function.empty() || links == 0)
    return options.function;
  std::vector<bool> isFed(sol_plan_function_count(plan)), feeds(isFed);
  for (size_t i = 0; i < links; ++i) {
    sol_link link = sol_plan_link(plan, i);
    isFed[link.to_function] = feeds[link.from_function] = true;
  }
  std::string name;
  for (size_t i = 0; i < isFed.size(); ++i) {
    if (!isFed[i] || feeds[i])
      continue;
    if (!name.empty())
      return options.function;
    name = sol_plan_function_name(plan, i);
  }
  return name;
}

} // namespace

void runText(const OpenPlan &plan, const RunOptions &given) {
  RunOptions options = given;
  options.function = textFunction(plan, given);
  std::string settings = sol_plan_unapplied_settings(plan.plan);
  if (!settings.empty())
    std::cerr << "warning: these settings of the model change tokens and have "
                 "no effect here:\n"
              << settings << "\n";
  OpenSession session(plan, options);
  std::signal(SIGINT, onInterrupt);
  if (options.interactive) {
    chat(session, options);
  } else if (options.raw) {
    answer(session, options, readPrompt(options));
  } else {
    json messages = startMessages(options);
    if (options.prompt || !options.promptFile.empty())
      messages.push_back({{"role", "user"}, {"content", readPrompt(options)}});
    answer(session, options, dump(messages));
  }
  if (options.verbose)
    printProfile(session);
}

} // namespace sol::run
