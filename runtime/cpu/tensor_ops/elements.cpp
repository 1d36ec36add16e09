//===- elements.cpp - conversion between storage and arithmetic -----------===//
//
// See elements.h; also all there is to ONNX's Cast.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor_ops/elements.h"

#include <limits>

namespace sol::ops {

namespace {
/// A float as an integer of I's width, as x86 and NumPy have it: the least
/// integer if out of range or NaN.
template <typename I, typename C> I truncated(C value) {
  constexpr C bound = static_cast<C>(std::numeric_limits<I>::min());
  return value >= bound && value < -bound ? static_cast<I>(value)
                                          : std::numeric_limits<I>::min();
}

template <typename Storage, typename C> Storage narrowed(C value) {
  if constexpr (std::is_integral_v<C> || std::is_floating_point_v<Storage>) {
    return static_cast<Storage>(value);
  } else if constexpr (std::is_same_v<Storage, uint64_t>) {
    constexpr C half = static_cast<C>(0x1p63);
    if (value >= half && value < 2 * half)
      return static_cast<uint64_t>(value - half) + (uint64_t(1) << 63);
    return static_cast<uint64_t>(truncated<int64_t>(value));
  } else if constexpr (sizeof(Storage) == 8 ||
                       std::is_same_v<Storage, uint32_t>) {
    return static_cast<Storage>(truncated<int64_t>(value));
  } else {
    return static_cast<Storage>(truncated<int32_t>(value));
  }
}

/// A value from which a float narrower than float32 rounds correctly.
template <typename C> float forNarrowFloat(C value) {
  if constexpr (std::is_same_v<C, float>)
    return value;
  else
    return roundToOdd(static_cast<double>(value));
}

template <typename Storage, typename C>
void load(const void *data, int64_t first, int64_t count, C *values) {
  const Storage *source = static_cast<const Storage *>(data) + first;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_class_v<Storage>)
      values[i] = narrowed<C>(static_cast<float>(source[i]));
    else
      values[i] = narrowed<C>(source[i]);
  }
}

template <typename Storage, typename C>
void store(const C *values, int64_t count, void *data, int64_t first) {
  Storage *target = static_cast<Storage *>(data) + first;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_class_v<Storage>)
      target[i] = Storage(forNarrowFloat(values[i]));
    else
      target[i] = narrowed<Storage>(values[i]);
  }
}

template <typename C>
void loadNarrow(DType type, const void *data, int64_t first, int64_t count,
                C *values) {
  int width = bitWidth(type);
  bool isSigned = type == DType::I4 || type == DType::I2;
  const float *table = isFloat(type) ? smallFloatTable(type) : nullptr;
  for (int64_t i = 0; i < count; ++i) {
    uint8_t code = width == 8 ? static_cast<const uint8_t *>(data)[first + i]
                              : packedCode(data, first + i, width);
    values[i] = table      ? narrowed<C>(table[code])
                : isSigned ? static_cast<C>(signedCode(code, width))
                           : static_cast<C>(code);
  }
}

/// The low bits of an integer; of a float its whole part, or 0 if the type
/// cannot hold that, as the reference implementation has it.
template <typename C> uint8_t narrowCode(DType type, C value) {
  if constexpr (std::is_integral_v<C>) {
    return static_cast<uint8_t>(value);
  } else {
    bool isSigned = type == DType::I4 || type == DType::I2;
    int range = 1 << bitWidth(type), low = isSigned ? -range / 2 : 0;
    int whole = truncated<int32_t>(value);
    return whole >= low && whole < low + range ? static_cast<uint8_t>(whole)
                                               : 0;
  }
}

template <typename C>
void storeNarrow(DType type, const C *values, int64_t count, void *data,
                 int64_t first, Narrowing narrowing) {
  int width = bitWidth(type);
  bool floating = isFloat(type);
  for (int64_t i = 0; i < count; ++i) {
    uint8_t code = floating
                       ? f32ToSmallFloat(type, forNarrowFloat(values[i]),
                                         narrowing.saturate, narrowing.rounding)
                       : narrowCode(type, values[i]);
    if (width == 8)
      static_cast<uint8_t *>(data)[first + i] = code;
    else
      setPackedCode(data, first + i, width, code);
  }
}
} // namespace

template <typename C>
void loadElements(DType type, const void *data, int64_t first, int64_t count,
                  C *values) {
  switch (type) {
  case DType::None:
    return;
  case DType::F32:
    return load<float>(data, first, count, values);
  case DType::F64:
    return load<double>(data, first, count, values);
  case DType::F16:
    return load<F16>(data, first, count, values);
  case DType::BF16:
    return load<BF16>(data, first, count, values);
  case DType::Bool:
  case DType::U8:
    return load<uint8_t>(data, first, count, values);
  case DType::I8:
    return load<int8_t>(data, first, count, values);
  case DType::U16:
    return load<uint16_t>(data, first, count, values);
  case DType::I16:
    return load<int16_t>(data, first, count, values);
  case DType::U32:
    return load<uint32_t>(data, first, count, values);
  case DType::I32:
    return load<int32_t>(data, first, count, values);
  case DType::U64:
    return load<uint64_t>(data, first, count, values);
  case DType::I64:
    return load<int64_t>(data, first, count, values);
  default:
    return loadNarrow(type, data, first, count, values);
  }
}

template <typename C>
void storeElements(DType type, const C *values, int64_t count, void *data,
                   int64_t first, Narrowing narrowing) {
  switch (type) {
  case DType::None:
    return;
  case DType::F32:
    return store<float>(values, count, data, first);
  case DType::F64:
    return store<double>(values, count, data, first);
  case DType::F16:
    return store<F16>(values, count, data, first);
  case DType::BF16:
    return store<BF16>(values, count, data, first);
  case DType::Bool: {
    uint8_t *target = static_cast<uint8_t *>(data) + first;
    for (int64_t i = 0; i < count; ++i)
      target[i] = values[i] != C(0);
    return;
  }
  case DType::U8:
    return store<uint8_t>(values, count, data, first);
  case DType::I8:
    return store<int8_t>(values, count, data, first);
  case DType::U16:
    return store<uint16_t>(values, count, data, first);
  case DType::I16:
    return store<int16_t>(values, count, data, first);
  case DType::U32:
    return store<uint32_t>(values, count, data, first);
  case DType::I32:
    return store<int32_t>(values, count, data, first);
  case DType::U64:
    return store<uint64_t>(values, count, data, first);
  case DType::I64:
    return store<int64_t>(values, count, data, first);
  default:
    return storeNarrow(type, values, count, data, first, narrowing);
  }
}

template void loadElements<float>(DType, const void *, int64_t, int64_t,
                                  float *);
template void loadElements<double>(DType, const void *, int64_t, int64_t,
                                   double *);
template void loadElements<int64_t>(DType, const void *, int64_t, int64_t,
                                    int64_t *);
template void loadElements<uint64_t>(DType, const void *, int64_t, int64_t,
                                     uint64_t *);
template void storeElements<float>(DType, const float *, int64_t, void *,
                                   int64_t, Narrowing);
template void storeElements<double>(DType, const double *, int64_t, void *,
                                    int64_t, Narrowing);
template void storeElements<int64_t>(DType, const int64_t *, int64_t, void *,
                                     int64_t, Narrowing);
template void storeElements<uint64_t>(DType, const uint64_t *, int64_t, void *,
                                      int64_t, Narrowing);

} // namespace sol::ops
