//===- cache_storage.cpp - memory of a session's caches -------------------===//
//
// See cache_storage.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/cache_storage.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sol {

void CacheStorage::reset(DType type, int64_t batch, int64_t heads,
                         int64_t headDim) {
  bool same = cache.type == type && cache.batch == batch &&
              cache.heads == heads && cache.headDim == headDim;
  lengths.assign(batch, 0);
  if (same)
    return;
  cache = KvCache();
  cache.type = type;
  cache.batch = batch;
  cache.heads = heads;
  cache.headDim = headDim;
  cache.pageLength = cachePageLength;
  pages.clear();
  pages.resize(batch);
  table.clear();
}

absl::Status CacheStorage::reserve(int64_t positions) {
  int64_t wanted = (positions + cachePageLength - 1) / cachePageLength;
  if (wanted <= cache.pagesPerRow)
    return absl::OkStatus();
  int64_t bytes =
      byteCount(cache.type, cache.heads * cachePageLength * cache.headDim);
  for (std::vector<Page> &row : pages)
    while (static_cast<int64_t>(row.size()) < wanted) {
      Page page(static_cast<char *>(
                    std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64)),
                std::free);
      if (!page)
        return absl::ResourceExhaustedError(
            absl::StrCat("no memory for a cache of ", positions, " positions"));
      row.push_back(std::move(page));
    }
  cache.pagesPerRow = wanted;
  table.clear();
  for (const std::vector<Page> &row : pages)
    for (int64_t i = 0; i < wanted; ++i)
      table.push_back(row[i].get());
  return absl::OkStatus();
}

absl::Status CacheStorage::load(const Tensor &past) {
  reset(past.type, past.dims[0], past.dims[1], past.dims[3]);
  int64_t positions = past.dims[2];
  if (absl::Status status = reserve(positions); !status.ok())
    return status;
  cache.pages = table.data();
  int64_t vector = byteCount(past.type, past.dims[3]);
  const char *source = past.as<char>();
  for (int64_t b = 0; b < cache.batch; ++b)
    for (int64_t h = 0; h < cache.heads; ++h)
      for (int64_t t = 0; t < positions; t += cachePageLength) {
        int64_t bytes = std::min(cachePageLength, positions - t) * vector;
        std::memcpy(cache.at(b, h, t), source, bytes);
        source += bytes;
      }
  std::fill(lengths.begin(), lengths.end(), positions);
  return absl::OkStatus();
}

void CacheStorage::store(char *target) const {
  int64_t vector = byteCount(cache.type, cache.headDim);
  for (int64_t b = 0; b < cache.batch; ++b)
    for (int64_t h = 0; h < cache.heads; ++h)
      for (int64_t t = 0; t < length(); t += cachePageLength) {
        int64_t bytes = std::min(cachePageLength, length() - t) * vector;
        std::memcpy(target, cache.at(b, h, t), bytes);
        target += bytes;
      }
}

absl::Status CacheStorage::makeBuffer(DType type, int64_t batch, int64_t heads,
                                      int64_t capacity, int64_t headDim) {
  reset(type, batch, heads, headDim);
  if (absl::Status status = reserve(capacity); !status.ok())
    return status;
  std::fill(lengths.begin(), lengths.end(), capacity);
  written = capacity;
  clearFrom(0);
  return absl::OkStatus();
}

absl::Status CacheStorage::expectWrites(int64_t end) {
  if (end > length())
    return absl::OutOfRangeError(
        absl::StrCat("a sequence of ", end, " tokens is beyond the ", length(),
                     " positions of the model's buffer"));
  written = std::max(written, end);
  return absl::OkStatus();
}

void CacheStorage::clearFrom(int64_t position) {
  cache.pages = table.data();
  int64_t vector = byteCount(cache.type, cache.headDim);
  int64_t end = std::min(written, length());
  for (int64_t b = 0; b < cache.batch; ++b)
    for (int64_t h = 0; h < cache.heads; ++h)
      for (int64_t t = position; t < end;) {
        int64_t run = std::min(cachePageLength - t % cachePageLength, end - t);
        std::memset(cache.at(b, h, t), 0, run * vector);
        t += run;
      }
  written = std::min(written, position);
}

void CacheStorage::truncate(int64_t length) {
  for (int64_t &row : lengths)
    row = std::min(row, length);
}

Tensor CacheStorage::view() {
  cache.pages = table.data();
  cache.lengths = lengths.data();
  Tensor tensor;
  tensor.type = cache.type;
  tensor.dims = {cache.batch, cache.heads, length(), cache.headDim};
  tensor.data = &cache;
  return tensor;
}

} // namespace sol
