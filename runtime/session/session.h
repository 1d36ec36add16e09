//===- session.h - one use of a function, with what it remembers ----------===//
//
// Runs a function on explicit tensors, or feeds it tokens while the caches stay
// here between runs.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_SESSION_H
#define SOL_RUNTIME_SESSION_SESSION_H

#include "runtime/session/cache_storage.h"
#include "runtime/session/executor.h"
#include "runtime/session/port_check.h"

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sol {

/// A tensor of the caller with the name of the input that it is for.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Logits of the last positions fed: float32, positions x vocabulary.
struct Logits {
  const float *data = nullptr;
  int64_t positions = 0;
  int64_t vocabulary = 0;
};

/// Whether a run goes on with what is behind the port: a past that grows, or a
/// buffer that is written into.
inline bool isPast(const ProgramPort &port) {
  return port.role == "past" || port.role == "buffer";
}

class Session {
public:
  static absl::StatusOr<std::unique_ptr<Session>>
  create(std::shared_ptr<const Plan> plan, const Program &program,
         const ExecutorOptions &options);

  /// One run on explicit inputs, in any order; nothing is remembered. Outputs
  /// are in the function's order and valid until the next call.
  absl::StatusOr<absl::Span<const Tensor>>
  run(absl::Span<const NamedTensor> inputs);

  /// Runs the encoder that feeds this function and keeps its states for the
  /// feeds to come; forgets all tokens. FailedPrecondition if there is none.
  absl::Status encode(absl::Span<const int64_t> tokens);
  /// Whether encode must come before feed.
  bool isFedByEncoder() const { return link || (first && first->link); }
  /// Adds tokens to the sequence and computes their logits.
  absl::StatusOr<Logits> feed(absl::Span<const int64_t> tokens);
  /// Tokens held.
  absl::Span<const int64_t> tokens() const { return history; }
  /// Forgets tokens from `length` on; OutOfRange if there are fewer.
  absl::Status truncate(int64_t length);

  const Executor &executor() const { return *interpreter; }
  /// Calls `visit` with every executor that has run for this session.
  void visitExecutors(absl::FunctionRef<void(const Executor &)> visit) const;
  const Plan &plan() const { return *openPlan; }

private:
  explicit Session(std::shared_ptr<const Plan> plan);
  absl::Status connect(const ExecutorOptions &options);
  absl::Status encodeStates(absl::Span<const int64_t> tokens);
  absl::Status checkEncoded() const;
  absl::Status fillEncoderPast(size_t port, Tensor &input);
  absl::StatusOr<Logits> begin(absl::Span<const int64_t> tokens);
  absl::Status takePast(const ProgramLink &link);
  absl::Status orderInputs(absl::Span<const NamedTensor> inputs,
                           std::vector<Tensor> &ordered) const;
  absl::Status loadCaches(std::vector<Tensor> &inputs);
  void collectOutputs();
  int64_t stepOf(absl::Span<const Tensor> inputs) const;
  absl::Status makeInputs(absl::Span<const int64_t> tokens,
                          std::vector<Tensor> &inputs);
  absl::Status fillInput(size_t port, absl::Span<const int64_t> tokens,
                         const SizeBindings &bindings, Tensor &input);
  absl::Status fillPast(size_t port, int64_t step, Tensor &input);
  absl::Status fillBuffer(size_t port, int64_t step, Tensor &input);
  SizeBindings bindSequence(int64_t past, int64_t step) const;
  absl::Status keepPresents();
  absl::StatusOr<Logits> readLogits();

  std::shared_ptr<const Plan> openPlan;
  std::unique_ptr<Executor> interpreter;
  const Program *program = nullptr;
  std::vector<CacheStorage> caches;            ///< for each input port
  std::vector<std::vector<char>> inputBuffers; ///< for each input port
  std::vector<Tensor> pasts; ///< for each input port that keeps a tensor
  std::vector<std::vector<char>> outputBuffers;
  std::vector<Tensor> outputs;
  std::vector<int64_t> history;
  std::vector<float> logitsBuffer;

  ExecutorOptions options;
  std::optional<ProgramLink> link;     ///< of the encoder's output
  std::unique_ptr<Session> first;      ///< on the function that makes the pasts
  std::vector<ProgramLink> beginnings; ///< its outputs, to the pasts here
  std::unique_ptr<Session> encoder;    ///< made when it is first needed
  std::vector<char> statesBuffer;
  Tensor states; ///< what the encoder gave; absent before it ran
};

} // namespace sol

#endif // SOL_RUNTIME_SESSION_SESSION_H
