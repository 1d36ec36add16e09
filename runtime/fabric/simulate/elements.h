//===- elements.h - one element of a buffer in a PE's memory --------------===//
//
// Buffers hold float32 or float16; arithmetic is in float32.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_SIMULATE_ELEMENTS_H
#define SOL_RUNTIME_FABRIC_SIMULATE_ELEMENTS_H

#include "runtime/cpu/number_formats.h"
#include "runtime/fabric/program/program.h"

#include <cstring>

namespace sol::fabric {

/// Element `at` of a buffer at `base`.
inline float readElement(const uint8_t *base, ElementType type, int64_t at) {
  if (type == ElementType::Float16) {
    uint16_t half;
    std::memcpy(&half, base + 2 * at, 2);
    return f16ToF32(half);
  }
  float value;
  std::memcpy(&value, base + 4 * at, 4);
  return value;
}

/// Sets element `at`, rounded to the buffer's type.
inline void writeElement(uint8_t *base, ElementType type, int64_t at,
                         float value) {
  if (type == ElementType::Float16) {
    uint16_t half = f32ToF16(value);
    std::memcpy(base + 2 * at, &half, 2);
  } else {
    std::memcpy(base + 4 * at, &value, 4);
  }
}

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_ELEMENTS_H
