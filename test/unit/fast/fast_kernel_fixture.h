//===- fast_kernel_fixture.h - calls kernels without a plan ---------------===//
//
// Owned tensors, random elements, and one call: infer, allocate, run.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TEST_UNIT_FAST_FAST_KERNEL_FIXTURE_H
#define SOL_TEST_UNIT_FAST_FAST_KERNEL_FIXTURE_H

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/kernel_families.h"
#include "runtime/cpu/number_formats.h"
#include "runtime/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace sol::test {

/// A tensor with memory of its own.
struct Owned {
  Tensor tensor;
  std::vector<char> bytes;

  Owned() = default;
  Owned(DType type, Dims dims) { allocate(type, std::move(dims)); }
  void allocate(DType type, Dims dims) {
    tensor.type = type;
    tensor.dims = std::move(dims);
    bytes.assign(static_cast<size_t>(tensor.bytes()) + 64, 0);
    tensor.data = bytes.data();
  }
  float at(int64_t i) const {
    if (tensor.type == DType::F16)
      return f16ToF32(tensor.as<uint16_t>()[i]);
    if (tensor.type == DType::BF16)
      return bf16ToF32(tensor.as<uint16_t>()[i]);
    return tensor.as<float>()[i];
  }
  void set(int64_t i, float x) {
    if (tensor.type == DType::F16)
      tensor.as<uint16_t>()[i] = f32ToF16(x);
    else if (tensor.type == DType::BF16)
      tensor.as<uint16_t>()[i] = f32ToBf16(x);
    else
      tensor.as<float>()[i] = x;
  }
};

inline Owned randomTensor(DType type, Dims dims, uint32_t seed) {
  Owned result(type, std::move(dims));
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < result.tensor.size(); ++i)
    result.set(i, normal(random));
  return result;
}

inline bool sameBits(const Owned &a, const Owned &b) {
  return a.tensor.dims == b.tensor.dims && a.tensor.type == b.tensor.type &&
         std::memcmp(a.tensor.data, b.tensor.data,
                     static_cast<size_t>(a.tensor.bytes())) == 0;
}

class TestContext final : public KernelContext {
public:
  explicit TestContext(int threads) : pool(ThreadPool::create(threads)) {}
  void parallelFor(int64_t count, int64_t grain,
                   absl::FunctionRef<void(int64_t, int64_t)> body) override {
    pool->parallelFor(count, grain, body);
  }
  int threadCount() const override { return pool->threadCount(); }
  void *scratch(size_t bytes) override {
    memory.assign(bytes + 64, char(0x7f)); // no kernel may rely on zeros
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    return reinterpret_cast<void *>((address + 63) / 64 * 64);
  }

private:
  std::unique_ptr<ThreadPool> pool;
  std::vector<char> memory;
};

/// Runs a kernel with one output of `type`.
inline absl::StatusOr<Owned> callKernel(const char *name, Attributes attributes,
                                        std::vector<Tensor> inputs, DType type,
                                        int threads = 1) {
  static const bool registered = (registerAllKernels(), true);
  EXPECT_TRUE(registered);
  const KernelDefinition *kernel = findKernel(name);
  if (!kernel)
    return absl::NotFoundError(name);
  KernelCall call{name, "node", std::move(attributes), nullptr};
  if (kernel->prepare)
    if (absl::Status status = kernel->prepare(call); !status.ok())
      return status;
  Tensor output;
  output.type = type;
  if (absl::Status status = kernel->infer(call, inputs, {&output, 1});
      !status.ok())
    return status;
  Owned result(output.type, output.dims);
  if (output.data)
    result.tensor.data = output.data;
  TestContext context(threads);
  if (absl::Status status =
          kernel->run(call, context, inputs, {&result.tensor, 1});
      !status.ok())
    return status;
  return result;
}

} // namespace sol::test

#endif // SOL_TEST_UNIT_FAST_FAST_KERNEL_FIXTURE_H
