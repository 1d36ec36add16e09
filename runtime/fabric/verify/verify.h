//===- verify.h - can a program of a fabric run at all? ------------------===//
//
// Checks a program by itself, whoever wrote it, and without executing its
// arithmetic. A program that passes can still wait for ever where PEs take
// words in an order that no queue allows: that is for the watchdog.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_VERIFY_VERIFY_H
#define SOL_RUNTIME_FABRIC_VERIFY_VERIFY_H

#include "runtime/fabric/program/channels.h"

namespace sol::fabric {

struct VerifyOptions {
  /// Steps in a row whose control is followed.
  int32_t steps = 3;
  /// Registers to begin with, beside all zero: as with a full cache.
  std::vector<std::vector<int32_t>> starts;
};

/// InvalidArgument with the first rule that is broken:
/// (F1) wafers, regions and sets fit each other; instructions are well formed.
/// (F2) buffers fit the memory, code the part that is reserved for it, and no
///      two buffers of a PE overlap.
/// (F3) routes have colours that the machine has, lead somewhere, don't go in
///      circles, and bring each colour of a PE from one sender.
/// (F4) on each colour, as many words are taken as are sent. Whether a stream
///      runs, and how long it is, follows from registers that the program
///      sets, not from data.
/// (F5) operands lie in their buffers, where that doesn't depend on data.
/// (F6) what is read has been written before, by a slice of weights or inputs
///      or by an instruction: for each element, or for each buffer where
///      registers decide the element.
absl::Status verifyProgram(const FabricProgram &program,
                           const FabricLimits &limits,
                           const VerifyOptions &options = {});

/// What the parts of the verifier look at.
struct VerifiedParts {
  const FabricProgram &program;
  const FabricLimits &limits;
  const Mesh &mesh;
  const CodeLists &codes;
  const Channels &channels;
};

/// F2.
absl::Status verifyMemory(const VerifiedParts &parts);
/// F4 and F5 for operands that registers move.
absl::Status verifyControl(const VerifiedParts &parts,
                           const VerifyOptions &options);
/// F5 for the others, and F6.
absl::Status verifyReads(const VerifiedParts &parts);

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_VERIFY_VERIFY_H
