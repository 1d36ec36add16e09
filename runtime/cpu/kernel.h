//===- kernel.h - the contract between kernels and who calls them ---------===//
//
// A kernel is two functions: one that says what the outputs will be, and one
// that computes them. The step interpreter of the runtime and the constant
// evaluator of the compiler call the same kernels, so that a folded value has
// the bits of a computed one.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_KERNEL_H
#define SOL_RUNTIME_CPU_KERNEL_H

#include "runtime/cpu/attributes.h"
#include "runtime/cpu/tensor.h"

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include <memory>
#include <string>
#include <string_view>

namespace sol {

class ThreadPool; // runtime/cpu/thread_pool.h

/// What a kernel derives from its attributes once, when the plan is opened.
struct PreparedState {
  virtual ~PreparedState() = default;
};

/// One use of a kernel in a program.
struct KernelCall {
  std::string kernel;   ///< registry name, e.g. `onnx.Softmax`
  std::string location; ///< the ONNX node's name, for messages and profiles
  Attributes attributes;
  std::unique_ptr<PreparedState> prepared; ///< null if the kernel needs none
};

/// Where a running kernel gets workers and temporary memory.
class KernelContext {
public:
  virtual ~KernelContext() = default;
  /// Runs `body(begin, end)` over disjoint pieces of [0, count), each at least
  /// `grain` long, on all workers, and waits. A result must never depend on
  /// how the range was cut.
  virtual void
  parallelFor(int64_t count, int64_t grain,
              absl::FunctionRef<void(int64_t begin, int64_t end)> body) = 0;
  virtual int threadCount() const = 0;
  /// `bytes` of memory aligned to 64, valid until the kernel returns; kept
  /// between calls, so that a repeated shape allocates nothing. Null if there
  /// is no such amount of memory: return ResourceExhausted then.
  virtual void *scratch(size_t bytes) = 0;
};

/// Operands as the operator lists them; a missing optional one has type None.
using Inputs = absl::Span<const Tensor>;
using Outputs = absl::Span<Tensor>;

struct KernelDefinition {
  std::string_view name;
  /// Derives `call.prepared` from the attributes, once; null if not needed.
  absl::Status (*prepare)(KernelCall &call) = nullptr;
  /// Checks types, ranks, sizes and attributes of the operands and sets `type`
  /// and `dims` of each present output (an output that the model does not use
  /// has type None on entry and may be left so; present ones hold the type
  /// that the plan expects, which inference must confirm). May read elements of
  /// operands that determine shapes (`shape` of Reshape). Errors name what is
  /// wrong with both values; the caller adds the node's name.
  absl::Status (*infer)(const KernelCall &call, Inputs inputs,
                        Outputs outputs) = nullptr;
  /// Computes the outputs, whose memory is allocated as inference said. Inputs
  /// never overlap outputs unless `inPlace` allows it.
  absl::Status (*run)(const KernelCall &call, KernelContext &context,
                      Inputs inputs, Outputs outputs) = nullptr;
  /// Index of the input whose memory output 0 may reuse when the types and
  /// sizes are equal (elementwise operators), or -1.
  int inPlace = -1;
  /// The output is the input's bytes under another shape (Reshape, Squeeze,
  /// Unsqueeze, Flatten, Identity): the interpreter makes a view of input 0 and
  /// never calls `run` unless memory must differ.
  bool isView = false;
};

/// The kernel of that name, or null.
const KernelDefinition *findKernel(std::string_view name);

/// Adds a kernel; later names hide earlier ones. Called by the registration
/// functions of each family only (`registerElementwiseKernels`, …), which
/// `registerAllKernels` calls once.
void registerKernel(const KernelDefinition &definition);

/// Registers every kernel family; idempotent and thread safe.
void registerAllKernels();

} // namespace sol

#endif // SOL_RUNTIME_CPU_KERNEL_H
