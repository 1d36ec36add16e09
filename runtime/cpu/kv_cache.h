//===- kv_cache.h - keys or values of past positions, kept between runs ---===//
//
// One cache holds the keys, or the values, of one attention layer. Kernels read
// it through a page table and per-row lengths, so that paging, forks and
// unequal rows need no other kernels; a contiguous cache is one page a row.
// Memory belongs to the session (runtime/session), not to this view.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_KV_CACHE_H
#define SOL_RUNTIME_CPU_KV_CACHE_H

#include "runtime/cpu/tensor.h"

namespace sol {

/// A cache as kernels see it. An operand of type `!nn.cache` reaches a kernel
/// as a Tensor with the element type, dims = [batch, heads, length, headDim]
/// (length = the longest row's) and `data` pointing to one of these.
///
/// Page p of row b begins at `pages[b * pagesPerRow + p]` and holds, for each
/// head, `pageLength` positions of `headDim` elements:
/// [heads][pageLength][headDim]. Position t of row b, head h, is in page
/// t / pageLength at slot t % pageLength.
///
/// `nn.cache_append` writes behind `lengths[b]` in each row and then advances
/// it, so every cache has lengths of its own (keys and values share none). The
/// value before the append keeps the past length in its dims; the one after it
/// has the new length there, and both have the same `data`.
struct KvCache {
  DType type = DType::F32;
  int64_t batch = 0, heads = 0, headDim = 0;
  int64_t pageLength = 0;  ///< positions a page
  int64_t pagesPerRow = 0; ///< pages allocated for each row
  void **pages = nullptr;
  int64_t *lengths = nullptr; ///< positions in use, one number a row

  int64_t capacity() const { return pageLength * pagesPerRow; }
  /// First element of position `t` of head `h` in row `b`.
  char *at(int64_t b, int64_t h, int64_t t) const {
    char *page = static_cast<char *>(pages[b * pagesPerRow + t / pageLength]);
    int64_t element = (h * pageLength + t % pageLength) * headDim;
    return page + element * (bitWidth(type) / 8);
  }
};

} // namespace sol

#endif // SOL_RUNTIME_CPU_KV_CACHE_H
