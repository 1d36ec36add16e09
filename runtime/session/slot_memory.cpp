//===- slot_memory.cpp - memory of the values of a running program --------===//
//
// See slot_memory.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/slot_memory.h"

#include "absl/strings/str_cat.h"

#include <cstdlib>

namespace sol {

absl::StatusOr<void *> SlotMemory::reserve(int slot, int64_t bytes,
                                           Buffer *keep) {
  Buffer &buffer = buffers[slot];
  if (buffer.data && bytes <= buffer.capacity)
    return buffer.data.get();
  return replace(slot, bytes, keep);
}

absl::StatusOr<void *> SlotMemory::replace(int slot, int64_t bytes,
                                           Buffer *keep) {
  Buffer &buffer = buffers[slot];
  if (bytes > limitBytes - (total - buffer.capacity))
    return absl::ResourceExhaustedError(
        absl::StrCat("a value of ", bytes, " bytes does not fit into the ",
                     limitBytes, " bytes that this run may use"));
  // Slack for growing sequences: without it every decode step would reallocate.
  int64_t wanted = bytes + bytes / 4;
  int64_t capacity = (std::max<int64_t>(wanted, 64) + 63) / 64 * 64;
  Buffer fresh{
      {static_cast<char *>(std::aligned_alloc(64, capacity)), std::free},
      capacity};
  if (!fresh.data)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a value of ", bytes, " bytes"));
  ++allocationCount;
  total += capacity - buffer.capacity;
  if (keep)
    *keep = std::move(buffer);
  buffer = std::move(fresh);
  return buffer.data.get();
}

} // namespace sol
