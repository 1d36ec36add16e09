//===- operands.h - checks of operands and attributes ---------------------===//
//
// What every kernel of this folder asks of its operands before it computes: a
// plan is a file, and files can lie. Each error names the operand and gives
// both values; the caller adds the node's name.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_OPERANDS_H
#define SOL_RUNTIME_CPU_NN_OPS_OPERANDS_H

#include "runtime/cpu/kernel.h"

#include "absl/strings/str_cat.h"

#include <initializer_list>
#include <type_traits>

/// Returns from the enclosing function if the status is an error.
#define SOL_NN_TRY(expression)                                                 \
  do {                                                                         \
    if (absl::Status solStatus = (expression); !solStatus.ok())                \
      return solStatus;                                                        \
  } while (false)

/// `SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));`
#define SOL_NN_ASSIGN(place, expression)                                       \
  SOL_NN_ASSIGN_2(SOL_NN_JOIN(solValue, __LINE__), place, expression)
#define SOL_NN_JOIN(a, b) SOL_NN_JOIN_2(a, b)
#define SOL_NN_JOIN_2(a, b) a##b
#define SOL_NN_ASSIGN_2(result, place, expression)                             \
  auto result = (expression);                                                  \
  if (!result.ok())                                                            \
    return result.status();                                                    \
  place = *std::move(result)

namespace sol::nn {

/// What StrCat takes: its string_view is not the standard one here.
inline absl::string_view messagePart(std::string_view part) {
  return {part.data(), part.size()};
}
template <typename T>
std::enable_if_t<std::is_arithmetic_v<T>, T> messagePart(T part) {
  return part;
}

/// InvalidArgument with the parts' texts joined.
template <typename... Parts> absl::Status invalid(const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat(messagePart(parts)...));
}
/// OutOfRange likewise: an index, length or position that does not fit.
template <typename... Parts> absl::Status outOfRange(const Parts &...parts) {
  return absl::OutOfRangeError(absl::StrCat(messagePart(parts)...));
}

/// The operand, or null if it is left out.
const Tensor *operandAt(Inputs inputs, size_t index);

/// At least `least`, at most `most` operands, the first `least` of them present
/// (those whose bit in `mayMiss` is set excepted).
absl::Status checkCount(Inputs inputs, size_t least, size_t most,
                        unsigned mayMiss = 0);
absl::Status checkType(const Tensor &tensor, std::string_view name,
                       std::initializer_list<DType> allowed);
absl::Status checkSameType(const Tensor &tensor, std::string_view name,
                           DType wanted);
absl::Status checkRank(const Tensor &tensor, std::string_view name, int least,
                       int most);
/// The operand's shape is exactly `wanted`.
absl::Status checkDims(const Tensor &tensor, std::string_view name,
                       absl::Span<const int64_t> wanted);
/// The number of elements is exactly `wanted`, whatever the shape.
absl::Status checkElements(const Tensor &tensor, std::string_view name,
                           int64_t wanted);
/// `axis` counted from the front, if it lies in [-rank, rank).
absl::StatusOr<int64_t> frontAxis(int64_t axis, int64_t rank);

/// Sets output `index`'s type and shape if the model uses it; an error if the
/// plan expects another type or the shape holds too many elements.
absl::Status setOutput(Outputs outputs, size_t index, DType type,
                       absl::Span<const int64_t> dims);
/// The output, or null if the model does not use it.
Tensor *outputAt(Outputs outputs, size_t index);

/// The float types that kernels here compute in float32: F32, F16, BF16.
bool isFloatStorage(DType type);
/// F32, F16, BF16 or F64.
absl::Status checkFloat(const Tensor &tensor, std::string_view name);

/// Product of dims[from..to).
int64_t product(absl::Span<const int64_t> dims, size_t from, size_t to);

/// One broadcast of two shapes as NumPy does it; an error with both shapes.
absl::StatusOr<Dims> broadcastShapes(absl::Span<const int64_t> a,
                                     absl::Span<const int64_t> b);
/// Steps (in elements) with which `from` is read along each axis of `to`, zero
/// where it is stretched. `from` must broadcast to `to` (an error else).
absl::StatusOr<Dims> broadcastSteps(absl::Span<const int64_t> from,
                                    absl::Span<const int64_t> to,
                                    std::string_view name);
/// Offset of the element with row-major number `index` in `shape`, under
/// `steps`.
int64_t steppedOffset(int64_t index, absl::Span<const int64_t> shape,
                      absl::Span<const int64_t> steps);

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_OPERANDS_H
