//===- NativeSection.h - compiled loops in the plan -----------------------===//
//
// From machine code to the plan's images and the tables that say how its
// functions are called (runtime/plan/plan.fbs).
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_EMIT_NATIVESECTION_H
#define SOL_LIB_EMIT_NATIVESECTION_H

#include "lib/emit/PlanFileWriter.h"
#include "lib/native/codegen/NativeCode.h"
#include "runtime/plan/plan_generated.h"

#include "absl/status/statusor.h"

namespace sol {

/// Writes each image as a section of the file and describes it.
absl::StatusOr<std::vector<flatbuffers::Offset<fb::NativeImage>>>
writeNativeImages(const native::NativeCode &code, PlanFileWriter &writer,
                  flatbuffers::FlatBufferBuilder &builder);

/// Describes how each loop is called.
std::vector<flatbuffers::Offset<fb::NativeLoop>>
describeNativeLoops(const native::NativeCode &code,
                    flatbuffers::FlatBufferBuilder &builder);

} // namespace sol

#endif // SOL_LIB_EMIT_NATIVESECTION_H
