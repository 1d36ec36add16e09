//===- tensor.h - what a kernel sees of a tensor --------------------------===//
//
// Element types, and views of dense row-major tensors. Owns no memory: the step
// interpreter and the compiler's constant evaluator decide where bytes live.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_TENSOR_H
#define SOL_RUNTIME_CPU_TENSOR_H

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sol {

/// Element types, numbered as `TensorProto.DataType` of ONNX 1.23. Four-bit
/// types are packed two to a byte, the first element in the low nibble; two-bit
/// types four to a byte likewise; bool is one byte holding 0 or 1.
enum class DType : uint8_t {
  None = 0, ///< a missing optional operand
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
};

/// Bits that one element takes: 2, 4, 8, 16, 32 or 64; 0 for None.
int bitWidth(DType type);
/// ONNX's lower-case name: `float32`, `int4`, `bool`, …
const char *dtypeName(DType type);
/// True for the floating-point types of any width.
bool isFloat(DType type);
/// True for the signed and unsigned integer types (not bool).
bool isInteger(DType type);
/// True if `code` is one of the enumerators above other than None.
bool isKnownDType(int code);

/// Sizes of a tensor's axes, outermost first; empty for a scalar.
using Dims = absl::InlinedVector<int64_t, 6>;

/// Number of elements, or -1 if a size is negative or the product overflows.
int64_t elementCount(absl::Span<const int64_t> dims);
/// Bytes that `count` elements take, the last byte filled up.
int64_t byteCount(DType type, int64_t count);
/// `[2, 3, 64]`, for messages.
std::string dimsToString(absl::Span<const int64_t> dims);

/// A dense row-major tensor somewhere in memory. `data` may be null where no
/// elements exist yet (inference of an output) or where there are none.
struct Tensor {
  DType type = DType::None;
  Dims dims;
  void *data = nullptr;

  int rank() const { return static_cast<int>(dims.size()); }
  int64_t size() const { return elementCount(dims); }
  int64_t bytes() const { return byteCount(type, size()); }
  /// False for an optional operand that the model leaves out.
  bool present() const { return type != DType::None; }
  template <typename T> T *as() { return static_cast<T *>(data); }
  template <typename T> const T *as() const {
    return static_cast<const T *>(data);
  }
};

} // namespace sol

#endif // SOL_RUNTIME_CPU_TENSOR_H
