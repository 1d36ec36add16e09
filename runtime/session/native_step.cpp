//===- native_step.cpp - runs the compiled loops of a plan ----------------===//
//
// See native_step.h. The code trusts its sizes and pointers, so everything that
// it computes addresses from is checked here, at every run.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/native_step.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <atomic>

namespace sol {
namespace {

/// A worker gets at least so many elements: handing out a piece costs about a
/// microsecond, which is what the cheapest loops take for them.
constexpr int64_t elementGrain = 16384;
constexpr int64_t scratchAlignment = 64;

/// The space of a loop at its present sizes.
struct Space {
  Dims dims;              ///< of the dimensions
  Dims sizes;             ///< as the code sees them
  int64_t units = 0;      ///< elements, or rows
  int64_t unitLength = 1; ///< elements of a unit
  int64_t rowLength() const { return sizes.back(); }
};

/// Gives each dimension the size that the operands have along it.
absl::Status unifySizes(const ProgramNativeLoop &loop, Inputs inputs,
                        Dims &dims) {
  dims.assign(loop.groups.size(), -1);
  absl::InlinedVector<size_t, 6> givenBy(loop.groups.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ProgramNativeOperand &operand = loop.operands[i];
    if (inputs[i].type != operand.type)
      return absl::InvalidArgumentError(
          absl::StrCat("operand ", i, " is ", dtypeName(inputs[i].type),
                       ", the plan expects ", dtypeName(operand.type)));
    if (inputs[i].dims.size() != operand.axes.size())
      return absl::InvalidArgumentError(absl::StrCat(
          "operand ", i, " has sizes ", dimsToString(inputs[i].dims),
          " where the plan expects ", operand.axes.size(), " axes"));
    for (size_t axis = 0; axis < operand.axes.size(); ++axis) {
      int64_t size = inputs[i].dims[axis];
      int dimension = operand.axes[axis];
      if (dimension < 0 ? size != 1 : dims[dimension] < 0 && size < 0)
        return absl::InvalidArgumentError(absl::StrCat(
            "operand ", i, " has size ", size, " along axis ", axis,
            ", the plan expects ", dimension < 0 ? "1" : "at least 0"));
      if (dimension < 0)
        continue;
      if (dims[dimension] < 0) {
        dims[dimension] = size;
        givenBy[dimension] = i;
      } else if (dims[dimension] != size) {
        return absl::InvalidArgumentError(absl::StrCat(
            "operand ", i, " has size ", size, " along axis ", axis,
            " where operand ", givenBy[dimension], " has ", dims[dimension],
            "; the compiler took them for equal"));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Space> spaceOf(const ProgramNativeLoop &loop, Inputs inputs) {
  if (inputs.size() != loop.operands.size())
    return absl::InvalidArgumentError(
        absl::StrCat("has ", inputs.size(), " operands, the plan expects ",
                     loop.operands.size()));
  Space space;
  if (absl::Status status = unifySizes(loop, inputs, space.dims); !status.ok())
    return status;
  space.sizes.assign(loop.sizes, 1);
  bool overflow = false;
  for (size_t i = 0; i < space.dims.size(); ++i) {
    int64_t &size = space.sizes[loop.groups[i]];
    overflow |= __builtin_mul_overflow(size, space.dims[i], &size);
  }
  space.units = 1;
  for (int i = 0; i < loop.sizes; ++i)
    overflow |= __builtin_mul_overflow(
        i + 1 == loop.sizes && loop.byRows ? space.unitLength : space.units,
        space.sizes[i],
        i + 1 == loop.sizes && loop.byRows ? &space.unitLength : &space.units);
  int64_t elements;
  overflow |= __builtin_mul_overflow(space.units, space.unitLength, &elements);
  if (overflow)
    return absl::ResourceExhaustedError(absl::StrCat(
        "works on sizes ", dimsToString(space.dims), ", which are too large"));
  return space;
}

absl::Status sizeOutput(const ProgramNativeOperand &result, const Space &space,
                        Tensor &output) {
  output.type = result.type;
  output.dims.clear();
  for (int axis : result.axes)
    output.dims.push_back(axis < 0 ? 1 : space.dims[axis]);
  if (output.bytes() < 0)
    return absl::ResourceExhaustedError(absl::StrCat(
        "a result of sizes ", dimsToString(output.dims), " is too large"));
  return absl::OkStatus();
}

/// Calls the function on [0, units), cut into pieces.
class Call {
public:
  Call(const ProgramNativeLoop &loop, const Space &space, Inputs inputs,
       Outputs outputs)
      : loop(loop), space(space),
        grain(std::max<int64_t>(
            1, elementGrain / std::max<int64_t>(1, space.unitLength))) {
    for (const Tensor &input : inputs)
      pointers.push_back(input.data);
    for (const Tensor &output : outputs)
      pointers.push_back(output.data);
  }

  absl::Status run(KernelContext &context) {
    if (loop.scratch > 0) {
      if (absl::Status status = runWithScratch(context); !status.ok())
        return status;
    } else {
      context.parallelFor(space.units, grain, [&](int64_t begin, int64_t end) {
        call(begin, end, nullptr);
      });
    }
    int32_t code = failure.load();
    return code == 0 ? absl::OkStatus()
                     : absl::InternalError(absl::StrCat(
                           "the compiled loop gave up with code ", code));
  }

private:
  void call(int64_t begin, int64_t end, void *scratch) {
    NativeArguments arguments = {space.sizes.data(), pointers.data(), scratch};
    int32_t code = loop.function(&arguments, begin, end);
    if (code != 0)
      failure.store(code);
  }

  /// One piece for each worker, as each piece has scratch memory of its own.
  absl::Status runWithScratch(KernelContext &context) {
    int64_t pieces =
        std::clamp<int64_t>(space.units / grain, 1, context.threadCount());
    int64_t stride, total;
    if (__builtin_mul_overflow(loop.scratch, space.rowLength(), &stride) ||
        __builtin_add_overflow(stride, scratchAlignment - 1, &stride) ||
        __builtin_mul_overflow(stride / scratchAlignment * scratchAlignment,
                               pieces, &total))
      return tooLarge();
    stride = stride / scratchAlignment * scratchAlignment;
    char *scratch = static_cast<char *>(context.scratch(total));
    if (!scratch)
      return tooLarge();
    int64_t whole = space.units / pieces, rest = space.units % pieces;
    auto start = [&](int64_t piece) {
      return piece * whole + std::min(piece, rest);
    };
    context.parallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece)
        call(start(piece), start(piece + 1), scratch + piece * stride);
    });
    return absl::OkStatus();
  }

  absl::Status tooLarge() const {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for ", loop.scratch, " bytes of scratch for each of the ",
        space.rowLength(), " elements of a row"));
  }

  const ProgramNativeLoop &loop;
  const Space &space;
  int64_t grain;
  absl::InlinedVector<void *, 16> pointers;
  std::atomic<int32_t> failure{0};
};

} // namespace

absl::Status inferNativeLoop(const ProgramNativeLoop &loop, Inputs inputs,
                             Outputs outputs) {
  absl::StatusOr<Space> space = spaceOf(loop, inputs);
  if (!space.ok())
    return space.status();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (absl::Status status = sizeOutput(loop.results[i], *space, outputs[i]);
        !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status runNativeLoop(const ProgramNativeLoop &loop,
                           KernelContext &context, Inputs inputs,
                           Outputs outputs) {
  if (!loop.function)
    return absl::FailedPreconditionError(
        "the plan was opened without its machine code");
  absl::StatusOr<Space> space = spaceOf(loop, inputs);
  if (!space.ok())
    return space.status();
  // A row of no elements may still have a result: the sum of nothing.
  bool empty =
      std::all_of(outputs.begin(), outputs.end(),
                  [](const Tensor &output) { return output.size() == 0; });
  return empty ? absl::OkStatus()
               : Call(loop, *space, inputs, outputs).run(context);
}

} // namespace sol
