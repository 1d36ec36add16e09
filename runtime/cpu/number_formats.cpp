//===- number_formats.cpp - narrow floats, and loads of any type ----------===//
//
// The narrow formats are described by a few numbers each; one encoder and one
// decoder serve them all. Decoding goes through tables made at first use.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/number_formats.h"

#include <array>
#include <cmath>
#include <limits>

namespace sol {

float roundToOdd(double value) {
  float nearest = static_cast<float>(value);
  if (!(static_cast<double>(nearest) != value) || value != value)
    return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value))
    --bits; // also turns an infinity into the largest float
  return std::bit_cast<float>(bits | 1u);
}

namespace {
/// A sign bit, exponent and mantissa, with denormals.
struct Format {
  int mantissaBits;
  int bias;
  uint8_t signBit;
  uint8_t largest;  ///< code of the largest finite magnitude
  int infinity;     ///< code, or -1 if the format has none
  int nan;          ///< code, or -1 if the format has none
  bool unsignedNan; ///< one NaN, in the place of negative zero
};

const Format *formatOf(DType type) {
  static constexpr Format e4m3fn{3, 7, 0x80, 0x7e, -1, 0x7f, false};
  static constexpr Format e4m3fnuz{3, 8, 0x80, 0x7f, -1, 0x80, true};
  static constexpr Format e5m2{2, 15, 0x80, 0x7b, 0x7c, 0x7e, false};
  static constexpr Format e5m2fnuz{2, 16, 0x80, 0x7f, -1, 0x80, true};
  static constexpr Format e2m1{1, 1, 0x08, 0x07, -1, -1, false};
  switch (type) {
  case DType::F8E4M3FN:
    return &e4m3fn;
  case DType::F8E4M3FNUZ:
    return &e4m3fnuz;
  case DType::F8E5M2:
    return &e5m2;
  case DType::F8E5M2FNUZ:
    return &e5m2fnuz;
  case DType::F4E2M1:
    return &e2m1;
  default:
    return nullptr;
  }
}

/// 2 to the power `exponent`, which must be that of a normal float32.
float powerOfTwo(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

float decode(const Format &format, uint8_t code) {
  uint8_t magnitude = code & (format.signBit - 1);
  bool negative = code & format.signBit;
  if (format.unsignedNan && code == format.nan)
    return notANumber;
  if (magnitude > format.largest) {
    if (magnitude != format.infinity)
      return notANumber;
    float infinity = std::numeric_limits<float>::infinity();
    return negative ? -infinity : infinity;
  }
  int exponent = magnitude >> format.mantissaBits;
  int mantissa = magnitude & ((1 << format.mantissaBits) - 1);
  if (exponent)
    mantissa += 1 << format.mantissaBits;
  else
    exponent = 1;
  float value = static_cast<float>(mantissa) *
                powerOfTwo(exponent - format.bias - format.mantissaBits);
  return negative ? -value : value;
}

float decodePowerOfTwo(uint8_t code) {
  if (code == 0xff)
    return notANumber;
  return code ? powerOfTwo(code - 127) : 0x1p-127f;
}

using Table = std::array<float, 256>;

Table makeTable(DType type) {
  Table table;
  const Format *format = formatOf(type);
  for (int code = 0; code < 256; ++code)
    table[code] = format ? decode(*format, code & (2 * format->signBit - 1))
                  : type == DType::F8E8M0 ? decodePowerOfTwo(code)
                                          : notANumber;
  return table;
}

uint8_t encode(const Format &format, float value, bool saturate) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint8_t sign = bits >> 31 ? format.signBit : 0;
  if (value != value) {
    if (format.nan < 0)
      return format.signBit;
    return format.unsignedNan ? format.nan : format.nan | sign;
  }
  float magnitude = std::fabs(value);
  int code = format.largest + 1;
  if (magnitude < powerOfTwo(40)) {
    int exponent =
        std::max(static_cast<int>(bits >> 23 & 0xff) - 127, 1 - format.bias);
    // In units of the last place; a carry out of the mantissa lands in the
    // exponent by itself.
    float units =
        std::nearbyint(magnitude * powerOfTwo(format.mantissaBits - exponent));
    code = static_cast<int>(units) +
           ((exponent + format.bias - 1) << format.mantissaBits);
  }
  if (code > format.largest) {
    if (saturate || format.nan < 0)
      code = format.largest;
    else if (format.infinity >= 0)
      code = format.infinity;
    else
      return format.unsignedNan ? format.nan : format.nan | sign;
  }
  if (code == 0 && format.unsignedNan)
    return 0;
  return static_cast<uint8_t>(code | sign);
}

uint8_t encodePowerOfTwo(float value, bool saturate, PowerRounding rounding) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t exponent = bits >> 23 & 0xff, mantissa = bits & 0x7fffff;
  if (exponent == 0xff)
    return 0xff;
  bool up = false;
  if (rounding == PowerRounding::Up)
    up = mantissa != 0;
  else if (rounding == PowerRounding::Nearest)
    up = mantissa > 0x400000 || (mantissa == 0x400000 && exponent > 0);
  if (up && !(saturate && exponent == 0xfe))
    ++exponent;
  return static_cast<uint8_t>(exponent);
}
} // namespace

