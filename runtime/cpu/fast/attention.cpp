//===- attention.cpp - nn.attention ---------------------------------------===//
//
// A query's scores over all positions are kept in one row, so that its softmax
// has one maximum and one sum in order of position. A key that is masked out,
// or whose weight underflows, is no term of either; hence the result has the
// same bits for any chunk of queries, any padding before or behind the keys it
// sees, and any thread count. Keys and values are read where they lie, in a
// tensor or in the pages of a cache, once for a block of queries that share
// them.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/cache_operand.h"
#include "runtime/cpu/fast/families.h"
#include "runtime/cpu/fast/operands.h"
#include "runtime/cpu/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace sol::fast {
namespace {

using simd::simdKernels;
using simd::Storage;

/// Keys and values read together, so that they stay in the first-level cache
/// while a block of queries passes over them.
constexpr int64_t runLength = 64;
constexpr float minusInfinity = -std::numeric_limits<float>::infinity();

enum class MaskedRows { Zero, NaN, Mean };

/// Keys or values: a tensor, or a cache if `cache` is set.
struct Positions {
  const Tensor *tensor = nullptr;
  const KvCache *cache = nullptr;
  int64_t heads = 0, length = 0, size = 0;

  /// Positions of row `b` that hold something.
  int64_t held(int64_t b) const {
    return cache ? std::min(length, cache->lengths[b]) : length;
  }
  const void *at(int64_t b, int64_t h, int64_t t) const {
    if (cache)
      return cache->at(b, h, t);
    return static_cast<const char *>(tensor->data) +
           ((b * heads + h) * length + t) * size * (bitWidth(tensor->type) / 8);
  }
  /// End of the stretch that begins at `t` and lies in one piece.
  int64_t runEnd(int64_t t, int64_t last) const {
    int64_t end = std::min(t + runLength, last);
    return cache
               ? std::min(end, (t / cache->pageLength + 1) * cache->pageLength)
               : end;
  }
};

struct Attention {
  int64_t batch, queryHeads, steps, size, valueSize;
  Positions keys, values;
  const Tensor *query = nullptr, *mask = nullptr, *sinks = nullptr;
  const int64_t *offsets = nullptr; ///< position of each row's first query
  Dims maskSteps;
  float scale = 1, softcap = 0;
  MaskedRows maskedRows = MaskedRows::Zero;
  bool cached = false, causal = false;
  int64_t window = 0; ///< positions that a causal query sees, 0: all
  /// Position of query `step` of row `b`.
  int64_t position(int64_t b, int64_t step) const {
    return (offsets ? offsets[b] : keys.held(b) - steps) + step;
  }
  int64_t group() const { return queryHeads / keys.heads; }
};

absl::Status readPositions(const Tensor &tensor, const char *name, bool cached,
                           Positions &positions) {
  SOL_NN_TRY(checkStorage(tensor, name));
  SOL_NN_TRY(checkRank(tensor, name, 4, 4));
  positions.tensor = &tensor;
  if (cached) {
    SOL_NN_TRY(checkCache(tensor, name));
    positions.cache = tensor.as<KvCache>();
  }
  positions.heads = tensor.dims[1];
  positions.length = tensor.dims[2];
  positions.size = tensor.dims[3];
  return absl::OkStatus();
}

absl::Status readAttributes(const KernelCall &call, Attention &attention) {
  SOL_NN_ASSIGN(attention.scale, call.attributes.real("scale", 1));
  SOL_NN_ASSIGN(attention.softcap, call.attributes.real("softcap", 0));
  SOL_NN_ASSIGN(int64_t causal, call.attributes.integer("causal", 0));
  attention.causal = causal != 0;
  SOL_NN_ASSIGN(attention.window, call.attributes.integer("window", 0));
  if (attention.window < 0)
    return invalid("attribute `window` is ", attention.window,
                   ", must not be negative");
  SOL_NN_ASSIGN(std::string masked,
                call.attributes.text("masked_rows", "zero"));
  if (masked != "zero" && masked != "nan" && masked != "mean")
    return invalid("attribute `masked_rows` is \"", masked,
                   "\", must be zero, nan or mean");
  attention.maskedRows = masked == "zero"  ? MaskedRows::Zero
                         : masked == "nan" ? MaskedRows::NaN
                                           : MaskedRows::Mean;
  return absl::OkStatus();
}

absl::Status readMaskAndSinks(Inputs in, Attention &attention) {
  attention.mask = operandAt(in, 3);
  if (attention.mask) {
    SOL_NN_TRY(
        nn::checkType(*attention.mask, "mask",
                      {DType::Bool, DType::F32, DType::F16, DType::BF16}));
    SOL_NN_ASSIGN(attention.maskSteps,
                  nn::broadcastSteps(attention.mask->dims,
                                     {attention.batch, attention.queryHeads,
                                      attention.steps, attention.keys.length},
                                     "mask"));
  }
  attention.sinks = operandAt(in, 4);
  if (attention.sinks) {
    SOL_NN_TRY(checkStorage(*attention.sinks, "sinks"));
    SOL_NN_TRY(
        nn::checkElements(*attention.sinks, "sinks", attention.queryHeads));
  }
  return absl::OkStatus();
}

absl::Status readOffsets(Inputs in, Attention &attention) {
  const Tensor *offsets = operandAt(in, 5);
  if (!offsets)
    return absl::OkStatus();
  SOL_NN_TRY(nn::checkType(*offsets, "offsets", {DType::I64}));
  SOL_NN_TRY(checkDims(*offsets, "offsets", Dims{attention.batch}));
  attention.offsets = offsets->as<int64_t>();
  return absl::OkStatus();
}

absl::StatusOr<Attention> describe(const KernelCall &call, Inputs in) {
  Attention attention{};
  SOL_NN_TRY(checkCount(in, 3, 6));
  SOL_NN_TRY(checkStorage(in[0], "query"));
  SOL_NN_TRY(checkRank(in[0], "query", 4, 4));
  SOL_NN_ASSIGN(int64_t cached, call.attributes.integer("cached", 0));
  SOL_NN_TRY(readPositions(in[1], "key", cached != 0, attention.keys));
  SOL_NN_TRY(readPositions(in[2], "value", cached != 0, attention.values));
  attention.cached = cached != 0;
  attention.query = &in[0];
  attention.batch = in[0].dims[0];
  attention.queryHeads = in[0].dims[1];
  attention.steps = in[0].dims[2];
  attention.size = in[0].dims[3];
  attention.valueSize = attention.values.size;
  int64_t heads = attention.keys.heads;
  if (in[1].dims[0] != attention.batch || in[2].dims[0] != attention.batch ||
      attention.keys.size != attention.size || heads < 1 ||
      attention.queryHeads % heads != 0 || attention.values.heads != heads ||
      attention.keys.length != attention.values.length)
    return invalid("query ", dimsToString(in[0].dims), ", key ",
                   dimsToString(in[1].dims), " and value ",
                   dimsToString(in[2].dims),
                   " do not fit: batch, length and head size must agree and "
                   "key heads divide query heads");
  SOL_NN_TRY(readAttributes(call, attention));
  SOL_NN_TRY(readMaskAndSinks(in, attention));
  SOL_NN_TRY(readOffsets(in, attention));
  return attention;
}

absl::Status inferAttention(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(Attention attention, describe(call, in));
  return setOutput(out, 0, in[0].type,
                   Dims{attention.batch, attention.queryHeads, attention.steps,
                        attention.valueSize});
}

/// Rows of one piece of work and its part of the temporary memory.
struct Row {
  int64_t head, step;
  float *scores, *query, *sum;
  int64_t first, last; ///< positions outside are excluded by the mask
  float total;
};

/// The block of queries that one call of `compute` answers.
class Block {
public:
  Block(const Attention &attention, Tensor &result, int64_t b, int64_t keyHead,
        float *memory)
      : attention(attention), result(result), b(b), keyHead(keyHead),
        memory(memory) {}

