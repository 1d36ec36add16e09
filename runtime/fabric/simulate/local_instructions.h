//===- local_instructions.h - what a PE computes without its neighbours --===//
//
// Executes the instructions that touch only a PE's memory and registers, as
// docs/fabric-program.md defines them: sums in float32, one after the other.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_SIMULATE_LOCAL_INSTRUCTIONS_H
#define SOL_RUNTIME_FABRIC_SIMULATE_LOCAL_INSTRUCTIONS_H

#include "runtime/fabric/program/addresses.h"

#include <string>
#include <vector>

namespace sol::fabric {

/// The PE that executes.
struct PeView {
  uint8_t *memory = nullptr;
  int32_t *registers = nullptr;
  int32_t x = 0, y = 0; ///< from the region's corner
};

/// Executes instructions other than Stream, Loop and EndLoop. One for each
/// thread, as it keeps its scratch memory.
class LocalExecutor {
public:
  /// OutOfRange, saying which operand, if one leaves its buffer.
  absl::Status run(const Step &step, const PeView &pe);

private:
  struct Matrix {
    uint8_t *base = nullptr;
    ElementType type = ElementType::Float32;
    int64_t first = 0, rowStep = 0, step = 1;
    float get(int64_t row, int64_t i) const;
    void set(int64_t row, int64_t i, float value) const;
  };
  absl::Status resolve(const char *name, const Place &place, const PeView &pe,
                       int64_t rows, int64_t n, Matrix &matrix);
  /// Row `row` of a matrix as consecutive float32.
  static const float *load(const Matrix &matrix, int64_t row, int64_t n,
                           std::vector<float> &scratch);
  absl::Status elementwise(const Step &step, const PeView &pe, int64_t rows,
                           int64_t n);
  absl::Status rotate(const Step &step, const PeView &pe, int64_t rows,
                      int64_t n);
  absl::Status mask(const Step &step, const PeView &pe, int64_t rows,
                    int64_t n);
  absl::Status reduceRows(const Step &step, const PeView &pe, int64_t rows,
                          int64_t n);
  absl::Status product(const Step &step, const PeView &pe, int64_t rows,
                       int64_t n);
  absl::Status registers(const Step &step, const PeView &pe);

  std::vector<float> scratchA, scratchB, scratchC, result;
};

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_LOCAL_INSTRUCTIONS_H
