//===- nn_attention_test.cpp - nn.attention and the caches ----------------===//
//
// Against a float64 softmax, and bit for bit: chunks of queries, thread counts,
// padding before and behind, caches in pages.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/kv_cache.h"
#include "test/unit/fast/fast_kernel_fixture.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sol::test {
namespace {

constexpr float minusInfinity = -std::numeric_limits<float>::infinity();

struct Problem {
  int64_t batch = 2, queryHeads = 6, keyHeads = 2, steps = 7, length = 150;
  int64_t size = 20, valueSize = 36;
  float scale = 0.3f, softcap = 0;
  const char *maskedRows = "zero";
  Owned q, k, v, mask, sinks;

  Problem() { fill(DType::F32); }
  void fill(DType type) {
    q = randomTensor(type, {batch, queryHeads, steps, size}, 1);
    k = randomTensor(type, {batch, keyHeads, length, size}, 2);
    v = randomTensor(type, {batch, keyHeads, length, valueSize}, 3);
  }
  /// Causal float mask for queries at the end, `padding` keys hidden in front.
  void causal(int64_t padding = 0) {
    mask = Owned(DType::F32, {batch, 1, steps, length});
    for (int64_t i = 0; i < mask.tensor.size(); ++i) {
      int64_t t = i % length, s = i / length % steps;
      bool hidden = t > length - steps + s || t < padding;
      mask.set(i, hidden ? minusInfinity : 0.0f);
    }
  }
  Attributes attributes() const {
    Attributes result;
    result.set("scale", scale);
    result.set("softcap", softcap);
    result.set("masked_rows", std::string(maskedRows));
    return result;
  }
  std::vector<Tensor> inputs() const {
    return {q.tensor, k.tensor, v.tensor, mask.tensor, sinks.tensor};
  }
  Owned run(int threads = 1) const {
    auto y = callKernel("nn.attention", attributes(), inputs(), q.tensor.type,
                        threads);
    EXPECT_TRUE(y.ok()) << y.status();
    return y.ok() ? *std::move(y) : Owned();
  }
  double maskAt(int64_t b, int64_t h, int64_t s, int64_t t) const {
    if (!mask.tensor.present())
      return 0;
    Dims dims(4, 1);
    std::copy(mask.tensor.dims.begin(), mask.tensor.dims.end(),
              dims.begin() + (4 - mask.tensor.rank()));
    int64_t at[] = {b, h, s, t}, offset = 0;
    for (size_t i = 0; i < 4; ++i)
      offset = offset * dims[i] + (dims[i] == 1 ? 0 : at[i]);
    if (mask.tensor.type == DType::Bool)
      return mask.tensor.as<uint8_t>()[offset]
                 ? 0.0
                 : -std::numeric_limits<double>::infinity();
    return mask.at(offset);
  }
  /// The operator's text, in float64.
  std::vector<double> expected() const;
};

std::vector<double> Problem::expected() const {
  std::vector<double> result;
  std::vector<double> p(static_cast<size_t>(length));
  for (int64_t row = 0; row < batch * queryHeads * steps; ++row) {
    int64_t s = row % steps, h = row / steps % queryHeads,
            b = row / steps / queryHeads;
    int64_t head = b * keyHeads + h / (queryHeads / keyHeads);
    double largest = sinks.tensor.present()
                         ? sinks.at(h)
                         : -std::numeric_limits<double>::infinity();
    for (int64_t t = 0; t < length; ++t) {
      double dot = 0;
      for (int64_t d = 0; d < size; ++d)
        dot += double(q.at(row * size + d)) *
               double(k.at((head * length + t) * size + d));
      dot *= scale;
      if (softcap > 0)
        dot = softcap * std::tanh(dot / softcap);
      p[static_cast<size_t>(t)] = dot + maskAt(b, h, s, t);
      largest = std::max(largest, p[static_cast<size_t>(t)]);
    }
    double sum = sinks.tensor.present() ? std::exp(sinks.at(h) - largest) : 0.0;
    for (double &x : p)
      sum += x = std::exp(x - largest);
    for (int64_t d = 0; d < valueSize; ++d) {
      double y = 0;
      for (int64_t t = 0; t < length; ++t)
        y += p[static_cast<size_t>(t)] *
             double(v.at((head * length + t) * valueSize + d));
      result.push_back(y / sum);
    }
  }
  return result;
}

void expectNear(const Owned &y, const std::vector<double> &expected,
                double tolerance) {
  ASSERT_EQ(static_cast<size_t>(y.tensor.size()), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(y.at(static_cast<int64_t>(i)), expected[i], tolerance) << i;
}

TEST(Attention, isTheSoftmaxOfScores) {
  Problem p;
  expectNear(p.run(), p.expected(), 2e-6);
  p.causal();
  expectNear(p.run(2), p.expected(), 2e-6);
  p.softcap = 2.0f;
  expectNear(p.run(), p.expected(), 2e-6);
  p.sinks = randomTensor(DType::F32, {p.queryHeads}, 9);
  expectNear(p.run(), p.expected(), 2e-6);
}

TEST(Attention, readsMasksOfEveryKind) {
  Problem p;
  p.mask = randomTensor(DType::F32, {p.steps, p.length}, 5);
  expectNear(p.run(), p.expected(), 2e-6);
  p.mask = randomTensor(DType::F16, {p.batch, p.queryHeads, 1, p.length}, 5);
  expectNear(p.run(), p.expected(), 2e-6);
  p.mask = randomTensor(DType::F32, {p.queryHeads, p.steps, 1}, 5);
  expectNear(p.run(), p.expected(), 2e-6);
  p.mask = Owned(DType::Bool, {1, 1, p.steps, p.length});
  for (int64_t i = 0; i < p.steps * p.length; ++i)
    p.mask.tensor.as<uint8_t>()[i] = i * i % 7 < 3;
  expectNear(p.run(2), p.expected(), 2e-6);
}

TEST(Attention, computesNarrowTypesInFloat) {
  Problem p;
  p.fill(DType::F16);
  expectNear(p.run(), p.expected(), 2e-3);
  p.fill(DType::BF16);
  expectNear(p.run(), p.expected(), 2e-2);
}

TEST(Attention, rowsWithoutKeysFollowTheAttribute) {
  Problem p;
  p.mask = Owned(DType::Bool, {p.steps, p.length}); // all false
  Owned zero = p.run();
  EXPECT_TRUE(std::all_of(zero.tensor.as<float>(),
                          zero.tensor.as<float>() + zero.tensor.size(),
                          [](float x) { return x == 0; }));
  p.maskedRows = "nan";
  EXPECT_TRUE(std::isnan(p.run().at(5)));
  p.maskedRows = "mean";
  Owned mean = p.run();
  // As a finite mask leaves them: all scores equal.
  Problem finite;
  finite.mask = Owned(DType::F32, {p.steps, p.length});
  for (int64_t i = 0; i < p.steps * p.length; ++i)
    finite.mask.set(i, std::numeric_limits<float>::lowest());
  EXPECT_TRUE(sameBits(mean, finite.run()));
}

TEST(Attention, anyChunkAndThreadCountHasTheSameBits) {
  Problem p;
  p.causal();
  Owned whole = p.run();
  EXPECT_TRUE(sameBits(whole, p.run(2)));
  for (int64_t chunk : {1, 3}) {
    for (int64_t from = 0; from < p.steps; from += chunk) {
      // The chunk sees a shorter past: keys behind it don't exist yet.
      int64_t count = std::min(chunk, p.steps - from);
      Problem part;
      part.steps = count;
      part.length = p.length - p.steps + from + count;
      part.fill(DType::F32);
      auto copy = [](const Owned &from, Owned &to, int64_t heads, int64_t has,
                     int64_t takes, int64_t first, int64_t size) {
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t i = 0; i < takes * size; ++i)
            to.set(h * takes * size + i, from.at((h * has + first) * size + i));
      };
      copy(p.q, part.q, p.batch * p.queryHeads, p.steps, count, from, p.size);
      copy(p.k, part.k, p.batch * p.keyHeads, p.length, part.length, 0, p.size);
      copy(p.v, part.v, p.batch * p.keyHeads, p.length, part.length, 0,
           p.valueSize);
      part.causal();
      Owned y = part.run(2), expected(DType::F32, y.tensor.dims);
      copy(whole, expected, p.batch * p.queryHeads, p.steps, count, from,
           p.valueSize);
      EXPECT_TRUE(sameBits(y, expected)) << chunk << " " << from;
    }
  }
}

// Whatever lies in hidden positions, NaN too, and however many of them stand in
// front: the visible part decides every bit.
TEST(Attention, hiddenPositionsLeaveNoTrace) {
  Problem plain;
  plain.length = 90;
  plain.fill(DType::F32);
  plain.causal();
  Owned expected = plain.run();
  Problem padded;
  int64_t padding = 37;
  padded.length = plain.length + padding;
  padded.fill(DType::F32);
  for (auto [from, to, size] : {std::tuple{&plain.k, &padded.k, plain.size},
                                {&plain.v, &padded.v, plain.valueSize}})
    for (int64_t h = 0; h < plain.batch * plain.keyHeads; ++h)
      for (int64_t t = 0; t < padded.length; ++t)
        for (int64_t d = 0; d < size; ++d)
          to->set((h * padded.length + t) * size + d,
                  t < padding
                      ? NAN
                      : from->at((h * plain.length + t - padding) * size + d));
  padded.causal(padding);
  EXPECT_TRUE(sameBits(padded.run(), expected));
  for (int64_t i = 0; i < padded.mask.tensor.size(); ++i)
    if (padded.mask.at(i) == minusInfinity && i % padded.length >= padding)
      padded.mask.set(i, std::numeric_limits<float>::lowest());
  EXPECT_TRUE(sameBits(padded.run(2), expected));
}

// What attributes and positions hide is hidden like by a mask, to the last bit.
TEST(Attention, causalAndWindowAreMasks) {
  Problem p;
  p.mask = Owned(DType::F32, {p.batch, 1, p.steps, p.length});
  Owned offsets(DType::I64, {p.batch});
  int64_t window = 33, starts[] = {p.length - p.steps, 60};
  for (int64_t b = 0; b < p.batch; ++b)
    offsets.tensor.as<int64_t>()[b] = starts[b];
  for (int64_t i = 0; i < p.mask.tensor.size(); ++i) {
    int64_t t = i % p.length, b = i / p.length / p.steps,
            at = starts[b] + i / p.length % p.steps;
    p.mask.set(i, t > at || t <= at - window ? minusInfinity : 0.0f);
  }
  Owned expected = p.run();
  Attributes attributes = p.attributes();
  attributes.set("causal", int64_t(1));
  attributes.set("window", window);
  auto y = callKernel(
      "nn.attention", attributes,
      {p.q.tensor, p.k.tensor, p.v.tensor, Tensor(), Tensor(), offsets.tensor},
      DType::F32, 2);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_TRUE(sameBits(*y, expected));

  // Without offsets the last query stands at the last position.
  p.causal();
  attributes = p.attributes();
  attributes.set("causal", int64_t(1));
  y = callKernel("nn.attention", attributes,
                 {p.q.tensor, p.k.tensor, p.v.tensor}, DType::F32);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_TRUE(sameBits(*y, p.run()));
}

/// A cache over memory of its own, in pages.
struct TestCache {
  KvCache cache;
  std::vector<char> memory;
  std::vector<void *> pages;
  std::vector<int64_t> lengths;