  /// Floats of temporary memory for one row.
  static int64_t floatsPerRow(const Attention &attention) {
    return roundUp(attention.keys.length) + roundUp(attention.size) +
           roundUp(attention.valueSize);
  }

  /// Answers rows [begin, end), numbered head within the group, then step.
  void compute(int64_t begin, int64_t end, Row *rows) {
    int64_t count = end - begin;
    for (int64_t i = 0; i < count; ++i)
      prepareRow(begin + i, i, rows[i]);
    scoreRows(rows, count);
    for (int64_t i = 0; i < count; ++i)
      softmaxRow(rows[i]);
    sumRows(rows, count);
    for (int64_t i = 0; i < count; ++i)
      finishRow(rows[i]);
  }

private:
  static int64_t roundUp(int64_t count) { return (count + 15) / 16 * 16; }

  void prepareRow(int64_t index, int64_t slot, Row &row) const;
  void scoreRows(Row *rows, int64_t count) const;
  void softmaxRow(Row &row) const;
  void sumRows(Row *rows, int64_t count) const;
  void finishRow(Row &row) const;
  void findVisible(Row &row) const;
  void applyMask(Row &row) const;
  void weighAllEqual(Row &row) const;
  int64_t maskOffset(const Row &row, int64_t t) const {
    const Dims &steps = attention.maskSteps;
    return b * steps[0] + row.head * steps[1] + row.step * steps[2] +
           t * steps[3];
  }

