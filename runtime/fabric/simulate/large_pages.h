//===- large_pages.h - vectors on large pages ----------------------------===//
//
// A simulator jumps from PE to PE over gigabytes, so that with small pages
// nearly every access looks for its page first. Where the system has large
// pages, large vectors ask for them; elsewhere they are like any others.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_SIMULATE_LARGE_PAGES_H
#define SOL_RUNTIME_FABRIC_SIMULATE_LARGE_PAGES_H

#include <cstddef>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace sol::fabric {

template <typename T> struct LargePageAllocator {
  using value_type = T;
  static constexpr size_t pageBytes = size_t(1) << 21;

  LargePageAllocator() = default;
  template <typename U> LargePageAllocator(const LargePageAllocator<U> &) {}

  static std::align_val_t alignment(size_t count) {
    return std::align_val_t(count * sizeof(T) < pageBytes ? alignof(T)
                                                          : pageBytes);
  }
  T *allocate(size_t count) {
    void *memory = ::operator new(count * sizeof(T), alignment(count));
#ifdef __linux__
    if (count * sizeof(T) >= pageBytes)
      madvise(memory, count * sizeof(T), MADV_HUGEPAGE);
#endif
    return static_cast<T *>(memory);
  }
  void deallocate(T *memory, size_t count) {
    ::operator delete(memory, alignment(count));
  }
  bool operator==(const LargePageAllocator &) const { return true; }
};

template <typename T> using LargeVector = std::vector<T, LargePageAllocator<T>>;

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_LARGE_PAGES_H
