//===- program_builder.h - from the description to programs ---------------===//
//
// Turns the FlatBuffers tables of one function into a Program, refusing every
// index, type, size or name that an interpreter could not trust.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_PLAN_PROGRAM_BUILDER_H
#define SOL_RUNTIME_PLAN_PROGRAM_BUILDER_H

#include "runtime/plan/program.h"

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include <string_view>

namespace sol {

/// `weights` is the mapped weights section; steps point to the `loops` that
/// they call, which must stay where they are. Errors name function and step.
absl::StatusOr<Program> buildProgram(const fb::Function &function,
                                     std::string_view weights,
                                     absl::Span<const ProgramNativeLoop> loops);

} // namespace sol

#endif // SOL_RUNTIME_PLAN_PROGRAM_BUILDER_H
