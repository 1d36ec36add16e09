//===- executor.h - interprets a program ----------------------------------===//
//
// Runs the steps of one function of a plan over its values. Computes no element
// itself: kernels do. Each step's shapes are inferred anew from its operands,
// so a plan can't make a kernel write past its memory.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_EXECUTOR_H
#define SOL_RUNTIME_SESSION_EXECUTOR_H

#include "runtime/plan/plan_reader.h"
#include "runtime/session/slot_memory.h"

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include <memory>
#include <vector>

namespace sol {

struct ExecutorOptions {
  /// Workers, the caller included; 0 = one for each processor.
  int threads = 0;
  /// Most bytes of computed values; 0 = what the machine has.
  int64_t memoryLimitBytes = 0;
  /// Measure the time of each step (see Executor::profile).
  bool profile = false;
};

/// The memory limit that the options set, or what the machine has; bytes.
int64_t memoryLimitOf(const ExecutorOptions &options);

/// Time spent in the steps that came from one ONNX node.
struct ProfileEntry {
  std::string location;
  std::string kernel;
  int64_t calls = 0;
  double seconds = 0;
};

/// One function ready to run; not thread safe, unlike the plan it shares.
class Executor {
public:
  static absl::StatusOr<std::unique_ptr<Executor>>
  create(std::shared_ptr<const Plan> plan, const Program &program,
         const ExecutorOptions &options);
  virtual ~Executor() = default;

  /// Runs the function. `inputs` has one tensor for each input port; a cache
  /// port's tensor has the cache's sizes and points to a KvCache, whose lengths
  /// the caller advances after the run. Errors name the ONNX node.
  virtual absl::Status run(absl::Span<const Tensor> inputs) = 0;

  /// An output of the last successful run; valid until the next one.
  virtual const Tensor &output(int port) const = 0;

  virtual const Program &program() const = 0;
  /// Where the time went, in the order of the program; empty unless asked for.
  virtual std::vector<ProfileEntry> profile() const = 0;
  /// Memory allocations made by runs so far.
  virtual int64_t allocations() const = 0;
};

} // namespace sol

#endif // SOL_RUNTIME_SESSION_EXECUTOR_H
