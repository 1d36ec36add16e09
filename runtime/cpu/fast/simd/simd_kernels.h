//===- simd_kernels.h - inner loops, once for each processor level --------===//
//
// Loops over float32 lanes, compiled from one source for AVX2 with FMA and for
// any processor. Both give the same bits. `SOL_CPU=portable` or `SOL_CPU=avx2`
// in the environment forces one; otherwise the processor decides.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_FAST_SIMD_SIMD_KERNELS_H
#define SOL_RUNTIME_CPU_FAST_SIMD_SIMD_KERNELS_H

#include <stdint.h>

namespace sol::simd {

/// Element types that loops read and write; sums are float32 always.
enum class Storage { F32, F16, BF16 };
/// The bits of one 16-bit float.
struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

/// Activations of `nn.gate`.
enum class Gate { Silu, Gelu, GeluTanh, Relu, Sigmoid };

/// C (rows x columns) = A (rows x depth) times a matrix; strides in elements.
struct ProductShape {
  int64_t rows, depth, columns;
  int64_t strideA, strideC;
};

/// A matrix (rows are C's columns) of codes, each block of a row with a scale:
/// element = (code - zero point) * scale.
struct BlockCodes {
  const uint8_t *codes; ///< low bits first; rows are filled up to whole blocks
  int bits;             ///< 4 or 8
  int64_t block;        ///< codes that share a scale; a multiple of 8
  int64_t blocks, rowBytes;   ///< of a row
  const float *scales;        ///< [rows, blocks]
  const float *zeros;         ///< [rows, blocks], or null
  const uint8_t *packedZeros; ///< rows of codes, or null; both null: 2^(bits-1)
  int64_t zeroRowBytes;
};

/// The loops of one level. Columns are cut in panels of 16, numbered from 0;
/// products compute panels [firstPanel, lastPanel) of C.
struct SimdKernels {
  const char *name; ///< `avx2` or `portable`
  /// B as panels [ceil(columns/16)][depth][16] of `type`.
  void (*packedProduct)(const ProductShape &shape, const float *a, Storage type,
                        const void *panels, float *c, int64_t firstPanel,
                        int64_t lastPanel);
  /// B as depth x columns, or columns x depth if `transposed`.
  void (*plainProduct)(const ProductShape &shape, const float *a, Storage type,
                       const void *b, int64_t strideB, bool transposed,
                       float *c, int64_t firstPanel, int64_t lastPanel);
  /// B as codes.
  void (*blockProduct)(const ProductShape &shape, const float *a,
                       const BlockCodes &codes, float *c, int64_t firstPanel,
                       int64_t lastPanel);
  /// To float32 and back, rounding to nearest even.
  void (*widen)(Storage type, const void *from, float *to, int64_t count);
  void (*narrow)(Storage type, const float *from, void *to, int64_t count);
  /// y += x.
  void (*addRow)(const float *x, float *y, int64_t count);
  /// y = x / sqrt(mean(x x) + epsilon) * scale; `scale` may be null.
  void (*rmsNormRow)(const float *x, const float *scale, float *y,
                     int64_t count, float epsilon);
  /// Minus infinity for an empty row; NaN elements are passed over.
  float (*largestOfRow)(const float *x, int64_t count);
  /// y = e^(x - shift).
  void (*exponentialRow)(const float *x, float shift, float *y, int64_t count);
  /// 2 `pairs` entries of one head (see nn.rotary).
  void (*rotateRow)(const float *x, const float *cosine, const float *sine,
                    float *y, int64_t pairs, bool interleaved);
  /// y = gate(x) * up.
  void (*gateRow)(Gate gate, const float *x, const float *up, float *y,
                  int64_t count);
  /// result[t] = scale * (query . keys[t]) for `count` keys of `size` entries.
  void (*scores)(Storage type, const float *query, const void *keys,
                 int64_t count, int64_t size, float scale, float *result);
  /// x = cap * tanh(x / cap).
  void (*softCapRow)(float *x, int64_t count, float cap);
  /// x += mask, minus infinity where the mask is.
  void (*maskRow)(float *x, const float *mask, int64_t count);
  /// sum += weights[t] * values[t]; returns `total` plus the weights. Values
  /// of weight zero are not read.
  float (*weighValues)(Storage type, const float *weights, const void *values,
                       int64_t count, int64_t size, float *sum, float total);
  /// x /= divisor.
  void (*divideRow)(float *x, int64_t count, float divisor);
};

/// The level that this process uses.
const SimdKernels &simdKernels();
/// Loops for any processor.
const SimdKernels &portableKernels();
/// Loops with AVX2, FMA and F16C, or null if this processor or build has none.
const SimdKernels *avx2Kernels();

} // namespace sol::simd

#endif // SOL_RUNTIME_CPU_FAST_SIMD_SIMD_KERNELS_H
