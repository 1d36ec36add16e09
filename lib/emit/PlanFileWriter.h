//===- PlanFileWriter.h - the bytes around a plan's description -----------===//
//
// Streams sections to a temporary file, hashing the weights as they pass, and
// puts the header in front when everything is there.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_EMIT_PLANFILEWRITER_H
#define SOL_LIB_EMIT_PLANFILEWRITER_H

#include "absl/status/status.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace sol {

/// Order of calls: open, then constants, endWeights, appendSection for others,
/// finish. Errors name the file and the system's reason.
class PlanFileWriter {
public:
  explicit PlanFileWriter(std::string path);
  /// Removes the temporary file if `finish` did not succeed.
  ~PlanFileWriter();

  absl::Status open();
  /// Appends a constant to the weights section; `offset` is relative to it.
  absl::Status appendConstant(std::string_view bytes, uint64_t &offset);
  /// Ends the weights section: from here on `weightsBytes` and `hashes` hold.
  absl::Status endWeights();
  /// Appends bytes at a multiple of `alignment`; `offset` is from the start.
  absl::Status appendSection(std::string_view bytes, uint64_t alignment,
                             uint64_t &offset);
  /// Writes the description and the header and gives the file its name.
  absl::Status finish(std::string_view description);

  uint64_t weightsOffset() const { return weightsBegin; }
  uint64_t weightsBytes() const { return weightsLength; }
  /// The hashes of the weights' pieces, as the section holds them.
  std::string_view hashes() const;
  /// The hash that the description gives for a section: XXH3-64.
  static uint64_t hash(std::string_view bytes);

private:
  absl::Status write(std::string_view bytes);
  absl::Status pad(uint64_t alignment);
  absl::Status writeWeights(std::string_view bytes);
  absl::Status failed(std::string_view what) const;

  std::string path, temporary;
  std::FILE *file = nullptr;
  uint64_t position = 0, weightsBegin = 0, weightsLength = 0;
  std::string piece; ///< weights not yet hashed
  std::vector<uint64_t> pieceHashes;
};

} // namespace sol

#endif // SOL_LIB_EMIT_PLANFILEWRITER_H
