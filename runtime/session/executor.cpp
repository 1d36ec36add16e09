//===- executor.cpp - interprets a program --------------------------------===//
//
// See executor.h. Control flow copies the values that leave a branch or a loop
// iteration, as the two sides live in different slots.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/executor.h"

#include "runtime/cpu/kv_cache.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/session/native_step.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace sol {
namespace {

/// Physical memory of the machine.
int64_t machineMemoryBytes() {
  int64_t pages = sysconf(_SC_PHYS_PAGES);
  int64_t pageBytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && pageBytes > 0 ? pages * pageBytes : INT64_MAX;
}

/// Workers and scratch memory for the kernels of one executor.
class PoolContext final : public KernelContext {
public:
  explicit PoolContext(int threads) : pool(ThreadPool::create(threads)) {}
  void parallelFor(int64_t count, int64_t grain,
                   absl::FunctionRef<void(int64_t, int64_t)> body) override {
    pool->parallelFor(count, grain, body);
  }
  int threadCount() const override { return pool->threadCount(); }
  /// One growing buffer for each request a kernel makes.
  void *scratch(size_t bytes) override {
    if (used == buffers.size())
      buffers.emplace_back(nullptr, std::free);
    Buffer &buffer = buffers[used++];
    if (buffer.capacity < bytes || !buffer.data) {
      size_t capacity =
          (std::max<size_t>(bytes + bytes / 4, 64) + 63) / 64 * 64;
      buffer.data.reset(static_cast<char *>(std::aligned_alloc(64, capacity)));
      buffer.capacity = buffer.data ? capacity : 0;
      ++allocations;
    }
    return buffer.data.get();
  }
  void kernelDone() { used = 0; }
  int64_t allocations = 0;

private:
  struct Buffer {
    Buffer(char *data, void (*release)(void *)) : data(data, release) {}
    std::unique_ptr<char, void (*)(void *)> data;
    size_t capacity = 0;
  };
  std::unique_ptr<ThreadPool> pool;
  std::vector<Buffer> buffers;
  size_t used = 0;
};

using TensorList = absl::InlinedVector<Tensor, 8>;

class Interpreter final : public Executor {
public:
  Interpreter(std::shared_ptr<const Plan> plan, const Program &program,
              const ExecutorOptions &options)
      : plan(std::move(plan)), code(program), options(options),
        context(options.threads), memory(program.slots, memoryLimitOf(options)),
        values(program.values.size()), verified(program.values.size()) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i].type = code.values[i].type;
      if (code.values[i].kind == fb::ValueKind_Constant) {
        values[i].dims = code.values[i].dims;
        // Kernels never write inputs; constants are mapped read-only besides.
        values[i].data = const_cast<void *>(code.values[i].data);
      }
    }
  }

  absl::Status run(absl::Span<const Tensor> inputs) override {
    if (inputs.size() != code.inputs.size())
      return absl::InvalidArgumentError(
          absl::StrCat("function `", code.name, "` takes ", code.inputs.size(),
                       " inputs, got ", inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i)
      values[code.inputs[i].value] = inputs[i];
    return runBlock(code.body);
  }

  const Tensor &output(int port) const override {
    return values[code.outputs[port].value];
  }
  const Program &program() const override { return code; }
  int64_t allocations() const override {
    return memory.allocations() + context.allocations;
  }

  std::vector<ProfileEntry> profile() const override {
    std::vector<ProfileEntry> result;
    for (const auto &[step, entry] : times)
      result.push_back(entry);
    return result;
  }

private:
  absl::Status runBlock(const ProgramBlock &block) {
    for (const ProgramStep &step : block.steps) {
      auto start = options.profile ? std::chrono::steady_clock::now()
                                   : std::chrono::steady_clock::time_point();
      absl::Status status = runStep(step);
      if (!status.ok())
        return status;
      if (options.profile)
        record(step, start);
    }
    return absl::OkStatus();
  }

  void record(const ProgramStep &step,
              std::chrono::steady_clock::time_point start) {
    ProfileEntry &entry = times[&step];
    entry.location = step.call.location;
    entry.kernel = step.call.kernel;
    entry.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    ++entry.calls;
  }

  absl::Status runStep(const ProgramStep &step) {
    for (int input : step.inputs)
      if (absl::Status status = verifyConstant(input); !status.ok())
        return status;
    absl::Status status;
    switch (step.kind) {
    case fb::StepKind_Kernel:
    case fb::StepKind_Native:
      status = runCall(step);
      break;
    case fb::StepKind_If:
      return runIf(step);
    case fb::StepKind_Loop:
      return runLoop(step);
    }
    if (status.ok())
      return status;
    return absl::Status(
        status.code(), absl::StrCat("node `", step.call.location, "` (",
                                    step.call.kernel, "): ", status.message()));
  }

  /// Compares a constant with its hashes before its first use, on all workers:
  /// the first run reads every weight for this.
  absl::Status verifyConstant(int value) {
    if (code.values[value].kind != fb::ValueKind_Constant || verified[value])
      return absl::OkStatus();
    PieceRange pieces =
        plan->weightPieces(values[value].data, values[value].bytes());
    std::mutex guard;
    absl::Status result;
    context.parallelFor(
        pieces.end - pieces.begin, 1, [&](int64_t begin, int64_t end) {
          absl::Status status =
              plan->verifyPieces({pieces.begin + begin, pieces.begin + end});
          std::lock_guard<std::mutex> lock(guard);
          result.Update(status);
        });
    verified[value] = result.ok();
    return result;
  }

  /// Calls a kernel, or a compiled loop.
  absl::Status runCall(const ProgramStep &step) {
    TensorList inputs, outputs;
    for (int input : step.inputs)
      inputs.push_back(values[input]);
    for (int output : step.outputs) {
      Tensor tensor;
      tensor.type = code.values[output].type;
      outputs.push_back(std::move(tensor));
    }
    absl::Status status =
        step.loop
            ? inferNativeLoop(*step.loop, inputs, absl::MakeSpan(outputs))
            : step.kernel->infer(step.call, inputs, absl::MakeSpan(outputs));
    if (!status.ok())
      return status;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].type != code.values[step.outputs[i]].type)
        return absl::InvalidArgumentError(absl::StrCat(
            "gives ", dtypeName(outputs[i].type), " where the plan expects ",
            dtypeName(code.values[step.outputs[i]].type)));
    if (step.view) {
      if (outputs[0].bytes() != inputs[0].bytes())
        return absl::InvalidArgumentError(absl::StrCat(
            "views ", inputs[0].bytes(), " bytes as ", outputs[0].bytes()));
      outputs[0].data = inputs[0].data;
      values[step.outputs[0]] = outputs[0];
      return absl::OkStatus();
    }
    return runAllocated(step, inputs, outputs);
  }

  /// Gives the outputs memory and computes them.
  absl::Status runAllocated(const ProgramStep &step, const TensorList &inputs,
                            TensorList &outputs) {
    // Buffers that an input still lies in while its slot gets a larger one.
    absl::InlinedVector<SlotMemory::Buffer, 2> kept;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ProgramValue &value = code.values[step.outputs[i]];
      if (value.kind == fb::ValueKind_Absent)
        continue;
      if (value.kind == fb::ValueKind_State) {
        outputs[i].data = inputs[0].data;
        continue;
      }
      absl::StatusOr<void *> data =
          allocate(value.slot, outputs[i], inputs, kept);
      if (!data.ok())
        return data.status();
      outputs[i].data = *data;
    }
    absl::Status status = step.loop
                              ? runNativeLoop(*step.loop, context, inputs,
                                              absl::MakeSpan(outputs))
                              : step.kernel->run(step.call, context, inputs,
                                                 absl::MakeSpan(outputs));
    context.kernelDone();
    if (!status.ok())
      return status;
    for (size_t i = 0; i < outputs.size(); ++i)
      values[step.outputs[i]] = outputs[i];
    return absl::OkStatus();
  }

  absl::StatusOr<void *>
  allocate(int slot, const Tensor &output, const TensorList &inputs,
           absl::InlinedVector<SlotMemory::Buffer, 2> &kept) {
    int64_t bytes = output.bytes();
    if (bytes < 0)
      return absl::ResourceExhaustedError(absl::StrCat(
          "an output of sizes ", dimsToString(output.dims), " is too large"));
    SlotMemory::Buffer former;
    absl::StatusOr<void *> data = memory.reserve(slot, bytes, &former);
    if (!data.ok())
      return data;
    for (const Tensor &input : inputs)
      if (input.data == *data && input.dims != output.dims) {
        // The compiler took sizes for equal that are not: compute apart.
        data = memory.replace(slot, bytes, &former);
        break;
      }
    if (former.data)
      kept.push_back(std::move(former));
    return data;
  }

  /// Copies a value to another, as when it leaves a branch.
  absl::Status copyValue(int from, int to) {
    if (absl::Status status = verifyConstant(from); !status.ok())
      return status;
    const Tensor &source = values[from];
    const ProgramValue &target = code.values[to];
    if (target.kind == fb::ValueKind_Absent)
      return absl::OkStatus();
    if (source.type != target.type || target.kind != fb::ValueKind_Slot)
      return absl::InvalidArgumentError("control flow passes on a value of "
                                        "another kind or element type");
    SlotMemory::Buffer former;
    absl::StatusOr<void *> data =
        memory.reserve(target.slot, source.bytes(), &former);
    if (!data.ok())
      return data.status();
    if (source.bytes() > 0)
      std::memmove(*data, source.data, source.bytes());
    values[to] = source;
    values[to].data = *data;
    return absl::OkStatus();
  }

  absl::StatusOr<bool> readCondition(int index) const {
    const Tensor &value = values[index];
    if (value.type != DType::Bool || value.size() != 1 || !value.data)
      return absl::InvalidArgumentError(absl::StrCat(
          "a condition of type ", dtypeName(value.type), " and sizes ",
          dimsToString(value.dims), " is not one boolean"));
    return *value.as<bool>();
  }

  absl::Status atNode(const ProgramStep &step, const absl::Status &status) {
    return absl::Status(
        status.code(),
        absl::StrCat("node `", step.call.location, "`: ", status.message()));
  }

  absl::Status runIf(const ProgramStep &step) {
    absl::StatusOr<bool> condition = readCondition(step.inputs[0]);
    if (!condition.ok())
      return atNode(step, condition.status());
    const ProgramBlock &block = step.blocks[*condition ? 0 : 1];
    if (absl::Status status = runBlock(block); !status.ok())
      return status;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const Tensor &result = values[block.results[i]];
      // The cache stays where it is, whatever branch changed it.
      if (code.values[step.outputs[i]].kind == fb::ValueKind_State &&
          code.values[block.results[i]].kind == fb::ValueKind_State) {
        values[step.outputs[i]] = result;
        continue;
      }
      if (absl::Status status = copyValue(block.results[i], step.outputs[i]);
          !status.ok())
        return atNode(step, status);
    }
    return absl::OkStatus();
  }

  absl::Status runLoop(const ProgramStep &step);
  absl::Status appendScan(const ProgramStep &step, size_t output, int from,
                          int64_t iteration);

  std::shared_ptr<const Plan> plan;
  const Program &code;
  ExecutorOptions options;
  PoolContext context;
  SlotMemory memory;
  std::vector<Tensor> values;
  std::vector<bool> verified;
  std::map<const ProgramStep *, ProfileEntry> times;
};