  TestCache(DType type, int64_t batch, int64_t heads, int64_t size,
            int64_t pageLength, int64_t pagesPerRow)
      : lengths(static_cast<size_t>(batch), 0) {
    size_t page =
        static_cast<size_t>(heads * pageLength * size * (bitWidth(type) / 8));
    memory.assign(page * static_cast<size_t>(batch * pagesPerRow), char(0xff));
    // Pages in reverse, so that order in memory says nothing.
    for (int64_t i = batch * pagesPerRow; i-- > 0;)
      pages.push_back(memory.data() + static_cast<size_t>(i) * page);
    cache = {type,       batch,       heads,        size,
             pageLength, pagesPerRow, pages.data(), lengths.data()};
  }
  Tensor tensor() {
    Tensor result;
    result.type = cache.type;
    result.dims = {cache.batch, cache.heads,
                   *std::max_element(lengths.begin(), lengths.end()),
                   cache.headDim};
    result.data = &cache;
    return result;
  }
};

TEST(Cache, appendReadAndAttendAcrossPages) {
  for (DType type : {DType::F32, DType::F16}) {
    Problem p;
    p.fill(type);
    p.causal();
    TestCache k(type, p.batch, p.keyHeads, p.size, 16, 10);
    TestCache v(type, p.batch, p.keyHeads, p.valueSize, 1000, 1);
    for (auto [cache, whole] : {std::pair{&k, &p.k}, std::pair{&v, &p.v}})
      for (int64_t t = 0; t < p.length;) {
        int64_t count = std::min<int64_t>(t == 0 ? 100 : 7, p.length - t);
        int64_t size = cache->cache.headDim;
        Owned step(type, {p.batch, p.keyHeads, count, size});
        for (int64_t i = 0; i < step.tensor.size(); ++i)
          step.set(i, whole->at((i / (count * size) * p.length + t) * size +
                                i % (count * size)));
        auto longer = callKernel("nn.cache_append", {},
                                 {cache->tensor(), step.tensor}, type, 2);
        ASSERT_TRUE(longer.ok()) << longer.status();
        t += count;
        EXPECT_EQ(longer->tensor.dims[2], t);
        EXPECT_EQ(longer->tensor.data, &cache->cache);
        EXPECT_EQ(cache->lengths[1], t);
      }
    auto back = callKernel("nn.cache_read", {}, {k.tensor()}, type);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(sameBits(*back, p.k));
    auto shape = callKernel("nn.cache_shape", {}, {v.tensor()}, DType::I64);
    ASSERT_TRUE(shape.ok());
    EXPECT_EQ(shape->tensor.as<int64_t>()[2], p.length);
    auto length = callKernel("nn.cache_length", {}, {v.tensor()}, DType::I64);
    ASSERT_TRUE(length.ok());
    EXPECT_EQ(*length->tensor.as<int64_t>(), p.length);

    Owned expected = p.run();
    Attributes attributes = p.attributes();
    attributes.set("cached", int64_t(1));
    auto y = callKernel("nn.attention", attributes,
                        {p.q.tensor, k.tensor(), v.tensor(), p.mask.tensor},
                        type, 2);
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_TRUE(sameBits(*y, expected));
  }
}

TEST(Cache, shorterRowsSeeOnlyTheirOwnPositions) {
  Problem p;
  TestCache k(DType::F32, p.batch, p.keyHeads, p.size, 64, 3);
  TestCache v(DType::F32, p.batch, p.keyHeads, p.valueSize, 64, 3);
  ASSERT_TRUE(
      callKernel("nn.cache_append", {}, {k.tensor(), p.k.tensor}, DType::F32)
          .ok());
  ASSERT_TRUE(
      callKernel("nn.cache_append", {}, {v.tensor(), p.v.tensor}, DType::F32)
          .ok());
  k.lengths[0] = v.lengths[0] = 40;
  Attributes attributes = p.attributes();
  attributes.set("cached", int64_t(1));
  auto y = callKernel("nn.attention", attributes,
                      {p.q.tensor, k.tensor(), v.tensor()}, DType::F32);
  ASSERT_TRUE(y.ok()) << y.status();
  p.mask = Owned(DType::F32, {p.batch, 1, 1, p.length});
  for (int64_t t = 40; t < p.length; ++t)
    p.mask.set(t, minusInfinity);
  EXPECT_TRUE(sameBits(*y, p.run()));
}

// What a cache held is forgotten, whether it was shorter or longer.
TEST(Cache, holdsWhatItIsFilledWith) {
  TestCache k(DType::F32, 2, 1, 2, 8, 1);
  for (int64_t length : {4, 2, 6}) {
    Owned tensor = randomTensor(DType::F32, {2, 1, length, 2}, length);
    auto filled = callKernel("nn.cache_fill", {}, {k.tensor(), tensor.tensor},
                             DType::F32);
    ASSERT_TRUE(filled.ok()) << filled.status();
    EXPECT_EQ(filled->tensor.dims[2], length);
    EXPECT_EQ(k.lengths, (std::vector<int64_t>{length, length}));
    auto back = callKernel("nn.cache_read", {}, {k.tensor()}, DType::F32);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(sameBits(*back, tensor));
  }
  Owned tooLong = randomTensor(DType::F32, {2, 1, 9, 2}, 1);
  Owned otherHeads = randomTensor(DType::F32, {2, 2, 3, 2}, 1);
  for (const Owned *tensor : {&tooLong, &otherHeads})
    EXPECT_FALSE(callKernel("nn.cache_fill", {}, {k.tensor(), tensor->tensor},
                            DType::F32)
                     .ok());
}

// A row that was padded on the right goes on behind its own last position.
TEST(Cache, rowsBeginWhereTheyAreTold) {
  TestCache k(DType::F32, 2, 1, 2, 8, 1);
  Owned prompt = randomTensor(DType::F32, {2, 1, 4, 2}, 1);
  Owned step = randomTensor(DType::F32, {2, 1, 1, 2}, 2);
  Owned offsets(DType::I64, {2});
  auto append = [&](const Owned &what) {
    return callKernel("nn.cache_append", {},
                      {k.tensor(), what.tensor, offsets.tensor}, DType::F32);
  };
  ASSERT_TRUE(append(prompt).ok());
  offsets.tensor.as<int64_t>()[0] = 2;
  offsets.tensor.as<int64_t>()[1] = 4;
  ASSERT_TRUE(append(step).ok());
  EXPECT_EQ(k.lengths, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(reinterpret_cast<float *>(k.cache.at(0, 0, 2))[0], step.at(0));
  EXPECT_EQ(reinterpret_cast<float *>(k.cache.at(0, 0, 1))[1], prompt.at(3));
  EXPECT_EQ(reinterpret_cast<float *>(k.cache.at(1, 0, 4))[1], step.at(3));
  offsets.tensor.as<int64_t>()[0] = 4;
  EXPECT_FALSE(append(step).ok());
}

// A buffer stays as long as it is; only the positions of the step change.
TEST(Cache, isWrittenInPlace) {
  TestCache k(DType::F32, 2, 1, 2, 4, 2);
  Owned buffer = randomTensor(DType::F32, {2, 1, 6, 2}, 1);
  Owned step = randomTensor(DType::F32, {2, 1, 2, 2}, 2);
  Owned positions(DType::I64, {2});
  ASSERT_TRUE(
      callKernel("nn.cache_fill", {}, {k.tensor(), buffer.tensor}, DType::F32)
          .ok());
  auto write = [&](int64_t first, int64_t second, bool starts) {
    positions.tensor.as<int64_t>()[0] = first;
    positions.tensor.as<int64_t>()[1] = second;
    Attributes attributes;
    if (starts)
      attributes.set("starts", int64_t(1));
    return callKernel("nn.cache_write", attributes,
                      {k.tensor(), step.tensor, positions.tensor}, DType::F32);
  };
  auto at = [&](int64_t b, int64_t t) {
    return reinterpret_cast<float *>(k.cache.at(b, 0, t))[0];
  };
  auto held = [&](int64_t b, int64_t t) { return buffer.at((b * 6 + t) * 2); };
  auto given = [&](int64_t b, int64_t i) { return step.at((b * 2 + i) * 2); };

  // Row 0 from position 1 on, row 1 from position 4 on.
  auto y = write(1, 4, true);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->tensor.dims, (Dims{2, 1, 6, 2}));
  EXPECT_EQ(k.lengths, (std::vector<int64_t>{6, 6}));
  EXPECT_EQ(at(0, 1), given(0, 0));
  EXPECT_EQ(at(0, 2), given(0, 1));
  EXPECT_EQ(at(0, 3), held(0, 3));
  EXPECT_EQ(at(1, 4), given(1, 0));
  EXPECT_EQ(at(1, 5), given(1, 1));
  EXPECT_EQ(at(1, 3), held(1, 3));
  // Both rows at positions 3 and, from the end, 0; of equal ones the last.
  ASSERT_TRUE(write(3, -6, false).ok());
  EXPECT_EQ(at(0, 3), given(0, 0));
  EXPECT_EQ(at(1, 0), given(1, 1));
  ASSERT_TRUE(write(5, 5, false).ok());
  EXPECT_EQ(at(0, 5), given(0, 1));

  EXPECT_FALSE(write(0, 5, true).ok());
  EXPECT_FALSE(write(-1, 0, true).ok());
  EXPECT_FALSE(write(6, 0, false).ok());
  EXPECT_FALSE(write(0, -7, false).ok());
}

TEST(Cache, refusesAStepBeyondItsRoom) {
  TestCache k(DType::F32, 1, 2, 4, 8, 1);
  Owned step(DType::F32, {1, 2, 9, 4});
  auto y =
      callKernel("nn.cache_append", {}, {k.tensor(), step.tensor}, DType::F32);
  EXPECT_EQ(y.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(k.lengths[0], 0);
}

TEST(Attention, refusesWhatDoesNotFit) {
  Problem p;
  p.mask = Owned(DType::F32, {p.steps, p.length + 1});
  auto y = callKernel("nn.attention", p.attributes(), p.inputs(), DType::F32);
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
  Problem heads;
  heads.k = Owned(DType::F32, {2, 4, heads.length, heads.size});
  y = callKernel("nn.attention", heads.attributes(), heads.inputs(),
                 DType::F32);
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
}

} // namespace
} // namespace sol::test
