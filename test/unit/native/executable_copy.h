//===- executable_copy.h - machine code in memory, ready to be called -----===//
//
// A copy of an image in memory of its own, wherever the system puts it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TEST_UNIT_NATIVE_EXECUTABLE_COPY_H
#define SOL_TEST_UNIT_NATIVE_EXECUTABLE_COPY_H

#include <cstring>
#include <string>
#include <sys/mman.h>

namespace sol {

class ExecutableCopy {
public:
  explicit ExecutableCopy(const std::string &image) : bytes(image.size()) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory, image.data(), bytes);
    mprotect(memory, bytes, PROT_READ | PROT_EXEC);
  }
  ~ExecutableCopy() { munmap(memory, bytes); }
  ExecutableCopy(const ExecutableCopy &) = delete;
  ExecutableCopy &operator=(const ExecutableCopy &) = delete;

  template <typename Function> Function at(uint64_t offset) const {
    return reinterpret_cast<Function>(static_cast<char *>(memory) + offset);
  }

private:
  size_t bytes;
  void *memory;
};

} // namespace sol

#endif // SOL_TEST_UNIT_NATIVE_EXECUTABLE_COPY_H
