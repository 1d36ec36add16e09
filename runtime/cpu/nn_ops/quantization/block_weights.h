//===- block_weights.h - matrices of packed codes with block scales -------===//
//
// A weight matrix [columns, depth] of 2-, 4- or 8-bit codes, each block of
// which along `depth` has a scale and perhaps a zero point. Products read it a
// panel at a time; it never exists dequantized as a whole.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_BLOCK_WEIGHTS_H
#define SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_BLOCK_WEIGHTS_H

#include "runtime/cpu/tensor.h"

namespace sol::nn {

/// weight[n][k] = (code - zero point) * scale, in float32.
struct BlockWeights {
  const uint8_t *codes = nullptr; ///< rows of `rowBytes`, low bits first
  int bits = 4;
  int64_t depth = 0;
  int64_t block = 0;  ///< codes that share a scale
  int64_t blocks = 0; ///< in a row
  int64_t rowBytes = 0;
  const Tensor *scales = nullptr; ///< [rows, blocks], any float type
  int64_t firstScale = 0;         ///< element of the first row's first scale
  /// Null: 2^(bits-1). uint8: codes packed row by row into `zeroRowBytes`.
  /// Float: [rows, blocks].
  const Tensor *zeros = nullptr;
  int64_t firstZero = 0, zeroRowBytes = 0;
  const int32_t *groups = nullptr; ///< block of each k, or null for k / block

  /// Writes rows [column, column + count) of the matrix as columns of a panel:
  /// panel[k * 16 + c]; the rest of the sixteen is zero.
  void fill(int64_t column, int64_t count, float *panel) const;

private:
  float zeroPoint(int64_t row, int64_t blockNumber) const;
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_QUANTIZATION_BLOCK_WEIGHTS_H
