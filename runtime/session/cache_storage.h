//===- cache_storage.h - memory of a session's caches ---------------------===//
//
// Owns the pages of one key or value cache, gives kernels their view of it, and
// moves tensors in and out for callers that keep the past themselves.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_CACHE_STORAGE_H
#define SOL_RUNTIME_SESSION_CACHE_STORAGE_H

#include "runtime/cpu/kv_cache.h"

#include "absl/status/status.h"

#include <memory>
#include <vector>

namespace sol {

/// Positions of one page. A page is long enough that reading keys streams, and
/// short enough that a short chat takes little memory.
constexpr int64_t cachePageLength = 256;

class CacheStorage {
public:
  /// Makes the cache empty, for `batch` rows.
  void reset(DType type, int64_t batch, int64_t heads, int64_t headDim);
  /// Makes room for `positions` positions in each row.
  absl::Status reserve(int64_t positions);
  /// Takes over a tensor of batch x heads x positions x head size.
  absl::Status load(const Tensor &past);
  /// Copies all positions to `target`, batch x heads x length x head size.
  void store(char *target) const;
  /// Makes the cache a buffer of zeros: `capacity` positions in each row, all
  /// held.
  absl::Status makeBuffer(DType type, int64_t batch, int64_t heads,
                          int64_t capacity, int64_t headDim);
  /// Notes that a buffer is written before position `end`; OutOfRange if it has
  /// fewer positions.
  absl::Status expectWrites(int64_t end);
  /// Makes zeros of what a buffer holds from `position` on.
  void clearFrom(int64_t position);
  /// Forgets positions from `length` on in each row.
  void truncate(int64_t length);

  int64_t length() const { return lengths.empty() ? 0 : lengths.front(); }
  /// The operand that kernels get; valid until the next call that changes it.
  Tensor view();

private:
  using Page = std::unique_ptr<char, void (*)(void *)>;
  KvCache cache;
  std::vector<std::vector<Page>> pages; ///< of each row
  std::vector<void *> table;
  std::vector<int64_t> lengths;
  int64_t written = 0; ///< of a buffer: zeros from here on
};

} // namespace sol

#endif // SOL_RUNTIME_SESSION_CACHE_STORAGE_H
