//===- verify_reads.cpp - is what is read written before? ----------------===//
//
// Goes once through the code of one PE of each kind: those with the same code
// and the same slices.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/program/addresses.h"
#include "runtime/fabric/verify/verify.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <map>

namespace sol::fabric {
namespace {

/// Registers of which nothing is known: addresses that they move are judged by
/// whole buffers.
constexpr std::array<int32_t, registerCount> noRegisters = {};

/// What is written of one buffer.
struct Written {
  std::vector<bool> elements;
  bool any = false;

  explicit Written(int64_t size) : elements(size, false) {}
  void mark(int64_t first, int64_t rows, int64_t n, int64_t rowStep,
            int64_t step) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < n; ++i)
        elements[first + r * rowStep + i * step] = true;
    any = true;
  }
  void markFrom(int64_t first) {
    auto size = static_cast<int64_t>(elements.size());
    for (int64_t at = std::max<int64_t>(first, 0); at < size; ++at)
      elements[at] = true;
    any = true;
  }
  /// The first element that isn't written; -1 if all are.
  int64_t missing(int64_t first, int64_t rows, int64_t n, int64_t rowStep,
                  int64_t step) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < n; ++i)
        if (!elements[first + r * rowStep + i * step])
          return first + r * rowStep + i * step;
    return -1;
  }
};

class ReadCheck {
public:
  explicit ReadCheck(const VerifiedParts &parts) : parts(parts) {}
  absl::Status check(int64_t pe, const std::vector<const Slice *> &slices,
                     const std::vector<int32_t> &regions);

private:
  Written &bufferOf(int32_t region, int32_t buffer) {
    const Buffer &item = parts.program.regions[region].buffers[buffer];
    return written.try_emplace({region, buffer}, item.elements).first->second;
  }
  absl::Status access(int64_t pe, size_t index, const Step &step,
                      const Access &access);

  const VerifiedParts &parts;
  std::map<std::pair<int32_t, int32_t>, Written> written;
};

absl::Status ReadCheck::access(int64_t pe, size_t index, const Step &step,
                               const Access &access) {
  const Place &place = *access.place;
  Written &buffer = bufferOf(step.region, place.buffer);
  auto bad = [&](const std::string &what) {
    const Region &region = parts.program.regions[step.region];
    return absl::InvalidArgumentError(
        absl::StrCat(parts.mesh.text(pe), ", instruction ", index, " (",
                     opcodeName(step.opcode), "): operand `", access.name, "` ",
                     what, " of buffer `", region.buffers[place.buffer].name,
                     "`, which nothing has written (F6)"));
  };
  if (step.moves) {
    if (access.reads && !buffer.any)
      return bad("reads elements");
    if (access.writes)
      buffer.markFrom(place.reg >= 0 ? 0 : place.first);
    return absl::OkStatus();
  }
  if (elementsAt(place, noRegisters.data(), access.rows, access.n) < 0)
    return absl::InvalidArgumentError(
        absl::StrCat(parts.mesh.text(pe), ", instruction ", index, " (",
                     opcodeName(step.opcode), "): ",
                     outsideText(access.name, place, noRegisters.data(),
                                 access.rows, access.n),
                     " (F5)"));
  if (access.reads)
    if (int64_t at = buffer.missing(place.first, access.rows, access.n,
                                    place.rowStep, place.step);
        at >= 0)
      return bad(absl::StrCat("reads element ", at));
  if (access.writes)
    buffer.mark(place.first, access.rows, access.n, place.rowStep, place.step);
  return absl::OkStatus();
}

absl::Status ReadCheck::check(int64_t pe,
                              const std::vector<const Slice *> &slices,
                              const std::vector<int32_t> &regions) {
  written.clear();
  for (size_t i = 0; i < slices.size(); ++i) {
    const Slice &slice = *slices[i];
    const Region &region = parts.program.regions[regions[i]];
    auto buffers = static_cast<int64_t>(region.buffers.size());
    if (slice.buffer < 0 || slice.buffer >= buffers)
      return absl::InvalidArgumentError(
          absl::StrCat("region `", region.name, "`: a slice is for buffer ",
                       slice.buffer, " of ", buffers, " (F1)"));
    Place place;
    place.elements = region.buffers[slice.buffer].elements;
    place.first = slice.first;
    place.rowStep = slice.rowStep;
    place.step = slice.columnStep;
    if (elementsAt(place, noRegisters.data(), slice.rows, slice.columns) < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("region `", region.name, "`: a slice: ",
                       outsideText("buffer", place, noRegisters.data(),
                                   slice.rows, slice.columns),
                       " (F5)"));
    bufferOf(regions[i], slice.buffer)
        .mark(slice.first, slice.rows, slice.columns, slice.rowStep,
              slice.columnStep);
  }
  const CodeList &list = parts.codes.of(pe);
  // Counts that registers decide stand for one of what they count.
  std::array<int32_t, registerCount> ones;
  ones.fill(1);
  for (size_t i = 0; i < list.steps.size(); ++i) {
    std::vector<Access> accesses = accessesOf(*list.steps[i], ones.data());
    // Operands are read before the result is written.
    for (bool writes : {false, true})
      for (Access item : accesses) {
        item.reads = item.reads && !writes;
        item.writes = item.writes && writes;
        if (!item.reads && !item.writes)
          continue;
        if (absl::Status status = access(pe, i, *list.steps[i], item);
            !status.ok())
          return status;
      }
  }
  return absl::OkStatus();
}

} // namespace

absl::Status verifyReads(const VerifiedParts &parts) {
  // PEs by their slices; those with the same code share the check.
  std::vector<std::vector<int32_t>> slicesOf(parts.mesh.pes());
  std::vector<const Slice *> slices;
  std::vector<int32_t> regions;
  for (size_t r = 0; r < parts.program.regions.size(); ++r) {
    const Region &region = parts.program.regions[r];
    for (const auto *list : {&region.weights, &region.inputs})
      for (const Slice &slice : *list) {
        auto index = static_cast<int32_t>(slices.size());
        slices.push_back(&slice);
        regions.push_back(static_cast<int32_t>(r));
        slice.pes.forEach([&](int64_t x, int64_t y) {
          slicesOf[parts.mesh.number(region, x, y)].push_back(index);
        });
      }
  }
  std::map<std::pair<const CodeList *, std::vector<int32_t>>, int64_t> kinds;
  ReadCheck check(parts);
  for (int64_t pe = 0; pe < parts.mesh.pes(); ++pe) {
    if (!kinds.try_emplace({&parts.codes.of(pe), slicesOf[pe]}, pe).second)
      continue;
    std::vector<const Slice *> own;
    std::vector<int32_t> ownRegions;
    for (int32_t index : slicesOf[pe]) {
      own.push_back(slices[index]);
      ownRegions.push_back(regions[index]);
    }
    if (absl::Status status = check.check(pe, own, ownRegions); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace sol::fabric
