//===- PlanFileWriter.cpp - the bytes around a plan's description ---------===//
//
// See PlanFileWriter.h.
//
//===----------------------------------------------------------------------===//
#include "lib/emit/PlanFileWriter.h"

#include "runtime/plan/plan_file.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace sol {

PlanFileWriter::PlanFileWriter(std::string path)
    : path(std::move(path)),
      temporary(absl::StrCat(this->path, ".partial-", getpid())) {}

PlanFileWriter::~PlanFileWriter() {
  if (!file)
    return;
  std::fclose(file);
  ::unlink(temporary.c_str());
}

absl::Status PlanFileWriter::failed(std::string_view what) const {
  return absl::UnavailableError(absl::StrCat(
      path, ": cannot be ", std::string(what), ": ", std::strerror(errno)));
}

absl::Status PlanFileWriter::open() {
  struct stat target;
  // Renaming over a device or a pipe would replace it for everyone.
  if (::stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is there and is no file, so no plan replaces it"));
  file = std::fopen(temporary.c_str(), "wbx");
  if (!file)
    return failed("written");
  PlanHeader header = {};
  std::string_view bytes(reinterpret_cast<const char *>(&header),
                         sizeof(header));
  if (absl::Status status = write(bytes); !status.ok())
    return status;
  if (absl::Status status = pad(planSectionAlignment); !status.ok())
    return status;
  weightsBegin = position;
  return absl::OkStatus();
}

absl::Status PlanFileWriter::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
    return failed("written");
  position += bytes.size();
  return absl::OkStatus();
}

absl::Status PlanFileWriter::pad(uint64_t alignment) {
  static const char zeros[planSectionAlignment] = {};
  uint64_t rest = position % alignment;
  return rest == 0 ? absl::OkStatus()
                   : write({zeros, static_cast<size_t>(alignment - rest)});
}

absl::Status PlanFileWriter::writeWeights(std::string_view bytes) {
  if (absl::Status status = write(bytes); !status.ok())
    return status;
  while (!bytes.empty()) {
    size_t take =
        std::min<size_t>(bytes.size(), planHashedBytes - piece.size());
    if (piece.empty() && take == planHashedBytes) {
      pieceHashes.push_back(XXH3_64bits(bytes.data(), take));
    } else {
      piece.append(bytes.substr(0, take));
      if (piece.size() == planHashedBytes) {
        pieceHashes.push_back(XXH3_64bits(piece.data(), piece.size()));
        piece.clear();
      }
    }
    bytes.remove_prefix(take);
  }
  return absl::OkStatus();
}

absl::Status PlanFileWriter::appendConstant(std::string_view bytes,
                                            uint64_t &offset) {
  static const char zeros[planConstantAlignment] = {};
  uint64_t rest = (position - weightsBegin) % planConstantAlignment;
  if (rest != 0)
    if (absl::Status status = writeWeights(
            {zeros, static_cast<size_t>(planConstantAlignment - rest)});
        !status.ok())
      return status;
  offset = position - weightsBegin;
  return writeWeights(bytes);
}

absl::Status PlanFileWriter::endWeights() {
  weightsLength = position - weightsBegin;
  if (!piece.empty())
    pieceHashes.push_back(XXH3_64bits(piece.data(), piece.size()));
  piece.clear();
  return absl::OkStatus();
}

std::string_view PlanFileWriter::hashes() const {
  return {reinterpret_cast<const char *>(pieceHashes.data()),
          pieceHashes.size() * sizeof(uint64_t)};
}

uint64_t PlanFileWriter::hash(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

absl::Status PlanFileWriter::appendSection(std::string_view bytes,
                                           uint64_t alignment,
                                           uint64_t &offset) {
  if (absl::Status status = pad(alignment); !status.ok())
    return status;
  offset = position;
  return write(bytes);
}

absl::Status PlanFileWriter::finish(std::string_view description) {
  PlanHeader header = {};
  std::memcpy(header.magic, planMagic, sizeof(planMagic));
  header.version = planFormatVersion;
  header.byteOrder = planByteOrder;
  if (absl::Status status = appendSection(description, planSectionAlignment,
                                          header.descriptionOffset);
      !status.ok())
    return status;
  header.descriptionBytes = description.size();
  header.descriptionHash = XXH3_64bits(description.data(), description.size());
  header.fileBytes = position;
  header.headerHash = XXH3_64bits(&header, offsetof(PlanHeader, headerHash));
  if (std::fseek(file, 0, SEEK_SET) != 0 ||
      std::fwrite(&header, sizeof(header), 1, file) != 1 ||
      std::fflush(file) != 0)
    return failed("written");
  int closed = std::fclose(file);
  file = nullptr;
  if (closed != 0 || std::rename(temporary.c_str(), path.c_str()) != 0) {
    absl::Status status = failed("written");
    ::unlink(temporary.c_str());
    return status;
  }
  return absl::OkStatus();
}

} // namespace sol
