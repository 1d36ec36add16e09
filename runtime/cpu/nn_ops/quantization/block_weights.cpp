//===- block_weights.cpp - matrices of packed codes with block scales -----===//
//
// See block_weights.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/quantization/block_weights.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/product/tile.h"

namespace sol::nn {

float BlockWeights::zeroPoint(int64_t row, int64_t blockNumber) const {
  if (!zeros)
    return static_cast<float>(1 << (bits - 1));
  float value;
  if (zeros->type != DType::U8) {
    loadRow(*zeros, firstZero + row * blocks + blockNumber, 1, &value);
    return value;
  }
  const uint8_t *bytes = zeros->as<uint8_t>() + firstZero + row * zeroRowBytes;
  return bits == 8 ? bytes[blockNumber] : packedCode(bytes, blockNumber, bits);
}

void BlockWeights::fill(int64_t column, int64_t count, float *panel) const {
  for (int64_t c = 0; c < panelWidth; ++c) {
    if (c >= count) {
      for (int64_t k = 0; k < depth; ++k)
        panel[k * panelWidth + c] = 0;
      continue;
    }
    int64_t row = column + c;
    const uint8_t *bytes = codes + row * rowBytes;
    auto code = [&](int64_t k) -> float {
      return bits == 8 ? bytes[k] : packedCode(bytes, k, bits);
    };
    float scale = 0, zero = 0;
    auto enter = [&](int64_t b) {
      loadRow(*scales, firstScale + row * blocks + b, 1, &scale);
      zero = zeroPoint(row, b);
    };
    if (groups) {
      for (int64_t k = 0; k < depth; ++k) {
        enter(groups[k]);
        panel[k * panelWidth + c] = (code(k) - zero) * scale;
      }
      continue;
    }
    for (int64_t b = 0; b < blocks; ++b) {
      enter(b);
      for (int64_t k = b * block, end = std::min(depth, k + block); k < end;
           ++k)
        panel[k * panelWidth + c] = (code(k) - zero) * scale;
    }
  }
}

} // namespace sol::nn
