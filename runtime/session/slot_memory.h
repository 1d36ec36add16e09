//===- slot_memory.h - memory of the values of a running program ----------===//
//
// One growing buffer a slot. The compiler gave values that are never alive
// together the same slot; a buffer grows when a shape asks for more and is
// otherwise reused, so that runs of an unchanged shape allocate nothing.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_SLOT_MEMORY_H
#define SOL_RUNTIME_SESSION_SLOT_MEMORY_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace sol {

/// Buffers aligned to 64 bytes, with one limit over all of them.
class SlotMemory {
public:
  SlotMemory(int slots, int64_t limitBytes)
      : buffers(slots), limitBytes(limitBytes) {}

  /// A buffer of at least `bytes` bytes; its former content is lost if it has
  /// to grow, unless `keep` points to where the former buffer shall live on.
  /// ResourceExhausted names the amount and the limit.
  struct Buffer {
    std::unique_ptr<char, void (*)(void *)> data{nullptr, nullptr};
    int64_t capacity = 0;
  };
  absl::StatusOr<void *> reserve(int slot, int64_t bytes, Buffer *keep);

  /// Puts a fresh buffer in place of the slot's; the former goes to `keep`.
  absl::StatusOr<void *> replace(int slot, int64_t bytes, Buffer *keep);

  /// Allocations since construction: tests prove that steady runs make none.
  int64_t allocations() const { return allocationCount; }
  int64_t bytesInUse() const { return total; }

private:
  std::vector<Buffer> buffers;
  int64_t limitBytes;
  int64_t total = 0;
  int64_t allocationCount = 0;
};

} // namespace sol

#endif // SOL_RUNTIME_SESSION_SLOT_MEMORY_H
