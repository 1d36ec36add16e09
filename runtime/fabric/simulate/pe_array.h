//===- pe_array.h - all PEs with their memory, registers and code --------===//
//
// What both simulators have in common: the state of every PE, how weights,
// inputs and outputs get in and out, and the execution of everything but the
// words between PEs.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_SIMULATE_PE_ARRAY_H
#define SOL_RUNTIME_FABRIC_SIMULATE_PE_ARRAY_H

#include "runtime/fabric/program/channels.h"
#include "runtime/fabric/simulate/large_pages.h"
#include "runtime/fabric/simulate/local_instructions.h"

#include "absl/types/span.h"

#include <array>

namespace sol::fabric {

/// Matrices of the host, row by row, one for each of FabricProgram::inputs or
/// outputs.
using HostTensors = std::vector<std::vector<float>>;

/// A PE: where it is in its code, its registers and memory. Together, as all of
/// it is looked at whenever a PE goes on.
struct alignas(128) Core {
  const CodeList *code = nullptr;
  uint8_t *memory = nullptr;
  int32_t x = 0, y = 0; ///< on its wafer
  int32_t next = 0;     ///< instruction
  int32_t words = 0;    ///< of that stream that are handled
  struct {
    int32_t begin, left;
  } loops[mostLoops] = {};
  int16_t depth = 0;  ///< open loops
  uint8_t choice = 0; ///< of an ArgMax whose index comes next
  int32_t registers[registerCount] = {};
};

/// One stream of one PE, resolved. Word w holds element w, or 2 w and 2 w + 1.
struct StreamView {
  uint8_t *base = nullptr; ///< null: the stream touches no memory
  ElementType type = ElementType::Float32;
  bool packed = false, store = false;
  Combine combine = Combine::None;
  int64_t first = 0, rowStep = 0, step = 1, rowLength = 1;
  int64_t elements = 0, words = 0;
  int32_t in = -1, out = -1;

  /// Handles word `word`; `incoming` counts if `in` isn't -1. Returns what
  /// goes on.
  uint32_t handle(int64_t word, uint32_t incoming, uint8_t &choice) const;

private:
  float element(int64_t index) const;
  void setElement(int64_t index, float value) const;
  float combined(int64_t index, float incoming, uint8_t &choice) const;
};

class PeArray {
public:
  PeArray(PeArray &&) = default;
  PeArray &operator=(PeArray &&) = default;

  /// `program` must outlive it. InvalidArgument for programs that can't be
  /// executed; weights are the bytes that Tensor::offset counts in.
  static absl::StatusOr<PeArray> create(const FabricProgram &program,
                                        const FabricLimits &limits,
                                        absl::Span<const uint8_t> weights);

  const FabricProgram &program() const { return *source; }
  const Mesh &mesh() const { return *shape; }
  const CodeLists &codes() const { return *lists; }
  int64_t pes() const { return shape->pes(); }

  /// Memory and registers as before the first step.
  void reset();
  /// Sets one register of all PEs.
  void setRegister(int32_t index, int32_t value);
  /// Begins a step. InvalidArgument for inputs of the wrong size.
  absl::Status begin(const HostTensors &inputs);
  HostTensors outputs() const;

  Core &core(int64_t pe) { return cores[pe]; }
  const Core &core(int64_t pe) const { return cores[pe]; }
  /// The next instruction that isn't skipped by its guard; null at the end.
  const Step *next(int64_t pe);
  /// Executes that instruction, if it isn't a stream, and goes on to the next.
  absl::Status runLocal(int64_t pe, const Step &step);
  /// OutOfRange if the stream leaves its buffer.
  absl::Status openStream(int64_t pe, const Step &step, StreamView &view);
  void endStream(int64_t pe) {
    ++cores[pe].next;
    cores[pe].words = 0;
  }
  PeView view(int64_t pe, const Step &step);
  /// `PE [1, 2], instruction 7 (stream): …`
  absl::Status explain(int64_t pe, const absl::Status &status) const;
  std::string instructionText(int64_t pe) const;

private:
  PeArray() = default;
  void placeCores();
  absl::Status loadWeights(absl::Span<const uint8_t> weights);
  void put(const Region &region, const Slice &slice, const Tensor &tensor,
           const uint8_t *data);
  void control(Core &core, const Step &step, const PeView &pe);

  const FabricProgram *source = nullptr;
  std::shared_ptr<const Mesh> shape;
  std::shared_ptr<const CodeLists> lists;
  LargeVector<uint32_t> memory; ///< of all PEs
  LargeVector<Core> cores;
  absl::Span<const uint8_t> weightBytes;
  LocalExecutor executor;
};

/// What a simulator begins with.
struct LoadedFabric {
  PeArray pes;
  Routes routes;
  Channels channels;
};

/// Makes PEs, routes and channels of a program, which must outlive them.
/// Errors as those of PeArray, Routes and Channels.
absl::StatusOr<LoadedFabric> loadFabric(const FabricProgram &program,
                                        const FabricLimits &limits,
                                        absl::Span<const uint8_t> weights);

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_PE_ARRAY_H
