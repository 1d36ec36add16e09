//===- thread_pool.h - workers for parallel loops -------------------------===//
//
// A fixed set of workers that take tiles of a loop's range and spin for a while
// between loops, as a step interpreter needs.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_THREAD_POOL_H
#define SOL_RUNTIME_CPU_THREAD_POOL_H

#include "absl/functional/function_ref.h"

#include <cstdint>
#include <memory>

namespace sol {

/// A fixed set of workers, the calling thread included. Not for nested use.
class ThreadPool {
public:
  /// `threads` <= 0 means one for each processor that this process may use.
  static std::unique_ptr<ThreadPool> create(int threads);
  virtual ~ThreadPool() = default;
  virtual int threadCount() const = 0;
  /// See KernelContext::parallelFor.
  virtual void
  parallelFor(int64_t count, int64_t grain,
              absl::FunctionRef<void(int64_t begin, int64_t end)> body) = 0;
};

} // namespace sol

#endif // SOL_RUNTIME_CPU_THREAD_POOL_H
