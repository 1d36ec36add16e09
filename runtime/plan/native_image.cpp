//===- native_image.cpp - machine code inside a plan ----------------------===//
//
// See native_image.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/plan/native_image.h"

#include "runtime/plan/plan_file.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

namespace sol {
namespace {

/// More images than there are levels are no plan of a compiler.
constexpr size_t maxImages = 16;

bool overlap(const FileRange &a, const FileRange &b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

absl::Status checkPlace(const fb::NativeImage &image, std::string_view file) {
  std::string level = image.level()->str();
  auto corrupt = [&](const auto &...parts) {
    return absl::InvalidArgumentError(
        absl::StrCat("its machine code for ", level, " ", parts...));
  };
  if (level.empty())
    return absl::InvalidArgumentError("its machine code has no level");
  if (image.bytes() == 0 || image.offset() > file.size() ||
      image.bytes() > file.size() - image.offset())
    return corrupt("lies outside the file: ", image.bytes(), " bytes at ",
                   image.offset());
  if (image.offset() % planSectionAlignment != 0)
    return corrupt("lies at ", image.offset(), ", no multiple of ",
                   planSectionAlignment);
  return absl::OkStatus();
}

class MappedCode final : public NativeCode {
public:
  ~MappedCode() override {
    if (copy)
      munmap(copy, copyBytes);
  }
  const char *data() const override { return begin; }

  absl::Status load(std::string_view bytes) {
    uintptr_t page = sysconf(_SC_PAGESIZE);
    // The rest of the last page belongs to the same file and changes with it.
    if (reinterpret_cast<uintptr_t>(bytes.data()) % page == 0 &&
        mprotect(const_cast<char *>(bytes.data()), bytes.size(),
                 PROT_READ | PROT_EXEC) == 0) {
      begin = bytes.data();
      return absl::OkStatus();
    }
    return loadCopy(bytes);
  }

private:
  absl::Status loadCopy(std::string_view bytes) {
    void *memory = mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for ", bytes.size(),
                       " bytes of machine code: ", std::strerror(errno)));
    copy = memory;
    copyBytes = bytes.size();
    std::memcpy(copy, bytes.data(), bytes.size());
    if (mprotect(copy, copyBytes, PROT_READ | PROT_EXEC) != 0)
      return absl::FailedPreconditionError(absl::StrCat(
          "the system lets no machine code of a plan run: ",
          std::strerror(errno),
          "; compile the model again with `sol-compile --native=none`"));
    begin = static_cast<const char *>(copy);
    return absl::OkStatus();
  }

  const char *begin = nullptr;
  void *copy = nullptr;
  size_t copyBytes = 0;
};

} // namespace

absl::Status checkNativeImages(const fb::Plan &plan, std::string_view file,
                               absl::Span<const FileRange> others) {
  if (!plan.native_images())
    return absl::OkStatus();
  if (plan.native_images()->size() > maxImages)
    return absl::InvalidArgumentError(
        absl::StrCat("it has machine code for ", plan.native_images()->size(),
                     " levels, more than ", maxImages));
  std::vector<FileRange> ranges;
  for (const fb::NativeImage *image : *plan.native_images()) {
    if (absl::Status status = checkPlace(*image, file); !status.ok())
      return status;
    FileRange range = {image->level()->string_view(), image->offset(),
                       image->bytes()};
    for (const FileRange &former : ranges)
      if (former.what == range.what || overlap(former, range))
        return absl::InvalidArgumentError(absl::StrCat(
            "its machine code for ", std::string(range.what), " at ",
            range.offset, " and for ", std::string(former.what), " at ",
            former.offset, " share a level or bytes"));
    for (const FileRange &other : others)
      if (overlap(other, range))
        return absl::InvalidArgumentError(
            absl::StrCat("its machine code for ", std::string(range.what),
                         " at ", range.offset, " overlaps ",
                         std::string(other.what), " at ", other.offset));
    std::string_view bytes = file.substr(range.offset, range.bytes);
    if (XXH3_64bits(bytes.data(), bytes.size()) != image->hash())
      return absl::InvalidArgumentError(absl::StrCat("its machine code for ",
                                                     std::string(range.what),
                                                     " differs from its hash"));
    ranges.push_back(range);
  }
  return absl::OkStatus();
}

std::vector<std::string_view> runnableLevels() {
  std::vector<std::string_view> levels;
#if defined(__x86_64__)
  const char *forced = std::getenv("SOL_CPU");
  if (!forced || std::string_view(forced) != "portable") {
    // These ask whether the system saves the wider registers, too.
    if (__builtin_cpu_supports("x86-64-v3"))
      levels.push_back("x86-64-v3");
    if (__builtin_cpu_supports("x86-64-v2"))
      levels.push_back("x86-64-v2");
  }
  levels.push_back("x86-64");
#endif
  return levels;
}

absl::StatusOr<int> chooseNativeImage(const fb::Plan &plan) {
  std::vector<std::string> there;
  if (plan.native_images())
    for (const fb::NativeImage *image : *plan.native_images())
      there.push_back(image->level()->str());
  std::vector<std::string_view> levels = runnableLevels();
  for (std::string_view level : levels)
    for (size_t i = 0; i < there.size(); ++i)
      if (there[i] == level)
        return static_cast<int>(i);
  return absl::FailedPreconditionError(absl::StrCat(
      "has machine code for ",
      there.empty() ? "no processor" : absl::StrJoin(there, ", "),
      ", and this process runs ",
      levels.empty() ? "none of x86-64" : std::string(levels.front()),
      "; compile the model again, for any processor with `sol-compile "
      "--native=none`"));
}

absl::StatusOr<std::unique_ptr<NativeCode>>
NativeCode::create(std::string_view bytes) {
  auto code = std::make_unique<MappedCode>();
  if (absl::Status status = code->load(bytes); !status.ok())
    return status;
  return code;
}

} // namespace sol
