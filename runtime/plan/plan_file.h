//===- plan_file.h - the fixed header of plan.bin -------------------------===//
//
// Layout of the first 64 bytes, little-endian:
//
//   0  char[8]  magic "SOLPLAN\n"
//   8  u32      format version
//  12  u32      0x01020304, to tell the byte order
//  16  u64      offset of the description (a FlatBuffers `sol.fb.Plan`)
//  24  u64      its length
//  32  u64      XXH3-64 of the description
//  40  u64      length of the file
//  48  u64      zero
//  56  u64      XXH3-64 of bytes 0..55
//
// docs/plan-format.md has the rest. The writer is in lib/emit.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_PLAN_PLAN_FILE_H
#define SOL_RUNTIME_PLAN_PLAN_FILE_H

#include "sol/version.h"

#include <cstdint>

namespace sol {

constexpr char planMagic[8] = {'S', 'O', 'L', 'P', 'L', 'A', 'N', '\n'};
constexpr uint32_t planByteOrder = 0x01020304;
/// Alignment of sections, and of each constant inside the weights section.
constexpr uint64_t planSectionAlignment = 4096;
constexpr uint64_t planConstantAlignment = 64;
/// The weights section carries one hash for each piece of this length.
constexpr uint64_t planHashedBytes = 1 << 20;
/// Larger descriptions are refused by writer and reader.
constexpr uint64_t planMaxDescriptionBytes = 64 << 20;
/// Calls in a size that lie in one another; deeper ones are unknown sizes.
constexpr int planMaxSizeDepth = 64;

struct PlanHeader {
  char magic[8];
  uint32_t version;
  uint32_t byteOrder;
  uint64_t descriptionOffset;
  uint64_t descriptionBytes;
  uint64_t descriptionHash;
  uint64_t fileBytes;
  uint64_t reserved;
  uint64_t headerHash;
};
static_assert(sizeof(PlanHeader) == 64);

} // namespace sol

#endif // SOL_RUNTIME_PLAN_PLAN_FILE_H
