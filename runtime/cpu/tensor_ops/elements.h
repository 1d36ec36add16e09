//===- elements.h - rows of any element type in one of four arithmetics ---===//
//
// Operators on tensors compute in float32 (for float32 and narrower), float64,
// int64 or uint64, whichever holds every value of the operand's type, and
// convert once when they store. So an operator is written, and compiled, four
// times and not once for each of ONNX's twenty types.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_TENSOR_OPS_ELEMENTS_H
#define SOL_RUNTIME_CPU_TENSOR_OPS_ELEMENTS_H

#include "runtime/cpu/number_formats.h"
#include "runtime/cpu/tensor.h"

#include <type_traits>

namespace sol::ops {

/// Elements handled at once: three buffers of this size stay in the L1 cache.
inline constexpr int64_t chunkSize = 512;

/// How a store narrows.
struct Narrowing {
  bool saturate = true; ///< of 8-bit floats
  PowerRounding rounding = PowerRounding::Up;
};

/// Elements [first, first + count) as C, one of float, double, int64_t and
/// uint64_t. Integers wrap; floats become integers as storeElements says.
template <typename C>
void loadElements(DType type, const void *data, int64_t first, int64_t count,
                  C *values);
/// Stores values as elements [first, first + count). Narrower integers wrap;
/// floats round once, to nearest even; a float becomes an integer by truncation
/// and, if out of range or NaN, the least integer of 32 or 64 bits, of which a
/// narrower type takes the low bits, a packed one 0; bool is `value != 0`.
template <typename C>
void storeElements(DType type, const C *values, int64_t count, void *data,
                   int64_t first, Narrowing narrowing = {});

extern template void loadElements<float>(DType, const void *, int64_t, int64_t,
                                         float *);
extern template void loadElements<double>(DType, const void *, int64_t, int64_t,
                                          double *);
extern template void loadElements<int64_t>(DType, const void *, int64_t,
                                           int64_t, int64_t *);
extern template void loadElements<uint64_t>(DType, const void *, int64_t,
                                            int64_t, uint64_t *);
extern template void storeElements<float>(DType, const float *, int64_t, void *,
                                          int64_t, Narrowing);
extern template void storeElements<double>(DType, const double *, int64_t,
                                           void *, int64_t, Narrowing);
extern template void storeElements<int64_t>(DType, const int64_t *, int64_t,
                                            void *, int64_t, Narrowing);
extern template void storeElements<uint64_t>(DType, const uint64_t *, int64_t,
                                             void *, int64_t, Narrowing);

/// True if elements of `type` are stored as C.
template <typename C> bool isStoredAs(DType type) {
  return type == (std::is_same_v<C, float>     ? DType::F32
                  : std::is_same_v<C, double>  ? DType::F64
                  : std::is_same_v<C, int64_t> ? DType::I64
                                               : DType::U64);
}

/// The elements as C: where they are, if stored so, else loaded to `buffer`.
template <typename C>
const C *viewElements(const Tensor &tensor, int64_t first, int64_t count,
                      C *buffer) {
  if (isStoredAs<C>(tensor.type))
    return tensor.as<C>() + first;
  loadElements<C>(tensor.type, tensor.data, first, count, buffer);
  return buffer;
}

/// Where to compute elements [first, …) of the output: in place, or `buffer`,
/// which `finishElements` then stores.
template <typename C>
C *targetElements(Tensor &tensor, int64_t first, C *buffer) {
  return isStoredAs<C>(tensor.type) ? tensor.as<C>() + first : buffer;
}
template <typename C>
void finishElements(const C *values, int64_t count, Tensor &tensor,
                    int64_t first) {
  if (!isStoredAs<C>(tensor.type))
    storeElements<C>(tensor.type, values, count, tensor.data, first);
}

template <typename C> struct Arithmetic {
  using Type = C;
};

/// Calls `body(Arithmetic<C>())` with the arithmetic that holds every value of
/// the type; bool counts as unsigned.
template <typename Body> auto withArithmetic(DType type, Body body) {
  if (type == DType::F64)
    return body(Arithmetic<double>());
  if (isFloat(type))
    return body(Arithmetic<float>());
  bool isSigned = type == DType::I8 || type == DType::I16 ||
                  type == DType::I32 || type == DType::I64 ||
                  type == DType::I4 || type == DType::I2;
  if (isSigned)
    return body(Arithmetic<int64_t>());
  return body(Arithmetic<uint64_t>());
}
/// The same for floating-point types alone.
template <typename Body> auto withFloatArithmetic(DType type, Body body) {
  if (type == DType::F64)
    return body(Arithmetic<double>());
  return body(Arithmetic<float>());
}

} // namespace sol::ops

#endif // SOL_RUNTIME_CPU_TENSOR_OPS_ELEMENTS_H
