//===- run_options.h - what the user asked sol-run for --------------------===//
//
// The command line as data, and the three things that sol-run does.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TOOLS_SOL_RUN_RUN_OPTIONS_H
#define SOL_TOOLS_SOL_RUN_RUN_OPTIONS_H

#include "sol/runtime.h"

#include <optional>
#include <string>
#include <vector>

namespace sol::run {

struct RunOptions {
  std::string plan, function;
  int threads = 0;
  bool verbose = false, quiet = false, describe = false;
  bool skipVerification = false;

  // Tensors.
  std::string inputFolder, outputFolder;
  std::vector<std::string> inputs; ///< NAME=FILE, or an .npz file
  bool randomInputs = false;
  std::vector<std::string> dimensions; ///< NAME=N for random inputs

  // Text.
  std::optional<std::string> prompt;
  std::string promptFile, system, messagesFile;
  bool interactive = false, raw = false;
  int64_t maxTokens = 0, topK = 0, chunk = 0;
  float temperature = 0, topP = 1;
  uint64_t seed = 0;
  std::vector<std::string> stop;

  bool wantsText() const {
    return prompt || !promptFile.empty() || !messagesFile.empty() ||
           interactive;
  }
};

/// An open plan with the function that was asked for.
struct OpenPlan {
  sol_plan *plan = nullptr;
  size_t function = 0;

  explicit OpenPlan(const RunOptions &options);
  ~OpenPlan() { sol_plan_close(plan); }
  OpenPlan(const OpenPlan &) = delete;
  OpenPlan &operator=(const OpenPlan &) = delete;
};

/// A session on it.
struct OpenSession {
  sol_session *session = nullptr;

  OpenSession(const OpenPlan &plan, const RunOptions &options);
  ~OpenSession() { sol_session_close(session); }
  OpenSession(const OpenSession &) = delete;
  OpenSession &operator=(const OpenSession &) = delete;
};

/// Prints what each function of the plan takes and gives.
void describe(const OpenPlan &plan);
/// One run on tensors from files or random ones.
void runTensors(const OpenPlan &plan, const RunOptions &options);
/// Answers one prompt, or chats.
void runText(const OpenPlan &plan, const RunOptions &options);
/// Prints where the time went, on standard error.
void printProfile(const OpenSession &session);

} // namespace sol::run

#endif // SOL_TOOLS_SOL_RUN_RUN_OPTIONS_H