/// ONNX Loop: outputs are the carried values, then one stacked value for each
/// further result of the body.
absl::Status Interpreter::runLoop(const ProgramStep &step) {
  const ProgramBlock &body = step.blocks[0];
  size_t carried = step.inputs.size() - 2;
  int64_t limit = INT64_MAX;
  const Tensor &trips = values[step.inputs[0]];
  if (trips.present()) {
    if (trips.type != DType::I64 || trips.size() != 1 || !trips.data)
      return atNode(step, absl::InvalidArgumentError(absl::StrCat(
                              "a trip count of type ", dtypeName(trips.type),
                              " and sizes ", dimsToString(trips.dims),
                              " is not one int64")));
    limit = *trips.as<int64_t>();
  }
  bool going = true;
  if (values[step.inputs[1]].present()) {
    absl::StatusOr<bool> condition = readCondition(step.inputs[1]);
    if (!condition.ok())
      return atNode(step, condition.status());
    going = *condition;
  }
  for (size_t i = 0; i < carried; ++i)
    if (absl::Status status = copyValue(step.inputs[i + 2], step.outputs[i]);
        !status.ok())
      return atNode(step, status);
  int64_t iteration = 0;
  for (; iteration < limit && going; ++iteration) {
    Tensor counter, condition;
    counter.type = DType::I64;
    counter.data = &iteration;
    condition.type = DType::Bool;
    condition.data = &going;
    values[body.arguments[0]] = counter;
    values[body.arguments[1]] = condition;
    for (size_t i = 0; i < carried; ++i)
      if (absl::Status status =
              copyValue(step.outputs[i], body.arguments[i + 2]);
          !status.ok())
        return atNode(step, status);
    if (absl::Status status = runBlock(body); !status.ok())
      return status;
    absl::StatusOr<bool> next = readCondition(body.results[0]);
    if (!next.ok())
      return atNode(step, next.status());
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      absl::Status status =
          i < carried ? copyValue(body.results[i + 1], step.outputs[i])
                      : appendScan(step, i, body.results[i + 1], iteration);
      if (!status.ok())
        return atNode(step, status);
    }
    going = *next;
  }
  for (size_t i = carried; i < step.outputs.size() && iteration == 0; ++i)
    if (absl::Status status = appendScan(step, i, -1, 0); !status.ok())
      return atNode(step, status);
  return absl::OkStatus();
}

