//===- cache.cpp - nn.cache_append, _fill, _write, _length, _shape, _read -===//
//
// Copies between tensors and the pages of a cache. Memory and capacity are the
// session's; a step that does not fit is refused before anything is written.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/cache_operand.h"
#include "runtime/cpu/fast/families.h"
#include "runtime/cpu/fast/operands.h"

#include <algorithm>
#include <cstring>

namespace sol::fast {
namespace {

absl::Status noCache() {
  return absl::FailedPreconditionError(
      "operand `cache` has no memory; caches live in a session");
}

/// A tensor for a cache: of its type, and of its sizes but for the positions.
absl::Status checkStep(const Tensor &cache, const Tensor &step,
                       std::string_view name) {
  SOL_NN_TRY(checkCache(cache, "cache"));
  SOL_NN_TRY(checkRank(step, name, 4, 4));
  SOL_NN_TRY(nn::checkSameType(step, name, cache.type));
  Dims wanted = cache.dims;
  wanted[2] = step.dims[2];
  return checkDims(step, name, wanted);
}

/// Output 0 is the cache itself, now of `positions` positions.
absl::Status giveCache(const Tensor &cache, int64_t positions, Outputs out) {
  Dims dims = cache.dims;
  dims[2] = positions;
  SOL_NN_TRY(setOutput(out, 0, cache.type, dims));
  if (Tensor *result = nn::outputAt(out, 0))
    result->data = cache.data;
  return absl::OkStatus();
}

absl::Status inferAppend(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 3));
  SOL_NN_TRY(checkStep(in[0], in[1], "step"));
  if (const Tensor *offsets = operandAt(in, 2)) {
    SOL_NN_TRY(nn::checkType(*offsets, "offsets", {DType::I64}));
    SOL_NN_TRY(checkDims(*offsets, "offsets", Dims{in[0].dims[0]}));
  }
  return giveCache(in[0], in[0].dims[2] + in[1].dims[2], out);
}

absl::Status inferFill(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 2));
  SOL_NN_TRY(checkStep(in[0], in[1], "tensor"));
  return giveCache(in[0], in[1].dims[2], out);
}

absl::Status inferWrite(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 3, 3));
  SOL_NN_TRY(checkStep(in[0], in[1], "step"));
  SOL_NN_ASSIGN(int64_t starts, call.attributes.integer("starts", 0));
  SOL_NN_TRY(nn::checkType(in[2], "positions", {DType::I64}));
  SOL_NN_TRY(checkDims(in[2], "positions",
                       Dims{starts != 0 ? in[0].dims[0] : in[1].dims[2]}));
  return giveCache(in[0], in[0].dims[2], out);
}

/// Positions that a step is written at. Whatever isn't in the buffer is refused
/// before anything is written.
struct Places {
  const int64_t *numbers;
  bool starts; ///< a number a row, of which the step's entries count on
  int64_t length;

  int64_t at(int64_t b, int64_t i) const {
    int64_t position = starts ? numbers[b] + i : numbers[i];
    return position < 0 ? position + length : position;
  }
  absl::Status check(int64_t batch, int64_t positions) const {
    for (int64_t b = 0; starts && b < batch; ++b)
      if (numbers[b] < 0 || numbers[b] > length - positions)
        return absl::OutOfRangeError(absl::StrCat(
            "row ", b, " begins at position ", numbers[b], " with ", positions,
            " more, the buffer has ", length));
    for (int64_t i = 0; !starts && i < positions; ++i)
      if (numbers[i] < -length || numbers[i] >= length)
        return absl::OutOfRangeError(absl::StrCat(
            "position ", numbers[i], " is outside of a buffer of ", length));
    return absl::OkStatus();
  }
};

absl::Status runWrite(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out) {
  if (!in[0].data)
    return noCache();
  KvCache &cache = *static_cast<KvCache *>(in[0].data);
  SOL_NN_ASSIGN(int64_t starts, call.attributes.integer("starts", 0));
  // What a row holds doesn't change, so nothing may be written behind it.
  int64_t length = in[0].dims[2], positions = in[1].dims[2];
  for (int64_t b = 0; b < cache.batch; ++b)
    if (cache.lengths[b] != length || length > cache.capacity())
      return invalid("row ", b, " of the cache holds ", cache.lengths[b],
                     " positions, a buffer of ", length, " is written");
  Places places{in[2].as<int64_t>(), starts != 0, length};
  SOL_NN_TRY(places.check(cache.batch, positions));
  size_t bytes =
      static_cast<size_t>(cache.headDim * (bitWidth(cache.type) / 8));
  const char *from = in[1].as<char>();
  context.parallelFor(
      cache.batch * cache.heads, rowGrain(positions * cache.headDim, 1 << 16),
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          int64_t b = row / cache.heads, h = row % cache.heads;
          for (int64_t i = 0; i < positions; ++i)
            std::memcpy(cache.at(b, h, places.at(b, i)),
                        from + static_cast<size_t>(row * positions + i) * bytes,
                        bytes);
        }
      });
  out[0].data = in[0].data;
  return absl::OkStatus();
}

/// Takes back what rows hold from their offsets on.
absl::Status takeBack(KvCache &cache, const int64_t *offsets) {
  for (int64_t b = 0; b < cache.batch; ++b)
    if (offsets[b] < 0 || offsets[b] > cache.lengths[b])
      return absl::InvalidArgumentError(absl::StrCat(
          "row ", b, " begins at position ", offsets[b], ", the cache holds ",
          cache.lengths[b], "; a row must begin at most behind what it holds"));
  std::copy(offsets, offsets + cache.batch, cache.lengths);
  return absl::OkStatus();
}

