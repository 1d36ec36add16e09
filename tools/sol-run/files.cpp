//===- files.cpp - whole files, and checks of tensors ---------------------===//
//
// See tensor_value.h.
//
//===----------------------------------------------------------------------===//
#include "tools/sol-run/tensor_value.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace sol::run {

void check(sol_status *status) {
  if (!status)
    return;
  Failure failure(sol_status_message(status));
  sol_status_free(status);
  throw failure;
}

sol_tensor TensorValue::view() const {
  return {name.c_str(), type,         static_cast<int32_t>(sizes.size()),
          sizes.data(), bytes.data(), bytes.size()};
}

/// Bits of one element, 0 for a type that sol-run can't handle.
static int bitsOf(int32_t type) {
  switch (type) {
  case 1:  // float32
  case 6:  // int32
  case 12: // uint32
    return 32;
  case 2:
  case 3:
  case 9: // uint8, int8, bool
  case 17:
  case 18:
  case 19:
  case 20:
  case 24: // 8-bit floats
    return 8;
  case 4:
  case 5:
  case 10:
  case 16: // 16-bit integers, float16, bfloat16
    return 16;
  case 7:
  case 11:
  case 13: // int64, float64, uint64
    return 64;
  case 21:
  case 22:
  case 23: // 4-bit types
    return 4;
  case 25:
  case 26: // 2-bit types
    return 2;
  default:
    return 0;
  }
}

int64_t bytesFor(int32_t type, const std::vector<int64_t> &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return -1;
  int bits = bitsOf(type);
  if (bits == 0 || count > (int64_t{1} << 56))
    return -1;
  return (count * bits + 7) / 8;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf()))
    // An empty file sets failbit on the stream that receives nothing.
    if (!file.is_open() || file.bad())
      throw Failure(path + ": cannot be read: " + std::strerror(errno));
  return content.str();
}

void writeFile(const std::string &path, const std::string &content) {
  std::error_code unknown;
  // Renaming over a device or a pipe would replace it for everyone.
  if (std::filesystem::exists(path, unknown) &&
      !std::filesystem::is_regular_file(path, unknown))
    throw Failure(path + ": is there and is no file, so nothing replaces it");
  std::string temporary = path + ".partial-" + std::to_string(getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file) {
      std::string reason = std::strerror(errno);
      ::unlink(temporary.c_str());
      throw Failure(path + ": cannot be written: " + reason);
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    throw Failure(path + ": cannot be written: " + reason);
  }
}

} // namespace sol::run
