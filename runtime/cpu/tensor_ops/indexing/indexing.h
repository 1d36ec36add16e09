//===- indexing.h - what the indexing kernels share -----------------------===//
#ifndef SOL_RUNTIME_CPU_TENSOR_OPS_INDEXING_INDEXING_H
#define SOL_RUNTIME_CPU_TENSOR_OPS_INDEXING_INDEXING_H

#include "runtime/cpu/tensor_ops/words.h"

namespace sol::ops {

/// The families that registerIndexingKernels adds.
void registerGatherKernels();
void registerScatterKernels();
void registerSelectKernels();
void registerSortKernels();

/// Element `i` of an int32 or int64 tensor.
inline int64_t indexAt(const Tensor &indices, int64_t i) {
  return indices.type == DType::I32 ? indices.as<int32_t>()[i]
                                    : indices.as<int64_t>()[i];
}
/// The same counted from the front; valid after checkIndices.
inline int64_t frontIndexAt(const Tensor &indices, int64_t i, int64_t size) {
  int64_t index = indexAt(indices, i);
  return index < 0 ? index + size : index;
}
absl::Status checkIndexType(const Tensor &indices, std::string_view name);
/// Every index lies in [-size, size); the error names index, axis and range.
absl::Status checkIndices(const Tensor &indices, int64_t axis, int64_t size);
/// Indices with a place for each of their elements (GatherElements,
/// ScatterElements): the data's rank, and no longer than it but along `axis`.
absl::Status checkElementwiseIndices(const KernelCall &call, const Tensor &data,
                                     const Tensor &indices);
/// Indices that are rows of places along axes first, first + 1, … of `dims`.
absl::Status checkIndexTuples(const Tensor &indices,
                              absl::Span<const int64_t> dims, int64_t first);
/// Offset, in elements, of the slice that row `row` of such indices names.
int64_t tupleOffset(const Tensor &indices, int64_t row,
                    absl::Span<const int64_t> dims, int64_t first);

} // namespace sol::ops

#endif // SOL_RUNTIME_CPU_TENSOR_OPS_INDEXING_INDEXING_H
