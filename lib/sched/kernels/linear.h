//===- linear.h - products, norms and what lies between them -------------===//
//
// Kernels on sharded vectors. A product takes a vector along one axis and
// leaves its result along the other, so consecutive products need no
// transpose. Each function appends code; operands are read when that runs.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SCHED_KERNELS_LINEAR_H
#define SOL_LIB_SCHED_KERNELS_LINEAR_H

#include "lib/sched/kernels/region/region_writer.h"

namespace sol::fabric {

/// y = x W (+ bias), W of K x N elements with K = x.size. Each PE multiplies
/// its K/h x N/w elements, then the sums go along x's axis, one reduction for
/// all tokens. `bias` may be empty; it holds matrices of one row.
Sharded product(RegionWriter &writer, const Sharded &x, const Weights &weights,
                int64_t n, ElementType storage, const Weights &bias = {});

/// y = x / sqrt(mean of squares + epsilon) * (gain + gainShift).
Sharded rmsNorm(RegionWriter &writer, const Sharded &x, const Weights &gain,
                float epsilon, float gainShift = 0);

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias; `bias` may be
/// empty.
Sharded layerNorm(RegionWriter &writer, const Sharded &x, const Weights &gain,
                  const Weights &bias, float epsilon);

/// x += y.
void addResidual(RegionWriter &writer, const Sharded &x, const Sharded &y);

/// down(activation(x gate) * (x up)); gate and up are one product with one
/// reduction. `activation` is Silu, Gelu, GeluTanh or Relu.
Sharded gatedMlp(RegionWriter &writer, const Sharded &x, const Weights &gate,
                 const Weights &up, const Weights &down, int64_t hidden,
                 Opcode activation, ElementType storage);

/// A vector whose element i is that of a matrix of one row; the same for every
/// token. Kept: not scratch.
Sharded weightVector(RegionWriter &writer, const std::string &name, Axis axis,
                     int64_t size, const Weights &weights);

} // namespace sol::fabric

#endif // SOL_LIB_SCHED_KERNELS_LINEAR_H
