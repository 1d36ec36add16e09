//===- kernel_bench.cpp - how near the kernels come to the machine --------===//
//
// Measures, in one run, what this machine can do (bytes read a second, fused
// multiply-adds a second) and what the kernels of runtime/cpu/fast reach of it:
//
//   sol-kernel-bench [threads]
//
// One line a measurement, best of several rounds. Measures no whole model.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/simd/simd_kernels.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/kv_cache.h"
#include "runtime/cpu/thread_pool.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <time.h>
#include <vector>

namespace {

using namespace sol;

class BenchContext final : public KernelContext {
public:
  explicit BenchContext(int threads) : pool(ThreadPool::create(threads)) {}
  void parallelFor(int64_t count, int64_t grain,
                   absl::FunctionRef<void(int64_t, int64_t)> body) override {
    pool->parallelFor(count, grain, body);
  }
  int threadCount() const override { return pool->threadCount(); }
  void *scratch(size_t bytes) override {
    if (memory.size() < bytes + 64)
      memory.resize(bytes + 64);
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    return reinterpret_cast<void *>((address + 63) / 64 * 64);
  }

private:
  std::unique_ptr<ThreadPool> pool;
  std::vector<char> memory;
};

/// One thread is timed by its processor time, which other programs disturb
/// little; several by the wall clock.
clockid_t clockInUse = CLOCK_MONOTONIC;

double now() {
  timespec time;
  clock_gettime(clockInUse, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Seconds of the fastest of several rounds over about half a second.
double fastest(const std::function<void()> &body) {
  double start = now(), best = 1e30;
  for (int round = 0; round < 1000; ++round) {
    double begin = now();
    body();
    double end = now();
    best = std::min(best, end - begin);
    if (round >= 4 && end - start > 0.5)
      break;
  }
  return best;
}

/// Memory on cache lines, as plans and sessions have it.
template <typename T> struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <typename U> LineAllocator(const LineAllocator<U> &) {}
  T *allocate(size_t count) {
    return static_cast<T *>(
        ::operator new(count * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T *memory, size_t) {
    ::operator delete(memory, std::align_val_t(64));
  }
  bool operator==(const LineAllocator &) const { return true; }
};
using Floats = std::vector<float, LineAllocator<float>>;
using Bytes = std::vector<char, LineAllocator<char>>;

Floats normals(size_t count) {
  // A short random stretch repeated: filling gigabytes is not what we time.
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  Floats result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = i < 65536 ? normal(random) : result[i - 65536];
  return result;
}

/// What the machine can do at most; the yardsticks of all other lines.
struct Machine {
  double bytesPerSecond, flopsPerSecond;
};

Machine measureMachine(BenchContext &context) {
  Floats memory = normals(size_t(1) << 25); // 128 MiB
  Floats sink(64);
  double read = fastest([&] {
    context.parallelFor(64, 1, [&](int64_t begin, int64_t end) {
      size_t piece = memory.size() / 64;
      for (int64_t i = begin; i < end; ++i) {
        // 64 sums that do not depend on each other: as fast as memory allows.
        float sums[64] = {};
        const float *from = memory.data() + static_cast<size_t>(i) * piece;
        for (size_t j = 0; j < piece; j += 64)
          for (size_t lane = 0; lane < 64; ++lane)
            sums[lane] += from[j + lane];
        for (float sum : sums)
          sink[static_cast<size_t>(i)] += sum;
      }
    });
  });
  // A product whose operands stay in the first-level cache shows the peak of
  // the multiply-add units, as far as any product can.
  Floats a = normals(6 * 256), b = normals(16 * 256);
  int strands = context.threadCount();
  Floats c(static_cast<size_t>(strands) * 128);
  constexpr int repeats = 200;
  double multiply = fastest([&] {
    context.parallelFor(strands, 1, [&](int64_t begin, int64_t end) {
      simd::ProductShape shape{6, 256, 16, 256, 16};
      for (int64_t i = begin; i < end; ++i)
        for (int r = 0; r < repeats; ++r)
          simd::simdKernels().packedProduct(shape, a.data(), simd::Storage::F32,
                                            b.data(), c.data() + i * 128, 0, 1);
    });
  });
  return {static_cast<double>(memory.size()) * 4 / read,
          2.0 * 6 * 16 * 256 * repeats * strands / multiply};
}

Tensor tensorOf(DType type, Dims dims, void *data) {
  Tensor tensor;
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.data = data;
  return tensor;
}

double timeKernel(BenchContext &context, const char *name,
                  Attributes attributes, std::vector<Tensor> inputs,
                  Tensor output) {
  const KernelDefinition *kernel = findKernel(name);
  if (!kernel) {
    std::fprintf(stderr, "error: no kernel %s\n", name);
    std::exit(1);
  }
  KernelCall call{name, "bench", std::move(attributes), nullptr};
  absl::Status status = kernel->infer(call, inputs, {&output, 1});
  double seconds = fastest([&] {
    if (status.ok())
      status = kernel->run(call, context, inputs, {&output, 1});
  });
  if (!status.ok()) {
    std::fprintf(stderr, "error: %s: %s\n", name, status.ToString().c_str());
    std::exit(1);
  }
  return seconds;
}

void benchLinear(BenchContext &context, const Machine &machine, DType type,
                 int64_t rows, int64_t depth, int64_t columns, int copies) {
  int64_t panels = (columns + 15) / 16;
  auto each = static_cast<size_t>(panels * depth * 16);
  size_t width = type == DType::F32 ? 4 : 2;
  Floats wide = normals(each);
  Bytes weights(each * width * static_cast<size_t>(copies));
  for (int i = 0; i < copies; ++i)
    simd::simdKernels().narrow(
        type == DType::F32 ? simd::Storage::F32 : simd::Storage::F16,
        wide.data(), weights.data() + each * width * static_cast<size_t>(i),
        static_cast<int64_t>(each));
  Floats x = normals(static_cast<size_t>(rows * depth));
  Floats y(static_cast<size_t>(rows * columns));
  Attributes attributes;
  attributes.set("packed", int64_t(1));
  attributes.set("columns", columns);
  // Several copies of a weight in turn, so that none comes from a cache.
  const KernelDefinition *kernel = findKernel("nn.linear");
  KernelCall call{"nn.linear", "bench", std::move(attributes), nullptr};
  Tensor output = tensorOf(DType::F32, {rows, columns}, y.data());
  double seconds = fastest([&] {
    for (int i = 0; i < copies; ++i) {
      Tensor inputs[] = {
          tensorOf(DType::F32, {rows, depth}, x.data()),
          tensorOf(type, {panels, depth, 16},
                   weights.data() + each * width * static_cast<size_t>(i))};
      if (!kernel->run(call, context, inputs, {&output, 1}).ok())
        std::exit(1);
    }
  });
  double bytes = static_cast<double>(weights.size()) / seconds;
  double flops =
      2.0 * static_cast<double>(rows * depth * columns) * copies / seconds;
  std::printf("linear %-7s M=%-4ld K=%-5ld N=%-6ld %8.1f us  %6.2f GB/s (%3.0f "
              "%% of read)  %7.2f GFLOP/s (%3.0f %% of peak)\n",
              dtypeName(type), rows, depth, columns, seconds / copies * 1e6,
              bytes / 1e9, 100 * bytes / machine.bytesPerSecond, flops / 1e9,
              100 * flops / machine.flopsPerSecond);
}

void benchMatMul(BenchContext &context, const Machine &machine, int64_t batch,
                 int64_t rows, int64_t depth, int64_t columns) {
  if (!findKernel("onnx.MatMul"))
    return;
  Floats a = normals(static_cast<size_t>(batch * rows * depth));
  Floats b = normals(static_cast<size_t>(batch * depth * columns));
  Floats c(static_cast<size_t>(batch * rows * columns));
  double seconds =
      timeKernel(context, "onnx.MatMul", {},
                 {tensorOf(DType::F32, {batch, rows, depth}, a.data()),
                  tensorOf(DType::F32, {batch, depth, columns}, b.data())},
                 tensorOf(DType::F32, {}, c.data()));
  double flops =
      2.0 * static_cast<double>(batch * rows * depth * columns) / seconds;
  double bytes = static_cast<double>(b.size()) * 4 / seconds;
  std::printf("matmul float32 B=%-3ld M=%-4ld K=%-5ld N=%-6ld %8.1f us  %6.2f "
              "GB/s  %7.2f GFLOP/s (%3.0f %% of peak)\n",
              batch, rows, depth, columns, seconds * 1e6, bytes / 1e9,
              flops / 1e9, 100 * flops / machine.flopsPerSecond);
}

void benchCodes(BenchContext &context, const Machine &machine, int64_t rows,
                int64_t depth, int64_t columns) {
  if (!findKernel("onnx.microsoft.MatMulNBits"))
    return;
  int64_t blocks = depth / 32;
  Floats x = normals(static_cast<size_t>(rows * depth));
  Floats scales = normals(static_cast<size_t>(columns * blocks));
  Floats y(static_cast<size_t>(rows * columns));
  Bytes codes(static_cast<size_t>(columns * depth / 2), 0x5a);
  Attributes attributes;
  attributes.set("K", depth);
  attributes.set("N", columns);
  attributes.set("bits", int64_t(4));
  attributes.set("block_size", int64_t(32));
  double seconds =
      timeKernel(context, "onnx.microsoft.MatMulNBits", std::move(attributes),
                 {tensorOf(DType::F32, {rows, depth}, x.data()),
                  tensorOf(DType::U8, {columns, blocks, 16}, codes.data()),
                  tensorOf(DType::F32, {columns, blocks}, scales.data())},
                 tensorOf(DType::F32, {}, y.data()));
  double flops = 2.0 * static_cast<double>(rows * depth * columns) / seconds;
  std::printf("4-bit codes M=%-4ld K=%-5ld N=%-6ld %8.1f us  %7.2f GFLOP/s "
              "(%3.0f %% of peak)\n",
              rows, depth, columns, seconds * 1e6, flops / 1e9,
              100 * flops / machine.flopsPerSecond);
}

void benchAttention(BenchContext &context, const Machine &machine,
                    int64_t steps, int64_t length, bool causal) {
  constexpr int64_t queryHeads = 9, keyHeads = 3, size = 64;
  Floats q = normals(static_cast<size_t>(queryHeads * steps * size));
  Floats k = normals(static_cast<size_t>(keyHeads * length * size));
  Floats v = k, y = q;
  Floats mask(static_cast<size_t>(steps * length), 0.0f);
  for (int64_t s = 0; s < steps && causal; ++s)
    for (int64_t t = length - steps + s + 1; t < length; ++t)
      mask[static_cast<size_t>(s * length + t)] = -1.0f / 0.0f;
  Attributes attributes;
  attributes.set("scale", 0.125f);
  double seconds =
      timeKernel(context, "nn.attention", std::move(attributes),
                 {tensorOf(DType::F32, {1, queryHeads, steps, size}, q.data()),
                  tensorOf(DType::F32, {1, keyHeads, length, size}, k.data()),
                  tensorOf(DType::F32, {1, keyHeads, length, size}, v.data()),
                  tensorOf(DType::F32, {steps, length}, mask.data())},
                 tensorOf(DType::F32, {}, y.data()));
  double pairs = static_cast<double>(steps) *
                 (static_cast<double>(length) -
                  (causal ? static_cast<double>(steps - 1) / 2 : 0));
  double flops = 4.0 * queryHeads * size * pairs / seconds;
  std::printf("attention 9/3 heads of 64, %4ld queries %5ld keys%s %8.1f us  "
              "%7.2f GFLOP/s (%3.0f %% of peak)\n",
              steps, length, causal ? " causal" : "       ", seconds * 1e6,
              flops / 1e9, 100 * flops / machine.flopsPerSecond);
}

void benchRows(BenchContext &context, int64_t rows, int64_t width) {
  Floats x = normals(static_cast<size_t>(rows * width)), y = x;
  Floats scale = normals(static_cast<size_t>(width));
  Tensor input = tensorOf(DType::F32, {rows, width}, x.data());
  Tensor output = tensorOf(DType::F32, {}, y.data());
  Attributes norm, gate;
  norm.set("epsilon", 1e-5f);
  gate.set("activation", std::string("silu"));
  double normal =
      timeKernel(context, "nn.rms_norm", std::move(norm),
                 {input, tensorOf(DType::F32, {width}, scale.data())}, output);
  double gated =
      timeKernel(context, "nn.gate", std::move(gate), {input, input}, output);
  double elements = static_cast<double>(rows * width);
  std::printf("rms_norm and gate of %ld x %ld: %.2f and %.2f ns an element\n",
              rows, width, normal / elements * 1e9, gated / elements * 1e9);
}

} // namespace

int main(int argc, char **argv) {
  char *end = nullptr;
  long threads = argc > 1 ? std::strtol(argv[1], &end, 10) : 0;
  if (threads < 0 || threads > INT_MAX || (end && (*end || end == argv[1]))) {
    std::fprintf(stderr, "error: `%s` is no number of threads\n", argv[1]);
    return 2;
  }
  BenchContext context(static_cast<int>(threads));
  if (context.threadCount() == 1)
    clockInUse = CLOCK_PROCESS_CPUTIME_ID;
  sol::registerAllKernels();
  Machine machine = measureMachine(context);
  std::printf("%s, %d threads: reads %.2f GB/s, multiplies %.2f GFLOP/s\n",
              sol::simd::simdKernels().name, context.threadCount(),
              machine.bytesPerSecond / 1e9, machine.flopsPerSecond / 1e9);
  for (int64_t rows : {1, 2, 4})
    benchLinear(context, machine, sol::DType::F32, rows, 576, 1536, 30);
  benchLinear(context, machine, sol::DType::F32, 1, 1536, 576, 30);
  benchLinear(context, machine, sol::DType::F32, 1, 576, 49152, 4);
  benchLinear(context, machine, sol::DType::F16, 1, 576, 1536, 60);
  for (int64_t rows : {16, 128, 512}) {
    benchLinear(context, machine, sol::DType::F32, rows, 576, 1536, 1);
    benchLinear(context, machine, sol::DType::F32, rows, 1536, 576, 1);
  }
  benchLinear(context, machine, sol::DType::F16, 128, 576, 1536, 1);
  benchLinear(context, machine, sol::DType::F32, 128, 4096, 4096, 1);
  benchMatMul(context, machine, 1, 128, 576, 1536);
  benchMatMul(context, machine, 9, 128, 64, 128);
  benchMatMul(context, machine, 1, 1, 576, 1536);
  benchMatMul(context, machine, 1, 1, 576, 49152);
  benchCodes(context, machine, 1, 576, 1536);
  benchCodes(context, machine, 128, 576, 1536);
  for (int64_t length : {128, 1024, 8192})
    benchAttention(context, machine, 1, length, false);
  benchAttention(context, machine, 128, 128, true);
  benchAttention(context, machine, 512, 512, true);
  benchAttention(context, machine, 128, 2048, true);
  benchRows(context, 1, 576);
  benchRows(context, 128, 1536);
  return 0;
}