const float *smallFloatTable(DType type) {
  static const Table e4m3fn = makeTable(DType::F8E4M3FN);
  static const Table e4m3fnuz = makeTable(DType::F8E4M3FNUZ);
  static const Table e5m2 = makeTable(DType::F8E5M2);
  static const Table e5m2fnuz = makeTable(DType::F8E5M2FNUZ);
  static const Table e2m1 = makeTable(DType::F4E2M1);
  static const Table e8m0 = makeTable(DType::F8E8M0);
  static const Table none = makeTable(DType::None);
  switch (type) {
  case DType::F8E4M3FN:
    return e4m3fn.data();
  case DType::F8E4M3FNUZ:
    return e4m3fnuz.data();
  case DType::F8E5M2:
    return e5m2.data();
  case DType::F8E5M2FNUZ:
    return e5m2fnuz.data();
  case DType::F4E2M1:
    return e2m1.data();
  case DType::F8E8M0:
    return e8m0.data();
  default:
    return none.data();
  }
}

float smallFloatToF32(DType type, uint8_t code) {
  return smallFloatTable(type)[code];
}

uint8_t f32ToSmallFloat(DType type, float value, bool saturate,
                        PowerRounding rounding) {
  if (const Format *format = formatOf(type))
    return encode(*format, value, saturate);
  return encodePowerOfTwo(value, saturate, rounding);
}

namespace {
template <typename T>
void loadElements(const void *data, int64_t first, int64_t count,
                  float *values) {
  const T *source = static_cast<const T *>(data) + first;
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(source[i]);
}

template <typename T>
void storeElements(const float *values, int64_t count, void *data,
                   int64_t first) {
  T *target = static_cast<T *>(data) + first;
  for (int64_t i = 0; i < count; ++i)
    target[i] = T(values[i]);
}

void loadPacked(DType type, const void *data, int64_t first, int64_t count,
                float *values) {
  int width = bitWidth(type);
  bool isSigned = type == DType::I4 || type == DType::I2;
  const float *table = type == DType::F4E2M1 ? smallFloatTable(type) : nullptr;
  for (int64_t i = 0; i < count; ++i) {
    uint8_t code = packedCode(data, first + i, width);
    values[i] = table      ? table[code]
                : isSigned ? static_cast<float>(signedCode(code, width))
                           : static_cast<float>(code);
  }
}
} // namespace

void loadAsF32(DType type, const void *data, int64_t first, int64_t count,
               float *values) {
  switch (type) {
  case DType::None:
    return;
  case DType::F32:
    return loadElements<float>(data, first, count, values);
  case DType::F64:
    return loadElements<double>(data, first, count, values);
  case DType::F16:
    return loadElements<F16>(data, first, count, values);
  case DType::BF16:
    return loadElements<BF16>(data, first, count, values);
  case DType::Bool:
  case DType::U8:
    return loadElements<uint8_t>(data, first, count, values);
  case DType::I8:
    return loadElements<int8_t>(data, first, count, values);
  case DType::U16:
    return loadElements<uint16_t>(data, first, count, values);
  case DType::I16:
    return loadElements<int16_t>(data, first, count, values);
  case DType::U32:
    return loadElements<uint32_t>(data, first, count, values);
  case DType::I32:
    return loadElements<int32_t>(data, first, count, values);
  case DType::U64:
    return loadElements<uint64_t>(data, first, count, values);
  case DType::I64:
    return loadElements<int64_t>(data, first, count, values);
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0: {
    const float *table = smallFloatTable(type);
    const uint8_t *codes = static_cast<const uint8_t *>(data) + first;
    for (int64_t i = 0; i < count; ++i)
      values[i] = table[codes[i]];
    return;
  }
  case DType::U4:
  case DType::I4:
  case DType::F4E2M1:
  case DType::U2:
  case DType::I2:
    return loadPacked(type, data, first, count, values);
  }
}

void storeFromF32(DType type, const float *values, int64_t count, void *data,
                  int64_t first) {
  switch (type) {
  case DType::F32:
    return storeElements<float>(values, count, data, first);
  case DType::F64:
    return storeElements<double>(values, count, data, first);
  case DType::F16:
    return storeElements<F16>(values, count, data, first);
  case DType::BF16:
    return storeElements<BF16>(values, count, data, first);
  case DType::F4E2M1:
    for (int64_t i = 0; i < count; ++i)
      setPackedCode(data, first + i, 4, f32ToSmallFloat(type, values[i]));
    return;
  default:
    break;
  }
  uint8_t *codes = static_cast<uint8_t *>(data) + first;
  if (isFloat(type))
    for (int64_t i = 0; i < count; ++i)
      codes[i] = f32ToSmallFloat(type, values[i]);
}

} // namespace sol
