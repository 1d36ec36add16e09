//===- kernel_runner.h - runs one kernel on literal operands --------------===//
//
// For unit tests: owns operands and results, infers, allocates, runs, in one or
// many pieces.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TEST_UNIT_NN_OPS_KERNEL_RUNNER_H
#define SOL_TEST_UNIT_NN_OPS_KERNEL_RUNNER_H

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/kernel_families.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <vector>

namespace sol {

/// Cuts every loop into `pieces` and keeps scratch memory apart for each call.
class PieceContext : public KernelContext {
public:
  explicit PieceContext(int pieces) : pieces(pieces) {}
  void parallelFor(int64_t count, int64_t grain,
                   absl::FunctionRef<void(int64_t, int64_t)> body) override {
    for (int64_t i = 0; i < pieces; ++i)
      if (count * i / pieces < count * (i + 1) / pieces)
        body(count * i / pieces, count * (i + 1) / pieces);
  }
  int threadCount() const override { return pieces; }
  void *scratch(size_t bytes) override {
    // Poisoned, so that a result cannot depend on what was there.
    blocks.emplace_back(bytes + 64, char(0xff));
    auto address = reinterpret_cast<uintptr_t>(blocks.back().data());
    return reinterpret_cast<void *>((address + 63) / 64 * 64);
  }

private:
  int pieces;
  std::deque<std::vector<char>> blocks;
};

/// Example: `KernelRunner("onnx.MatMul").operand<float>({2, 2}, {1, 2, 3, 4})`.
class KernelRunner {
public:
  explicit KernelRunner(std::string name) {
    registerProductKernels();
    registerNormalizationKernels();
    registerAttentionKernels();
    registerQuantizedKernels();
    registerExpertKernels();
    call.kernel = std::move(name);
  }
  template <typename T> static constexpr DType typeOf() {
    if constexpr (std::is_same_v<T, float>)
      return DType::F32;
    else if constexpr (std::is_same_v<T, double>)
      return DType::F64;
    else if constexpr (std::is_same_v<T, int8_t>)
      return DType::I8;
    else if constexpr (std::is_same_v<T, uint8_t>)
      return DType::U8;
    else if constexpr (std::is_same_v<T, int32_t>)
      return DType::I32;
    else
      return DType::I64;
  }
  template <typename T>
  KernelRunner &operand(Dims dims, std::vector<T> values) {
    return operandAs(typeOf<T>(), std::move(dims), values);
  }
  /// Raw bytes under another element type.
  template <typename T>
  KernelRunner &operandAs(DType type, Dims dims, const std::vector<T> &values) {
    memory.emplace_back(values.size() * sizeof(T));
    std::memcpy(memory.back().data(), values.data(), memory.back().size());
    inputs.push_back({type, std::move(dims), memory.back().data()});
    return *this;
  }
  KernelRunner &missing() {
    inputs.push_back({});
    return *this;
  }
  KernelRunner &set(std::string name, AttributeValue value) {
    call.attributes.set(std::move(name), std::move(value));
    return *this;
  }
  KernelRunner &output(DType type) {
    outputs.push_back({type, {}, nullptr});
    return *this;
  }
  absl::Status run(int pieces = 1) {
    const KernelDefinition *kernel = findKernel(call.kernel);
    if (!kernel)
      return absl::NotFoundError(call.kernel);
    if (absl::Status status =
            kernel->infer(call, inputs, absl::MakeSpan(outputs));
        !status.ok())
      return status;
    for (Tensor &tensor : outputs) {
      memory.emplace_back(tensor.present() ? tensor.bytes() : 0, char(0x55));
      tensor.data = memory.back().data();
    }
    PieceContext context(pieces);
    return kernel->run(call, context, inputs, absl::MakeSpan(outputs));
  }
  template <typename T> std::vector<T> result(size_t index = 0) const {
    const Tensor &tensor = outputs[index];
    const T *data = tensor.as<T>();
    return std::vector<T>(data, data + tensor.bytes() / int64_t(sizeof(T)));
  }
  const Dims &dims(size_t index = 0) const { return outputs[index].dims; }

private:
  KernelCall call;
  std::deque<std::vector<char>> memory;
  std::vector<Tensor> inputs, outputs;
};

inline void expectNear(const std::vector<float> &got,
                       const std::vector<float> &want, float bound = 1e-6f) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], bound) << "element " << i;
}

inline void expectError(const absl::Status &status, const char *text) {
  EXPECT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find(text), std::string::npos)
      << status.message();
}

} // namespace sol

#endif // SOL_TEST_UNIT_NN_OPS_KERNEL_RUNNER_H