/// Adds one iteration's value to a stacked output; `from` < 0 makes it empty.
absl::Status Interpreter::appendScan(const ProgramStep &step, size_t output,
                                     int from, int64_t iteration) {
  int to = step.outputs[output];
  if (code.values[to].kind == fb::ValueKind_Absent)
    return absl::OkStatus();
  Tensor &stacked = values[to];
  if (from < 0) {
    stacked.type = code.values[to].type;
    stacked.dims = {0};
    stacked.data = nullptr;
    return absl::OkStatus();
  }
  const Tensor &piece = values[from];
  int64_t bytes = piece.bytes();
  if (piece.type != code.values[to].type || bitWidth(piece.type) < 8)
    return absl::InvalidArgumentError("a scanned value changes its type");
  if (iteration > 0 && absl::MakeConstSpan(stacked.dims).subspan(1) !=
                           absl::MakeConstSpan(piece.dims))
    return absl::InvalidArgumentError(
        absl::StrCat("a scanned value of sizes ", dimsToString(piece.dims),
                     " follows others of sizes ", dimsToString(stacked.dims)));
  SlotMemory::Buffer former;
  absl::StatusOr<void *> data =
      memory.reserve(code.values[to].slot, bytes * (iteration + 1), &former);
  if (!data.ok())
    return data.status();
  if (former.data && iteration > 0)
    std::memcpy(*data, former.data.get(), bytes * iteration);
  if (bytes > 0)
    std::memcpy(static_cast<char *>(*data) + bytes * iteration, piece.data,
                bytes);
  stacked.type = piece.type;
  stacked.dims = {iteration + 1};
  stacked.dims.insert(stacked.dims.end(), piece.dims.begin(), piece.dims.end());
  stacked.data = *data;
  return absl::OkStatus();
}

} // namespace

int64_t memoryLimitOf(const ExecutorOptions &options) {
  return options.memoryLimitBytes > 0 ? options.memoryLimitBytes
                                      : machineMemoryBytes();
}

absl::StatusOr<std::unique_ptr<Executor>>
Executor::create(std::shared_ptr<const Plan> plan, const Program &program,
                 const ExecutorOptions &options) {
  return std::make_unique<Interpreter>(std::move(plan), program, options);
}

} // namespace sol
