//===- run_kernel.h - calls a kernel on values written in a test ----------===//
#ifndef SOL_TEST_UNIT_CPU_RUN_KERNEL_H
#define SOL_TEST_UNIT_CPU_RUN_KERNEL_H

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/number_formats.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace sol {

template <typename T> constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (std::is_same_v<T, F16>)
    return DType::F16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::I32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::I64;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::I8;
  else
    return DType::U8;
}

/// One call: operands, attributes, results. Pieces of parallel loops run one
/// after the other, each as small as the kernel allows, so that a result which
/// depended on the cut would show.
class KernelRun final : public KernelContext {
public:
  explicit KernelRun(std::string name) {
    registerAllKernels();
    call.kernel = std::move(name);
  }
  template <typename T>
  KernelRun &input(Dims dims, std::vector<T> values,
                   DType type = dtypeOf<T>()) {
    auto &bytes = memory.emplace_back(values.size() * sizeof(T) + 1);
    if (!values.empty())
      std::memcpy(bytes.data(), values.data(), values.size() * sizeof(T));
    inputs.push_back({type, std::move(dims), bytes.data()});
    return *this;
  }
  KernelRun &missing() {
    inputs.push_back({});
    return *this;
  }
  KernelRun &set(std::string name, AttributeValue value) {
    call.attributes.set(std::move(name), std::move(value));
    return *this;
  }
  /// Runs with outputs of the given types (None: not wanted).
  absl::Status run(std::vector<DType> types) {
    const KernelDefinition *kernel = findKernel(call.kernel);
    if (!kernel)
      return absl::NotFoundError(call.kernel);
    for (DType type : types)
      outputs.push_back({type, {}, nullptr});
    if (auto status = kernel->infer(call, inputs, absl::MakeSpan(outputs));
        !status.ok())
      return status;
    for (Tensor &tensor : outputs)
      tensor.data = memory.emplace_back(tensor.bytes() + 1, 0x5a).data();
    return kernel->run(call, *this, inputs, absl::MakeSpan(outputs));
  }
  template <typename T> std::vector<T> result(size_t index = 0) const {
    const Tensor &tensor = outputs[index];
    return {tensor.as<T>(), tensor.as<T>() + tensor.size()};
  }
  Dims dims(size_t index = 0) const { return outputs[index].dims; }

  void parallelFor(int64_t count, int64_t grain,
                   absl::FunctionRef<void(int64_t, int64_t)> body) override {
    grain = std::max<int64_t>(1, grain);
    for (int64_t i = 0; i < count; i += grain)
      body(i, std::min(count, i + grain));
  }
  int threadCount() const override { return 1; }
  void *scratch(size_t bytes) override {
    return memory.emplace_back(bytes + 1).data();
  }

private:
  KernelCall call;
  std::vector<Tensor> inputs, outputs;
  std::deque<std::vector<char>> memory;
};

} // namespace sol

#endif // SOL_TEST_UNIT_CPU_RUN_KERNEL_H
