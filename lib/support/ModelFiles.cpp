//===- ModelFiles.cpp - the files that hold a model's weights -------------===//
//
// Files are opened with openat2(RESOLVE_BENEATH), so that the kernel itself
// refuses every way out of the folder.
//
//===----------------------------------------------------------------------===//
#include "lib/support/ModelFiles.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace mlir;

namespace sol {
namespace {
/// Opens `name` inside `folder`; -1 with errno set if it cannot be, EXDEV if it
/// leads out of the folder.
int openBeneath(const std::string &folder, const std::string &name) {
  int directory = ::open(folder.empty() ? "." : folder.c_str(),
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return -1;
  open_how how = {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long file =
      ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof(how));
  // Kernels and sandboxes without openat2: no links at all, no `..`.
  if (file < 0 && (errno == ENOSYS || errno == EPERM)) {
    for (auto part = llvm::sys::path::begin(name);
         part != llvm::sys::path::end(name); ++part)
      if (*part == "..") {
        ::close(directory);
        errno = EXDEV;
        return -1;
      }
    std::string real, root;
    llvm::SmallString<256> full(folder.empty() ? "." : folder), resolved, base;
    llvm::sys::path::append(full, name);
    if (llvm::sys::fs::real_path(full, resolved) ||
        llvm::sys::fs::real_path(folder.empty() ? "." : folder, base)) {
      ::close(directory);
      errno = ENOENT;
      return -1;
    }
    base += "/";
    if (!resolved.str().starts_with(base)) {
      ::close(directory);
      errno = EXDEV;
      return -1;
    }
    file = ::open(resolved.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  }
  int saved = errno;
  ::close(directory);
  errno = saved;
  return static_cast<int>(file);
}

/// Closes a file when its scope ends.
struct Closer {
  int file;
  ~Closer() {
    if (file >= 0)
      ::close(file);
  }
};
} // namespace

ModelFiles::ModelFiles(std::string folder, std::string modelFile)
    : folderPath(std::move(folder)), modelName(std::move(modelFile)) {}

ModelFiles ModelFiles::ofModel(StringRef path) {
  return ModelFiles(llvm::sys::path::parent_path(path).str(),
                    llvm::sys::path::filename(path).str());
}

FailureOr<ArrayRef<char>> ModelFiles::map(StringRef name, EmitError error) {
  auto known = mapped.find(name);
  if (known != mapped.end()) {
    if (!known->second)
      return ArrayRef<char>();
    return ArrayRef<char>(known->second->const_data(), known->second->size());
  }
  if (name.empty() || name.contains('\0') || llvm::sys::path::is_absolute(name))
    return error() << "names the file `" << name
                   << "`; it must be a path relative to the model's folder";
  Closer opened{-1};
  if (name == modelName) {
    llvm::SmallString<256> full(folderPath);
    llvm::sys::path::append(full, name);
    opened.file = ::open(full.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } else {
    opened.file = openBeneath(folderPath, name.str());
  }
  if (opened.file < 0 && (errno == EXDEV || errno == ELOOP))
    return error() << "names the file `" << name
                   << "`, which leads out of the model's folder; copy the file "
                      "into the folder";
  if (opened.file < 0)
    return error() << "names the file `" << name
                   << "`, which cannot be opened: " << std::strerror(errno);
  struct stat status;
  if (::fstat(opened.file, &status) != 0 || !S_ISREG(status.st_mode))
    return error() << "names `" << name << "`, which is no regular file";
  if (status.st_size == 0) {
    mapped[name] = nullptr;
    return ArrayRef<char>();
  }
  std::error_code code;
  auto region = std::make_unique<llvm::sys::fs::mapped_file_region>(
      llvm::sys::fs::convertFDToNativeFile(opened.file),
      llvm::sys::fs::mapped_file_region::readonly,
      static_cast<size_t>(status.st_size), 0, code);
  if (code)
    return error() << "names the file `" << name
                   << "`, which cannot be mapped: " << code.message();
  ArrayRef<char> contents(region->const_data(), region->size());
  mapped[name] = std::move(region);
  return contents;
}

bool ModelFiles::isMissing(StringRef name) {
  if (name.empty() || name.contains('\0') || llvm::sys::path::is_absolute(name))
    return false;
  Closer opened{openBeneath(folderPath, name.str())};
  return opened.file < 0 && errno == ENOENT;
}

FailureOr<ArrayRef<char>> ModelFiles::bytes(nn::SpanAttr span,
                                            EmitError error) {
  FailureOr<ArrayRef<char>> file = map(span.getFile(), error);
  if (failed(file))
    return failure();
  auto size = static_cast<int64_t>(file->size());
  if (span.getOffset() < 0 || span.getLength() < 0 || span.getOffset() > size ||
      span.getLength() > size - span.getOffset())
    return error() << "needs " << span.getLength() << " bytes at "
                   << span.getOffset() << " of `" << span.getFile().getValue()
                   << "`, which has " << size;
  return file->slice(span.getOffset(), span.getLength());
}

FailureOr<TensorData> ModelFiles::read(nn::SpanAttr span, RankedTensorType type,
                                       EmitError error) {
  FailureOr<ArrayRef<char>> raw = bytes(span, error);
  if (failed(raw))
    return failure();
  TensorData data;
  if (span.getIsProto()) {
    FailureOr<std::vector<char>> decoded =
        bytesOfTensorProto(*raw, type, error);
    if (failed(decoded))
      return failure();
    data.storage = std::move(*decoded);
    data.bytes = data.storage;
    return data;
  }
  std::optional<int64_t> size = packedSize(type);
  if (!size || *size != static_cast<int64_t>(raw->size()))
    return error() << "has " << raw->size() << " bytes of data, but " << type
                   << " takes " << (size ? *size : -1);
  data.bytes = *raw;
  return data;
}

FailureOr<nn::SpanAttr> ModelFiles::withHash(nn::SpanAttr span,
                                             EmitError error) {
  FailureOr<ArrayRef<char>> raw = bytes(span, error);
  if (failed(raw))
    return failure();
  uint64_t hash = llvm::xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(raw->data()), raw->size()));
  return nn::SpanAttr::get(span.getContext(), span.getFile(), span.getOffset(),
                           span.getLength(), span.getIsProto(), hash);
}

void ModelFiles::dropPages() {
  for (auto &entry : mapped)
    if (entry.second)
      ::madvise(const_cast<char *>(entry.second->const_data()),
                entry.second->size(), MADV_DONTNEED);
}

} // namespace sol
