//===- verify.cpp - can a program of a fabric run at all? ----------------===//
//
// Puts the parts together, and checks memory.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/verify/verify.h"

#include "absl/strings/str_cat.h"

namespace sol::fabric {
namespace {

/// Do progressions a + i * aStep, i < aCount, and the like of b meet?
bool meet(int64_t a, int64_t aStep, int64_t aCount, int64_t b, int64_t bStep,
          int64_t bCount) {
  if (aCount > bCount)
    return meet(b, bStep, bCount, a, aStep, aCount);
  for (int64_t i = 0; i < aCount; ++i) {
    int64_t at = a + i * aStep - b;
    if (at >= 0 && at % bStep == 0 && at / bStep < bCount)
      return true;
  }
  return false;
}

bool sharePes(const Region &a, const PeSet &inA, const Region &b,
              const PeSet &inB) {
  return a.wafer == b.wafer &&
         meet(a.x + inA.x, inA.xStep, inA.columns, b.x + inB.x, inB.xStep,
              inB.columns) &&
         meet(a.y + inA.y, inA.yStep, inA.rows, b.y + inB.y, inB.yStep,
              inB.rows);
}

absl::Status overlap(const Region &a, const Buffer &first, const Region &b,
                     const Buffer &second) {
  bool apart = first.offset + first.bytes() <= second.offset ||
               second.offset + second.bytes() <= first.offset;
  if (apart || !sharePes(a, first.pes, b, second.pes))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "buffer `", first.name, "` of region `", a.name, "` (bytes ",
      first.offset, " to ", first.offset + first.bytes(), ") overlaps buffer `",
      second.name, "` of region `", b.name, "` (bytes ", second.offset, " to ",
      second.offset + second.bytes(), ") (F2)"));
}

absl::Status rule(const absl::Status &status, const char *name) {
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), " (", name, ")"));
}

} // namespace

absl::Status verifyMemory(const VerifiedParts &parts) {
  const std::vector<Region> &regions = parts.program.regions;
  for (size_t i = 0; i < regions.size(); ++i)
    for (size_t j = i; j < regions.size(); ++j)
      for (size_t a = 0; a < regions[i].buffers.size(); ++a)
        for (size_t b = i == j ? a + 1 : 0; b < regions[j].buffers.size(); ++b)
          if (absl::Status status = overlap(regions[i], regions[i].buffers[a],
                                            regions[j], regions[j].buffers[b]);
              !status.ok())
            return status;
  for (int64_t pe = 0; pe < parts.mesh.pes(); ++pe) {
    auto count = static_cast<int64_t>(parts.codes.of(pe).steps.size());
    if (count * instructionBytes > parts.limits.codeBytes)
      return absl::InvalidArgumentError(
          absl::StrCat(parts.mesh.text(pe), " has ", count, " instructions of ",
                       instructionBytes, " bytes: a PE reserves ",
                       parts.limits.codeBytes, " bytes for them (F2)"));
  }
  return absl::OkStatus();
}

absl::Status verifyProgram(const FabricProgram &program,
                           const FabricLimits &limits,
                           const VerifyOptions &options) {
  absl::StatusOr<Mesh> mesh = Mesh::of(program);
  if (!mesh.ok())
    return rule(mesh.status(), "F1");
  absl::StatusOr<CodeLists> codes = CodeLists::of(program, *mesh, limits);
  if (!codes.ok())
    return rule(codes.status(), "F1");
  absl::StatusOr<Routes> routes = Routes::of(program, *mesh, limits);
  if (!routes.ok())
    return rule(routes.status(), "F3");
  absl::StatusOr<Channels> channels =
      Channels::of(program, *mesh, *codes, *routes);
  if (!channels.ok())
    return rule(channels.status(), "F3");
  VerifiedParts parts{program, limits, *mesh, *codes, *channels};
  if (absl::Status status = verifyMemory(parts); !status.ok())
    return status;
  if (absl::Status status = verifyReads(parts); !status.ok())
    return status;
  return verifyControl(parts, options);
}

} // namespace sol::fabric