/// Writes `step` behind what each row holds.
absl::Status append(KvCache &cache, const Tensor &step,
                    KernelContext &context) {
  int64_t positions = step.dims[2];
  for (int64_t b = 0; b < cache.batch; ++b)
    if (cache.lengths[b] + positions > cache.capacity())
      return absl::ResourceExhaustedError(absl::StrCat(
          "row ", b, " holds ", cache.lengths[b], " positions and gets ",
          positions, " more, the cache has room for ", cache.capacity(),
          "; compile with a larger --context"));
  size_t bytes =
      static_cast<size_t>(cache.headDim * (bitWidth(cache.type) / 8));
  const char *from = step.as<char>();
  context.parallelFor(
      cache.batch * cache.heads, rowGrain(positions * cache.headDim, 1 << 16),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t b = i / cache.heads, h = i % cache.heads;
          for (int64_t t = 0; t < positions;) {
            int64_t at = cache.lengths[b] + t;
            int64_t run = std::min(cache.pageLength - at % cache.pageLength,
                                   positions - t);
            std::memcpy(cache.at(b, h, at),
                        from + static_cast<size_t>(i * positions + t) * bytes,
                        static_cast<size_t>(run) * bytes);
            t += run;
          }
        }
      });
  for (int64_t b = 0; b < cache.batch; ++b)
    cache.lengths[b] += positions;
  return absl::OkStatus();
}

absl::Status runAppend(const KernelCall &call, KernelContext &context,
                       Inputs in, Outputs out) {
  if (!in[0].data)
    return noCache();
  KvCache &cache = *static_cast<KvCache *>(in[0].data);
  if (const Tensor *offsets = operandAt(in, 2))
    SOL_NN_TRY(takeBack(cache, offsets->as<int64_t>()));
  SOL_NN_TRY(append(cache, in[1], context));
  out[0].data = in[0].data;
  return absl::OkStatus();
}

absl::Status runFill(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  if (!in[0].data)
    return noCache();
  KvCache &cache = *static_cast<KvCache *>(in[0].data);
  std::fill(cache.lengths, cache.lengths + cache.batch, 0);
  SOL_NN_TRY(append(cache, in[1], context));
  out[0].data = in[0].data;
  return absl::OkStatus();
}

absl::Status inferLength(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 1));
  SOL_NN_TRY(checkCache(in[0], "cache"));
  return setOutput(out, 0, DType::I64, {});
}

absl::Status runLength(const KernelCall &call, KernelContext &context,
                       Inputs in, Outputs out) {
  *out[0].as<int64_t>() = in[0].dims[2];
  return absl::OkStatus();
}

absl::Status inferShape(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 1));
  SOL_NN_TRY(checkCache(in[0], "cache"));
  return setOutput(out, 0, DType::I64, {4});
}

absl::Status runShape(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out) {
  std::copy(in[0].dims.begin(), in[0].dims.end(), out[0].as<int64_t>());
  return absl::OkStatus();
}

absl::Status inferRead(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 1));
  SOL_NN_TRY(checkCache(in[0], "cache"));
  return setOutput(out, 0, in[0].type, in[0].dims);
}

/// Positions that a shorter row lacks read as zero.
absl::Status runRead(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  if (!in[0].data)
    return noCache();
  const KvCache &cache = *in[0].as<KvCache>();
  int64_t length = in[0].dims[2];
  auto bytes = static_cast<size_t>(cache.headDim * (bitWidth(cache.type) / 8));
  char *to = out[0].as<char>();
  context.parallelFor(
      cache.batch * cache.heads, rowGrain(length * cache.headDim, 1 << 16),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t b = i / cache.heads, h = i % cache.heads;
          int64_t held = std::min(length, cache.lengths[b]);
          char *head = to + static_cast<size_t>(i * length) * bytes;
          for (int64_t t = 0; t < held;) {
            int64_t run =
                std::min(cache.pageLength - t % cache.pageLength, held - t);
            std::memcpy(head + static_cast<size_t>(t) * bytes,
                        cache.at(b, h, t), static_cast<size_t>(run) * bytes);
            t += run;
          }
          std::memset(head + static_cast<size_t>(held) * bytes, 0,
                      static_cast<size_t>(length - held) * bytes);
        }
      });
  return absl::OkStatus();
}

} // namespace

absl::Status checkCache(const Tensor &tensor, const char *name) {
  SOL_NN_TRY(checkRank(tensor, name, 4, 4));
  const auto *cache = static_cast<const KvCache *>(tensor.data);
  if (!cache)
    return absl::OkStatus(); // inference ahead of a session
  if (cache->type != tensor.type || cache->batch != tensor.dims[0] ||
      cache->heads != tensor.dims[1] || cache->headDim != tensor.dims[3])
    return invalid("cache `", name, "` holds ", dtypeName(cache->type), " [",
                   cache->batch, ", ", cache->heads, ", length, ",
                   cache->headDim, "], the step has ", dtypeName(tensor.type),
                   " ", dimsToString(tensor.dims));
  return absl::OkStatus();
}

void registerCacheKernels() {
  registerKernel({"nn.cache_append", nullptr, inferAppend, runAppend});
  registerKernel({"nn.cache_fill", nullptr, inferFill, runFill});
  registerKernel({"nn.cache_write", nullptr, inferWrite, runWrite});
  registerKernel({"nn.cache_length", nullptr, inferLength, runLength});
  registerKernel({"nn.cache_shape", nullptr, inferShape, runShape});
  registerKernel({"nn.cache_read", nullptr, inferRead, runRead});
}

} // namespace sol::fast