  const Attention &attention;
  Tensor &result;
  int64_t b, keyHead;
  float *memory;
};

void Block::prepareRow(int64_t index, int64_t slot, Row &row) const {
  row.head = keyHead * attention.group() + index / attention.steps;
  row.step = index % attention.steps;
  row.scores = memory + slot * floatsPerRow(attention);
  row.query = row.scores + roundUp(attention.keys.length);
  row.sum = row.query + roundUp(attention.size);
  const Tensor &query = *attention.query;
  int64_t at =
      ((b * attention.queryHeads + row.head) * attention.steps + row.step) *
      attention.size;
  simdKernels().widen(storageOf(query.type),
                      static_cast<const char *>(query.data) +
                          at * (bitWidth(query.type) / 8),
                      row.query, attention.size);
  std::memset(row.sum, 0, static_cast<size_t>(attention.valueSize) * 4);
  row.total = 0;
  findVisible(row);
}

/// Narrows [first, last) by what the mask excludes at both ends, which is all
/// that a causal or padded row excludes. Float masks wait in the score row.
void Block::findVisible(Row &row) const {
  row.first = 0;
  row.last = attention.keys.held(b);
  if (attention.causal) {
    int64_t after = attention.position(b, row.step) + 1;
    row.last = std::clamp<int64_t>(after, 0, row.last);
    if (attention.window > 0)
      row.first = std::clamp<int64_t>(after - attention.window, 0, row.last);
  }
  const Tensor *mask = attention.mask;
  if (!mask || row.last == row.first)
    return;
  int64_t step = attention.maskSteps[3], offset = maskOffset(row, 0);
  auto visible = [&](int64_t t) {
    int64_t at = offset + t * step;
    switch (mask->type) {
    case DType::Bool:
      return mask->as<uint8_t>()[at] != 0;
    case DType::F32:
      return mask->as<float>()[at] != minusInfinity;
    case DType::F16:
      return mask->as<uint16_t>()[at] != 0xfc00;
    default:
      return mask->as<uint16_t>()[at] != 0xff80;
    }
  };
  while (row.last > row.first && !visible(row.last - 1))
    --row.last;
  while (row.first < row.last && !visible(row.first))
    ++row.first;
}

void Block::scoreRows(Row *rows, int64_t count) const {
  const Positions &keys = attention.keys;
  Storage type = storageOf(keys.tensor->type);
  int64_t held = keys.held(b);
  for (int64_t t = 0; t < held;) {
    int64_t end = keys.runEnd(t, held);
    const char *run = static_cast<const char *>(keys.at(b, keyHead, t));
    int64_t bytes = keys.size * (bitWidth(keys.tensor->type) / 8);
    for (int64_t i = 0; i < count; ++i) {
      Row &row = rows[i];
      int64_t from = std::max(t, row.first), to = std::min(end, row.last);
      if (from < to)
        simdKernels().scores(type, row.query, run + (from - t) * bytes,
                             to - from, keys.size, attention.scale,
                             row.scores + from);
    }
    t = end;
  }
}

void Block::applyMask(Row &row) const {
  const Tensor &mask = *attention.mask;
  int64_t step = attention.maskSteps[3];
  if (mask.type == DType::Bool) {
    const uint8_t *allowed = mask.as<uint8_t>() + maskOffset(row, 0);
    for (int64_t t = row.first; t < row.last; ++t)
      row.scores[t] = allowed[t * step] ? row.scores[t] : minusInfinity;
    return;
  }
  if (mask.type == DType::F32 && step == 1) {
    simdKernels().maskRow(row.scores + row.first,
                          mask.as<float>() + maskOffset(row, row.first),
                          row.last - row.first);
    return;
  }
  // A stretched or 16-bit mask goes through a small buffer.
  float wide[runLength];
  for (int64_t t = row.first; t < row.last; t += runLength) {
    int64_t count = std::min(runLength, row.last - t);
    const char *from = static_cast<const char *>(mask.data) +
                       maskOffset(row, t) * (bitWidth(mask.type) / 8);
    simdKernels().widen(storageOf(mask.type), from, wide, step ? count : 1);
    if (!step)
      std::fill(wide + 1, wide + count, wide[0]);
    simdKernels().maskRow(row.scores + t, wide, count);
  }
}

void Block::weighAllEqual(Row &row) const {
  row.first = 0;
  row.last = attention.keys.held(b);
  std::fill(row.scores, row.scores + row.last, 1.0f);
}

void Block::softmaxRow(Row &row) const {
  float *scores = row.scores + row.first;
  int64_t count = row.last - row.first;
  if (attention.softcap > 0)
    simdKernels().softCapRow(scores, count, attention.softcap);
  if (attention.mask)
    applyMask(row);
  float largest = simdKernels().largestOfRow(scores, count);
  float sink = minusInfinity;
  if (attention.sinks) {
    const Tensor &sinks = *attention.sinks;
    simdKernels().widen(storageOf(sinks.type),
                        static_cast<const char *>(sinks.data) +
                            row.head * (bitWidth(sinks.type) / 8),
                        &sink, 1);
  }
  float shift = std::max(largest, sink);
  if (shift == minusInfinity) {
    bool anyNaN =
        std::any_of(scores, scores + count, [](float x) { return x != x; });
    if (attention.maskedRows == MaskedRows::Mean && !anyNaN)
      return weighAllEqual(row);
    row.last = row.first;
    row.total = attention.maskedRows == MaskedRows::NaN || anyNaN
                    ? std::numeric_limits<float>::quiet_NaN()
                    : 1.0f;
    return;
  }
  simdKernels().exponentialRow(scores, shift, scores, count);
  if (attention.sinks)
    simdKernels().exponentialRow(&sink, shift, &row.total, 1);
}

void Block::sumRows(Row *rows, int64_t count) const {
  const Positions &values = attention.values;
  Storage type = storageOf(values.tensor->type);
  int64_t held = attention.keys.held(b);
  for (int64_t t = 0; t < held;) {
    int64_t end = values.runEnd(t, held);
    const char *run = static_cast<const char *>(values.at(b, keyHead, t));
    int64_t bytes = values.size * (bitWidth(values.tensor->type) / 8);
    for (int64_t i = 0; i < count; ++i) {
      Row &row = rows[i];
      int64_t from = std::max(t, row.first), to = std::min(end, row.last);
      if (from < to)
        row.total = simdKernels().weighValues(
            type, row.scores + from, run + (from - t) * bytes, to - from,
            values.size, row.sum, row.total);
    }
    t = end;
  }
}

void Block::finishRow(Row &row) const {
  simdKernels().divideRow(row.sum, attention.valueSize, row.total);
  int64_t at =
      ((b * attention.queryHeads + row.head) * attention.steps + row.step) *
      attention.valueSize;
  simdKernels().narrow(storageOf(result.type), row.sum,
                       static_cast<char *>(result.data) +
                           at * (bitWidth(result.type) / 8),
                       attention.valueSize);
}

/// Rows in one block: enough to reuse keys from the cache, few enough that
/// their scores stay there too and that every thread gets blocks.
int64_t rowsPerBlock(const Attention &attention, int threads) {
  constexpr int64_t scoreFloats = 96 * 1024, most = 32;
  int64_t rows = attention.batch * attention.queryHeads * attention.steps;
  int64_t fit = scoreFloats / std::max<int64_t>(attention.keys.length, 1);
  int64_t shared = threads == 1 ? most : rows / (int64_t{4} * threads);
  return std::clamp<int64_t>(std::min(fit, shared), 1, most);
}

absl::Status runAttention(const KernelCall &call, KernelContext &context,
                          Inputs in, Outputs out) {
  SOL_NN_ASSIGN(Attention attention, describe(call, in));
  if (out[0].size() == 0)
    return absl::OkStatus();
  if (attention.cached && (!attention.keys.cache || !attention.values.cache))
    return invalid("operands `key` and `value` must both be caches");
  int64_t rowsEach = rowsPerBlock(attention, context.threadCount());
  int64_t groupRows = attention.group() * attention.steps;
  int64_t blocksEach = (groupRows + rowsEach - 1) / rowsEach;
  int64_t blocks = attention.batch * attention.keys.heads * blocksEach;
  // Memory for as many blocks as run at once; each strand walks its share.
  int64_t strands = std::min<int64_t>(
      blocks, context.threadCount() == 1 ? 1 : 4 * context.threadCount());
  int64_t floats = Block::floatsPerRow(attention) * rowsEach;
  ScratchLayout layout;
  size_t memoryAt = layout.add<float>(floats * strands);
  SOL_NN_TRY(layout.take(context));
  auto strand = [&](int64_t index) {
    Row rows[32];
    // Interleaved shares: causal rows cost more the later they are.
    for (int64_t i = index; i < blocks; i += strands) {
      int64_t begin = i % blocksEach * rowsEach, head = i / blocksEach;
      Block block(attention, out[0], head / attention.keys.heads,
                  head % attention.keys.heads,
                  layout.at<float>(memoryAt) + index * floats);
      block.compute(begin, std::min(begin + rowsEach, groupRows), rows);
    }
  };
  context.parallelFor(strands, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      strand(i);
  });
  return absl::OkStatus();
}

} // namespace

void registerAttentionKernel() {
  registerKernel({"nn.attention", nullptr, inferAttention, runAttention});
}

} // namespace sol::fast
