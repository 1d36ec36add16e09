//===- native_loops.cpp - the compiled loops that a plan describes --------===//
//
// See native_loops.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/plan/native_loops.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <tuple>

namespace sol {
namespace {

using Operands = flatbuffers::Vector<flatbuffers::Offset<fb::NativeOperand>>;

class LoopBuilder {
public:
  LoopBuilder(const fb::NativeLoop &source, const fb::Plan &plan)
      : source(source), plan(plan) {}

  absl::StatusOr<ProgramNativeLoop> build() {
    loop.name = source.name()->str();
    loop.byRows = source.by_rows();
    loop.sizes = source.sizes();
    loop.scratch = source.scratch();
    if (source.groups())
      loop.groups.assign(source.groups()->begin(), source.groups()->end());
    if (loop.sizes < 1 || loop.sizes > maxNativeSizes)
      return corrupt(loop.sizes, " sizes, not 1 to ", maxNativeSizes);
    if (loop.scratch < 0 || loop.scratch > maxNativeScratch)
      return corrupt("scratch of ", loop.scratch, " bytes, not 0 to ",
                     maxNativeScratch);
    for (int group : loop.groups)
      if (group < 0 || group >= loop.sizes)
        return corrupt("group ", group, " of ", loop.sizes);
    for (auto [items, result, what] :
         {std::tuple(source.operands(), &loop.operands, "operand"),
          std::tuple(source.results(), &loop.results, "result")})
      if (absl::Status status = readOperands(items, *result, what);
          !status.ok())
        return status;
    if (absl::Status status = checkCoverage(); !status.ok())
      return status;
    if (absl::Status status = readEntries(); !status.ok())
      return status;
    return std::move(loop);
  }

private:
  template <typename... Parts>
  absl::Status corrupt(const Parts &...parts) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "compiled loop `", source.name()->str(), "` has ", parts...));
  }

  absl::Status readOperands(const Operands *items,
                            std::vector<ProgramNativeOperand> &result,
                            const char *what) {
    if (!items)
      return absl::OkStatus();
    for (const fb::NativeOperand *item : *items) {
      size_t number = result.size();
      ProgramNativeOperand &operand = result.emplace_back();
      if (!isKnownDType(item->type()))
        return corrupt(what, " ", number, " of unknown element type ",
                       int(item->type()));
      operand.type = static_cast<DType>(item->type());
      if (bitWidth(operand.type) < 8)
        return corrupt(what, " ", number, " of ", dtypeName(operand.type),
                       ", several of which share a byte");
      if (item->axes())
        operand.axes.assign(item->axes()->begin(), item->axes()->end());
      if (absl::Status status = checkAxes(operand, what, number); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  absl::Status checkAxes(const ProgramNativeOperand &operand, const char *what,
                         size_t number) const {
    std::vector<bool> seen(loop.groups.size());
    for (int axis : operand.axes) {
      if (axis < -1 || axis >= static_cast<int>(loop.groups.size()))
        return corrupt(what, " ", number, " along dimension ", axis, " of ",
                       loop.groups.size());
      if (axis >= 0 && seen[axis])
        return corrupt(what, " ", number, " along dimension ", axis, " twice");
      if (axis >= 0)
        seen[axis] = true;
    }
    return absl::OkStatus();
  }

  static bool hasDimension(const ProgramNativeOperand &operand, int dimension) {
    for (int axis : operand.axes)
      if (axis == dimension)
        return true;
    return false;
  }

  absl::Status checkCoverage() const {
    std::vector<bool> given(loop.groups.size());
    for (const ProgramNativeOperand &operand : loop.operands)
      for (int axis : operand.axes)
        if (axis >= 0)
          given[axis] = true;
    for (size_t i = 0; i < given.size(); ++i)
      if (!given[i])
        return corrupt("dimension ", i, ", which no operand has");
    if (loop.results.empty())
      return corrupt("no result");
    for (size_t i = 0; i < loop.groups.size(); ++i) {
      if (loop.byRows && loop.groups[i] == loop.sizes - 1)
        continue;
      for (size_t number = 0; number < loop.results.size(); ++number)
        if (!hasDimension(loop.results[number], static_cast<int>(i)))
          return corrupt("result ", number, " without dimension ", i,
                         ", so that several units would write one element");
    }
    return absl::OkStatus();
  }

  absl::Status readEntries() {
    size_t images = plan.native_images() ? plan.native_images()->size() : 0;
    size_t entries = source.entries() ? source.entries()->size() : 0;
    if (entries != images)
      return corrupt(entries, " entries for ", images, " images");
    for (size_t i = 0; i < entries; ++i) {
      uint64_t entry = source.entries()->Get(i);
      uint64_t bytes = plan.native_images()->Get(i)->bytes();
      if (entry >= bytes)
        return corrupt("entry ", entry, " in image ", i, " of ", bytes,
                       " bytes");
      loop.entries.push_back(entry);
    }
    return absl::OkStatus();
  }

  const fb::NativeLoop &source;
  const fb::Plan &plan;
  ProgramNativeLoop loop;
};

} // namespace

absl::StatusOr<std::vector<ProgramNativeLoop>>
buildNativeLoops(const fb::Plan &plan) {
  std::vector<ProgramNativeLoop> loops;
  if (!plan.native_loops())
    return loops;
  for (const fb::NativeLoop *item : *plan.native_loops()) {
    absl::StatusOr<ProgramNativeLoop> loop = LoopBuilder(*item, plan).build();
    if (!loop.ok())
      return loop.status();
    loops.push_back(*std::move(loop));
  }
  return loops;
}

} // namespace sol
