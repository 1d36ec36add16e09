//===- program_file.h - programs of a fabric as bytes --------------------===//
//
// What a plan stores (fabric_program.fbs). The reader checks the structure of
// the bytes; whether the program makes sense is for verify.h.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_FILE_PROGRAM_FILE_H
#define SOL_RUNTIME_FABRIC_FILE_PROGRAM_FILE_H

#include "runtime/fabric/program/program.h"

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace sol::fabric {

/// The version that this writes, and the only one that it reads.
inline constexpr uint32_t programVersion = 1;

/// Equal programs give equal bytes.
std::vector<uint8_t> writeProgram(const FabricProgram &program);

/// DataLoss for bytes that aren't a program; FailedPrecondition for another
/// version. The bytes needn't be aligned, and aren't used afterwards.
absl::StatusOr<FabricProgram> readProgram(absl::Span<const uint8_t> bytes);

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_FILE_PROGRAM_FILE_H
