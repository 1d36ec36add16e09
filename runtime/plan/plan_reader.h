//===- plan_reader.h - opens a plan ---------------------------------------===//
//
// Maps plan.bin, verifies header, description and native code, and makes the
// functions' programs. Reads no weight: pages come in when a kernel touches
// them. Executes nothing.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_PLAN_PLAN_READER_H
#define SOL_RUNTIME_PLAN_PLAN_READER_H

#include "runtime/plan/program.h"

#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sol {

struct PlanOpenOptions {
  /// Compare every MiB of the weights with its hash before first use.
  bool verifyWeights = true;
  /// Make machine code ready to be called. Without it a plan can be looked at
  /// on any machine, and its compiled loops have no function.
  bool loadCode = true;
};

/// Numbers [begin, end) of pieces.
struct PieceRange {
  int64_t begin = 0, end = 0;
};

/// An open plan; the mapping lives as long as this object. Immutable, so
/// sessions on several threads may share it.
class Plan {
public:
  /// Errors name the file and what to do: NotFound, InvalidArgument for bytes
  /// that are no plan or a corrupt one, FailedPrecondition for a plan of
  /// another format version or with machine code for other processors alone.
  static absl::StatusOr<std::shared_ptr<const Plan>>
  open(const std::string &path, const PlanOpenOptions &options = {});
  virtual ~Plan() = default;

  const std::vector<Program> &functions() const { return programs; }
  /// Outputs that feed inputs of other functions: an encoder's states. An input
  /// is fed by one at most.
  const std::vector<ProgramLink> &links() const { return connections; }
  /// The function of that name; the only one if `name` is empty; NotFound
  /// listing the names otherwise.
  absl::StatusOr<const Program *> function(std::string_view name) const;
  /// The loops that native steps call; what their `function` points to lives
  /// as long as this object.
  const std::vector<ProgramNativeLoop> &nativeLoops() const { return loops; }
  /// Index of the image whose code they call; -1 if there is none or it was
  /// not loaded.
  int nativeImage() const { return image; }
  /// Bytes of an embedded file, empty if there is none of that name; DataLoss
  /// if they differ from their hash.
  virtual absl::StatusOr<std::string_view>
  resource(std::string_view name) const = 0;
  virtual const fb::Plan &description() const = 0;
  /// The pieces of the weights section, each with a hash of its own, that
  /// `bytes` bytes at `data` lie in.
  virtual PieceRange weightPieces(const void *data, uint64_t bytes) const = 0;
  /// Compares pieces with their hashes, each once for all sessions; DataLoss if
  /// one differs. Several threads may call it at once.
  virtual absl::Status verifyPieces(PieceRange pieces) const = 0;
  const std::string &path() const { return file; }

protected:
  std::vector<Program> programs;
  std::vector<ProgramLink> connections;
  std::vector<ProgramNativeLoop> loops;
  int image = -1;
  std::string file;
};

} // namespace sol

#endif // SOL_RUNTIME_PLAN_PLAN_READER_H
