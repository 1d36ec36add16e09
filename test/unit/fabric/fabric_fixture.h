//===- fabric_fixture.h - small programs and their numbers ---------------===//
//
// Builds a program on one wafer, with random matrices, and runs it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TEST_UNIT_FABRIC_FABRIC_FIXTURE_H
#define SOL_TEST_UNIT_FABRIC_FABRIC_FIXTURE_H

#include "lib/sched/kernels/linear.h"
#include "runtime/fabric/simulate/functional.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace sol::fabric {

/// A row-major matrix of float32.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;

  float at(int64_t row, int64_t column) const {
    return values[row * columns + column];
  }
};

/// A program of one region that fills a wafer, under construction.
class FabricFixture {
public:
  FabricFixture(int32_t columns, int32_t rows, FabricTiming timing = {1, 2, 30})
      : timing(timing), model(timing) {
    program.wafers = {{columns, rows}};
    Region region;
    region.name = "all";
    region.columns = columns;
    region.rows = rows;
    program.regions = {region};
    writer.emplace(program, 0, model);
  }

  /// Numbers from -1 to 1, times `scale`, the same in every run.
  Matrix random(int64_t rows, int64_t columns, float scale = 1) {
    Matrix matrix{rows, columns, {}};
    for (int64_t i = 0; i < rows * columns; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      auto bits = static_cast<int32_t>(state >> 32);
      matrix.values.push_back(scale * static_cast<float>(bits) / 2147483648.0f);
    }
    return matrix;
  }

  int32_t addWeights(const Matrix &matrix) {
    Tensor tensor;
    tensor.name = "matrix " + std::to_string(program.weights.size());
    tensor.rows = matrix.rows;
    tensor.columns = matrix.columns;
    tensor.rowStride = matrix.columns;
    tensor.offset = bytes.size();
    bytes.resize(bytes.size() + 4 * matrix.values.size());
    std::memcpy(bytes.data() + tensor.offset, matrix.values.data(),
                4 * matrix.values.size());
    program.weights.push_back(tensor);
    return static_cast<int32_t>(program.weights.size() - 1);
  }

  /// A vector for each token, given by the host.
  Sharded input(Axis axis, int64_t size, int32_t tokens) {
    Sharded vector = writer->vector(axis, size, tokens);
    port(program.inputs, region().inputs, vector);
    return vector;
  }
  /// Lets the host read a vector.
  void output(const Sharded &vector) {
    port(program.outputs, region().outputs, vector);
  }

  absl::StatusOr<HostTensors> run(const HostTensors &inputs,
                                  FabricLimits limits = {}) {
    absl::StatusOr<std::unique_ptr<FunctionalFabric>> fabric =
        FunctionalFabric::create(program, limits, bytes);
    if (!fabric.ok())
      return fabric.status();
    return (*fabric)->step(inputs);
  }

  Region &region() { return program.regions[0]; }

  FabricTiming timing;
  CollectiveModel model;
  FabricProgram program;
  std::vector<uint8_t> bytes;
  std::optional<RegionWriter> writer;

private:
  void port(std::vector<Tensor> &tensors, std::vector<Slice> &slices,
            const Sharded &vector) {
    Tensor tensor;
    tensor.name = "port " + std::to_string(tensors.size());
    tensor.rows = vector.tokens;
    tensor.columns = vector.size;
    tensors.push_back(tensor);
    Slice slice;
    slice.pes = writer->all();
    slice.tensor = static_cast<int32_t>(tensors.size() - 1);
    slice.buffer = vector.buffer;
    slice.first = vector.first;
    slice.rows = vector.tokens;
    slice.columns = vector.shard;
    slice.rowStep = vector.rowStep;
    (vector.axis == Axis::X ? slice.column.x : slice.column.y) = vector.shard;
    slice.rowEnd = vector.tokens;
    slice.columnEnd = vector.size;
    slices.push_back(slice);
  }

  uint64_t state = 1;
};

/// The largest difference, relative to the largest number expected.
inline double difference(const std::vector<float> &found,
                         const std::vector<double> &expected) {
  if (found.size() != expected.size())
    return INFINITY;
  double most = 0, largest = 1e-30;
  for (size_t i = 0; i < found.size(); ++i) {
    double gap = std::fabs(found[i] - expected[i]);
    most = std::isnan(gap) ? INFINITY : std::max(most, gap);
    largest = std::max(largest, std::fabs(expected[i]));
  }
  return most / largest;
}

} // namespace sol::fabric

#endif // SOL_TEST_UNIT_FABRIC_FABRIC_FIXTURE_H
