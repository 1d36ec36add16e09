//===- dynamic_scale.h - one scale for a whole tensor, from its range -----===//
//
// What DynamicQuantizeLinear and the products that quantize their left operand
// share.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_DYNAMIC_SCALE_H
#define SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_DYNAMIC_SCALE_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sol::nn {

/// To the nearest whole number, ties to even; exact on every host.
inline float roundEven(float value) { return std::nearbyint(value); }

/// `value` (whole, or NaN) as an integer within [least, most]; NaN gives least.
inline int64_t clampToInteger(float value, int64_t least, int64_t most) {
  if (!(value > static_cast<float>(least)))
    return least;
  if (value >= static_cast<float>(most))
    return most;
  return static_cast<int64_t>(value);
}

/// Scale and zero point of uint8 codes for values in a range with 0 in it.
struct DynamicScale {
  float scale = 1;
  uint8_t zeroPoint = 0;

  uint8_t quantize(float value) const {
    return static_cast<uint8_t>(
        clampToInteger(roundEven(value / scale) + zeroPoint, 0, 255));
  }
};

/// The range of `count` values, widened to hold 0, over 255 steps. A range of
/// nothing but zeros has scale 1.
inline DynamicScale dynamicScale(const float *values, int64_t count) {
  float least = 0, most = 0;
  for (int64_t i = 0; i < count; ++i) {
    least = values[i] < least ? values[i] : least;
    most = values[i] > most ? values[i] : most;
  }
  DynamicScale result;
  if (most > least)
    result.scale = (most - least) / 255.0f;
  result.zeroPoint = static_cast<uint8_t>(
      clampToInteger(roundEven(-least / result.scale), 0, 255));
  return result;
}

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_DYNAMIC_SCALE_H
