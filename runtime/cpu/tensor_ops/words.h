//===- words.h - moving elements without looking at their values ----------===//
//
// Operators that only move elements treat them as words of 1, 2, 4 or 8 bytes.
// Packed 2- and 4-bit elements are spread to a byte each before, and packed
// again after.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_TENSOR_OPS_WORDS_H
#define SOL_RUNTIME_CPU_TENSOR_OPS_WORDS_H

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/number_formats.h"

namespace sol::ops {

using nn::invalid;

template <typename W> struct Word {
  using Type = W;
};

/// Calls `body(Word<W>())` with the unsigned integer as wide as an element of
/// the type, which must not be packed.
template <typename Body> auto withWord(DType type, Body body) {
  switch (bitWidth(type)) {
  case 16:
    return body(Word<uint16_t>());
  case 32:
    return body(Word<uint32_t>());
  case 64:
    return body(Word<uint64_t>());
  default:
    return body(Word<uint8_t>());
  }
}

/// Bytes of an element of a type that is not packed.
inline int64_t wordBytes(DType type) { return bitWidth(type) / 8; }

using WordsBody =
    absl::FunctionRef<absl::Status(Inputs inputs, Outputs outputs)>;
/// Calls `body` with the operands, packed ones replaced by tensors of type U8
/// (a byte an element, the low bits in use) in scratch memory, and packs the
/// outputs afterwards. `body` may then not call `context.scratch`.
absl::Status onWholeWords(KernelContext &context, Inputs inputs,
                          Outputs outputs, WordsBody body);

/// A dense output's elements in order, read from a source with `steps` (in
/// elements, zero or negative ones too), beginning at `offset`.
struct StridedView {
  Dims dims, steps;
  int64_t offset = 0;
};
/// Steps of a dense row-major tensor.
Dims denseSteps(absl::Span<const int64_t> dims);
/// Copies the view of `source` to `target`; elements as wide as `type`.
void copyStrided(KernelContext &context, DType type, const StridedView &view,
                 const void *source, void *target);

/// The elements of a small integer operand (`shape`, `axes`, …), int64 or
/// int32; an error if they are not there to read.
absl::StatusOr<Dims> readIntegers(const Tensor &tensor, std::string_view name);
/// The one element of an integer operand.
absl::StatusOr<int64_t> readInteger(const Tensor &tensor,
                                    std::string_view name);
/// Each axis counted from the front; an error on one out of range or named
/// twice.
absl::StatusOr<Dims> frontAxes(absl::Span<const int64_t> axes, int64_t rank);
/// An index counted from the front, or an error that gives the index, the axis
/// and the range.
absl::Status indexError(int64_t index, int64_t axis, int64_t size);

} // namespace sol::ops

#endif // SOL_RUNTIME_CPU_TENSOR_OPS_WORDS_H
