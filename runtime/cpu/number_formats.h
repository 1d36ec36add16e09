//===- number_formats.h - conversions to and from narrow numbers ----------===//
//
// float16, bfloat16, the 8-bit and 4-bit floats and the packed 2- and 4-bit
// integers. Every conversion rounds once, to nearest with ties to even, and
// uses integer arithmetic alone, so that results are the same on every host.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NUMBER_FORMATS_H
#define SOL_RUNTIME_CPU_NUMBER_FORMATS_H

#include "runtime/cpu/tensor.h"

#include <bit>

namespace sol {

/// The float32 with the value of a float16; exact.
inline float f16ToF32(uint16_t half) {
  uint32_t magnitude = half & 0x7fffu;
  // 2^112 moves the exponent's bias from 15 to 127, denormals included.
  uint32_t bits =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
  bits |= magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(bits | (uint32_t(half) & 0x8000u) << 16);
}

/// Rounds to float16; beyond 65504 (after rounding) infinity, NaN stays NaN.
inline uint16_t f32ToF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7fffffffu;
  // Adding 0.5, whose last bit is 2^-24, lets the addition round a denormal.
  uint32_t small =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
      0x3f000000u;
  uint32_t normal =
      (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  uint32_t large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  uint32_t half = magnitude < 0x38800000u ? small : normal;
  half = magnitude >= 0x47800000u ? large : half;
  return static_cast<uint16_t>(half | (bits >> 16 & 0x8000u));
}

/// The float32 with the value of a bfloat16; exact.
inline float bf16ToF32(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// Rounds to bfloat16; NaN stays a quiet NaN.
inline uint16_t f32ToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  bool isNaN = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>(isNaN ? (bits >> 16 | 0x40u) : rounded);
}

/// A float32 from which any narrower format rounds as from `value` itself:
/// the float32 below it in magnitude with its last bit set if inexact.
float roundToOdd(double value);

/// Storage types: as wide as what memory holds, with float32 as their value.
struct F16 {
  uint16_t bits;
  F16() = default;
  explicit F16(float value) : bits(f32ToF16(value)) {}
  operator float() const { return f16ToF32(bits); }
};
struct BF16 {
  uint16_t bits;
  BF16() = default;
  explicit BF16(float value) : bits(f32ToBf16(value)) {}
  operator float() const { return bf16ToF32(bits); }
};

/// How a value between two powers of two becomes float8e8m0.
enum class PowerRounding { Up, Down, Nearest };

/// The value of an element of an 8-bit or 4-bit float type (`code` holds the 4
/// bits); exact. NaN for a type that is none of those.
float smallFloatToF32(DType type, uint8_t code);
/// The 256 values of an 8-bit float type (the 16 of float4e2m1, repeated).
const float *smallFloatTable(DType type);
/// Rounds to an 8-bit or 4-bit float type. Out of range (infinities included)
/// gives the largest finite value if `saturate`, else infinity or, in types
/// without one, NaN; float4e2m1 always saturates, and has no NaN: it takes the
/// code of negative zero.
uint8_t f32ToSmallFloat(DType type, float value, bool saturate = true,
                        PowerRounding rounding = PowerRounding::Up);

/// Element `index` of packed elements of `width` bits (2 or 4), unsigned.
inline uint8_t packedCode(const void *data, int64_t index, int width) {
  int perByte = 8 / width;
  uint8_t byte = static_cast<const uint8_t *>(data)[index / perByte];
  return (byte >> (index % perByte * width)) & ((1 << width) - 1);
}
/// Sets element `index` to the low `width` bits of `code`, its neighbours kept.
inline void setPackedCode(void *data, int64_t index, int width, uint8_t code) {
  int perByte = 8 / width, shift = static_cast<int>(index % perByte) * width;
  uint8_t mask = ((1 << width) - 1) << shift;
  uint8_t &byte = static_cast<uint8_t *>(data)[index / perByte];
  byte = (byte & ~mask) | ((code << shift) & mask);
}
/// The two's complement value of the low `width` bits of `code`.
inline int signedCode(uint8_t code, int width) {
  int sign = 1 << (width - 1);
  return ((code & ((1 << width) - 1)) ^ sign) - sign;
}

/// Elements [first, first + count) of a tensor of any type as float32, rounded
/// to nearest where the type is wider.
void loadAsF32(DType type, const void *data, int64_t first, int64_t count,
               float *values);
/// Stores `values` as elements [first, first + count) of a tensor of any
/// floating-point type; the 8-bit ones saturate.
void storeFromF32(DType type, const float *values, int64_t count, void *data,
                  int64_t first);

} // namespace sol

#endif // SOL_RUNTIME_CPU_NUMBER_FORMATS_H
