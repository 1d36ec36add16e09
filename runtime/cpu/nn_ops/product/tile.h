//===- tile.h - the inner loop of every product ---------------------------===//
//
// A few rows times a panel of sixteen columns. Every product of this folder
// ends here, so that each of them has the same sum: one chain of fused
// multiply-adds over k = 0..depth-1, from zero, for each element, whatever the
// tiling.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_PRODUCT_TILE_H
#define SOL_RUNTIME_CPU_NN_OPS_PRODUCT_TILE_H

#include <cstdint>

namespace sol::nn {

/// Columns that one panel holds.
inline constexpr int64_t panelWidth = 16;

/// out[r * 16 + c] = sum over k of left[r * leftStride + k] *
/// panel[k * panelStride + c], for `rows` rows and all sixteen columns, which
/// must be readable. T is float or double (fused multiply-adds, also on
/// machines that lack the instruction), uint32_t or uint64_t (wrapping).
template <typename T>
void multiplyTile(int64_t rows, int64_t depth, const T *left,
                  int64_t leftStride, const T *panel, int64_t panelStride,
                  T *out);

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_PRODUCT_TILE_H
