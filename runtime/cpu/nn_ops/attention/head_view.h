//===- head_view.h - head h of position i, wherever it is stored ----------===//
//
// Queries, keys and values arrive as [batch, heads, length, size], as
// [batch, length, heads * size], or packed together; a view gives the first
// element of one head at one position.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_ATTENTION_HEAD_VIEW_H
#define SOL_RUNTIME_CPU_NN_OPS_ATTENTION_HEAD_VIEW_H

#include "runtime/cpu/nn_ops/elements.h"

namespace sol::nn {

/// Steps count elements.
struct HeadView {
  const Tensor *tensor = nullptr;
  int64_t heads = 0, length = 0, size = 0;
  int64_t offset = 0, batchStep = 0, headStep = 0, positionStep = 0;

  /// [batch, heads, length, size].
  static HeadView split(const Tensor &tensor) {
    int64_t heads = tensor.dims[1], length = tensor.dims[2],
            size = tensor.dims[3];
    return {&tensor,       heads, length, size, 0, heads * length * size,
            length * size, size};
  }
  /// [batch, length, width] with heads of `size` beginning at `offset`.
  static HeadView joined(const Tensor &tensor, int64_t heads, int64_t size,
                         int64_t offset = 0) {
    int64_t length = tensor.dims[1], width = tensor.dims[2];
    return {&tensor, heads, length, size, offset, length * width, size, width};
  }
  int64_t at(int64_t b, int64_t head, int64_t position) const {
    return offset + b * batchStep + head * headStep + position * positionStep;
  }
  template <typename T>
  void load(int64_t b, int64_t head, int64_t position, T *row) const {
    loadRow(*tensor, at(b, head, position), size, row);
  }
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_ATTENTION_HEAD_VIEW_H
