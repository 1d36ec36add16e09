//===- handles.h - what the C interface's handles are ---------------------===//
//
// The structs behind include/sol/runtime.h.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_API_HANDLES_H
#define SOL_RUNTIME_API_HANDLES_H

#include "runtime/session/generator.h"
#include "sol/runtime.h"

#include "absl/status/status.h"

#include <mutex>

struct sol_status {
  sol_status_code code;
  std::string message;
};

namespace sol {

/// A port with the storage of its list of sizes.
struct PortView {
  sol_port port = {};
  std::vector<const char *> sizes;
};

/// Null for OK.
sol_status *toStatus(const absl::Status &status);

} // namespace sol

struct sol_plan {
  std::shared_ptr<const sol::Plan> plan;
  std::vector<std::vector<sol::PortView>> inputs, outputs; ///< of each function

  /// The text side of the plan, made at its first use.
  absl::StatusOr<const sol::TextModel *> text() const;

private:
  mutable std::mutex mutex;
  mutable std::unique_ptr<sol::TextModel> model;

public:
  mutable std::string unapplied;
};

struct sol_session {
  const sol_plan *plan;
  std::unique_ptr<sol::Session> session;
  std::vector<sol_tensor> outputs;
  std::vector<int64_t> logitsSizes;
};

#endif // SOL_RUNTIME_API_HANDLES_H
