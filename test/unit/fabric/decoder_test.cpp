//===- decoder_test.cpp - a whole decoder on small meshes ----------------===//
//
// Token by token and in chunks, against plain loops in float64 that know
// nothing of meshes.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/verify/verify.h"
#include "test/unit/fabric/decoder_fixture.h"

#include <algorithm>

namespace {

using namespace sol;
using namespace sol::fabric;
using Row = std::vector<double>;

Row times(const Row &x, const Matrix &matrix) {
  Row y(matrix.columns);
  for (int64_t k = 0; k < matrix.rows; ++k)
    for (int64_t n = 0; n < matrix.columns; ++n)
      y[n] += x[k] * matrix.at(k, n);
  return y;
}

Row normed(const Row &x, const Matrix &gain, double epsilon) {
  double squares = 0;
  for (double value : x)
    squares += value * value / static_cast<double>(x.size());
  Row y;
  for (size_t i = 0; i < x.size(); ++i)
    y.push_back(x[i] / std::sqrt(squares + epsilon) * gain.values[i]);
  return y;
}

/// The decoder in plain loops, a token at a time.
class Reference {
public:
  explicit Reference(const Model &model)
      : model(model), keys(model.layers.size()), values(model.layers.size()) {}

  Row step(int64_t token) {
    int64_t width = model.shape.width;
    Row x;
    for (int64_t i = 0; i < width; ++i)
      x.push_back(model.table.at(token, i));
    for (size_t l = 0; l < model.layers.size(); ++l) {
      const Layer &layer = model.layers[l];
      Row added = attention(l, normed(x, layer.attentionGain, 1e-5));
      for (int64_t i = 0; i < width; ++i)
        x[i] += added[i];
      Row y = normed(x, layer.mlpGain, 1e-5);
      Row gate = times(y, layer.gate), up = times(y, layer.up);
      for (size_t i = 0; i < gate.size(); ++i)
        gate[i] *= up[i] / (1 + std::exp(-gate[i]));
      added = times(gate, layer.down);
      for (int64_t i = 0; i < width; ++i)
        x[i] += added[i];
    }
    x = normed(x, model.finalGain, 1e-5);
    Row logits(model.table.rows);
    for (int64_t v = 0; v < model.table.rows; ++v)
      for (int64_t i = 0; i < width; ++i)
        logits[v] += x[i] * model.table.at(v, i);
    ++position;
    return logits;
  }

private:
  void rotate(Row &x, int64_t heads) const {
    int64_t half = model.shape.attention.headSize / 2;
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < half; ++i) {
        double angle = double(position) * model.frequencies.values[i];
        double &a = x[head * 2 * half + i], &b = x[head * 2 * half + half + i];
        double turned = a * std::cos(angle) - b * std::sin(angle);
        b = b * std::cos(angle) + a * std::sin(angle);
        a = turned;
      }
  }

  /// Norms each head by itself.
  static void norm(Row &x, const Matrix &gain) {
    for (size_t head = 0; head < x.size(); head += gain.values.size()) {
      auto at = x.begin() + static_cast<int64_t>(head);
      Row y = normed(Row(at, at + gain.columns), gain, 1e-6);
      std::copy(y.begin(), y.end(), at);
    }
  }

  Row attention(size_t l, const Row &x) {
    const AttentionShape &shape = model.shape.attention;
    const Layer &layer = model.layers[l];
    Row query = times(x, layer.query), key = times(x, layer.key);
    for (size_t i = 0; i < query.size(); ++i)
      query[i] += layer.queryBias.values[i];
    if (model.headNorms) {
      norm(query, layer.queryGain);
      norm(key, layer.keyGain);
    }
    rotate(query, shape.heads);
    rotate(key, shape.keyHeads);
    keys[l].push_back(key);
    values[l].push_back(times(x, layer.value));
    Row result(query.size());
    for (int64_t head = 0; head < shape.heads; ++head) {
      int64_t own = head / (shape.heads / shape.keyHeads) * shape.headSize;
      Row weights;
      double sum = 0;
      for (const Row &past : keys[l]) {
        double score = 0;
        for (int64_t i = 0; i < shape.headSize; ++i)
          score += query[head * shape.headSize + i] * past[own + i];
        weights.push_back(std::exp(score * shape.scale));
        sum += weights.back();
      }
      for (size_t p = 0; p < weights.size(); ++p)
        for (int64_t i = 0; i < shape.headSize; ++i)
          result[head * shape.headSize + i] +=
              weights[p] / sum * values[l][p][own + i];
    }
    return times(result, layer.output);
  }

  const Model &model;
  int64_t position = 0;
  std::vector<std::vector<Row>> keys, values;
};

struct Case {
  int32_t columns, rows, heads, keyHeads, headSize, tokens;
};

class Decoder : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Fabric, Decoder,
    testing::Values(Case{4, 4, 4, 2, 8, 1}, Case{8, 8, 6, 3, 8, 1},
                    Case{5, 3, 4, 4, 6, 1}, Case{3, 5, 4, 4, 6, 1},
                    Case{2, 2, 9, 3, 4, 1}, Case{16, 4, 4, 1, 8, 1},
                    Case{1, 1, 2, 1, 4, 1}, Case{4, 4, 4, 2, 8, 3},
                    Case{3, 5, 8, 4, 6, 4}, Case{8, 2, 6, 3, 10, 2}));

/// Runs a written program over the whole context and compares it with plain
/// loops, step by step.
void expectSame(FabricFixture &fixture, const Model &model, double bound) {
  int32_t tokens = model.shape.tokens;
  // Chunks take more code than a token does: what a PE may reserve at most.
  FabricLimits limits;
  limits.codeBytes = tokens > 1 ? 9'216 : 3'072;
  absl::Status status = verifyProgram(fixture.program, limits);
  EXPECT_TRUE(status.ok()) << status;
  auto fabric =
      FunctionalFabric::create(fixture.program, FabricLimits{}, fixture.bytes);
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  Reference reference(model);
  std::vector<float> next;
  for (int32_t t = 0; t < tokens; ++t)
    next.push_back(float((7 * t + 3) % 47));
  for (int32_t step = 0; step < 12 / tokens; ++step) {
    absl::StatusOr<HostTensors> result = (*fabric)->step({next});
    ASSERT_TRUE(result.ok()) << result.status();
    for (int32_t t = 0; t < tokens; ++t) {
      Row expected = reference.step(int64_t(next[t]));
      std::vector<float> found((*result)[0].begin() + t * 47,
                               (*result)[0].begin() + (t + 1) * 47);
      EXPECT_LT(difference(found, expected), bound) << "step " << step;
      auto best = std::max_element(found.begin(), found.end());
      EXPECT_EQ((*result)[1][t], best - found.begin());
      // The next step begins with what this one chose.
      next[t] = (*result)[1][t];
    }
  }
}

DecoderShape shapeOf(const Case &size) {
  return smallDecoder(size.heads, size.keyHeads, size.headSize, size.tokens);
}

TEST_P(Decoder, severalTokens) {
  for (bool headNorms : {false, true}) {
    FabricFixture fixture(GetParam().columns, GetParam().rows);
    DecoderShape shape = shapeOf(GetParam());
    Model model = makeModel(fixture, shape);
    model.headNorms = headNorms;
    writeDecoder(fixture.program, {{&*fixture.writer, shape.layers}}, shape,
                 addWeights(fixture, model));
    EXPECT_LE(fixture.writer->registersUsed(), registerCount);
    EXPECT_LE(fixture.writer->coloursUsed(), shape.transferColour);
    expectSame(fixture, model, 1e-4);
  }
}

TEST_P(Decoder, inHalfPrecision) {
  FabricFixture fixture(GetParam().columns, GetParam().rows);
  fixture.writer->packed = true;
  DecoderShape shape = shapeOf(GetParam());
  shape.storage = shape.cacheStorage = ElementType::Float16;
  Model model = makeModel(fixture, shape);
  writeDecoder(fixture.program, {{&*fixture.writer, shape.layers}}, shape,
               addWeights(fixture, model));
  expectSame(fixture, model, 3e-2);
}

TEST_P(Decoder, aRegionForEachLayer) {
  // Side by side with a gap, and on two wafers.
  for (int32_t wafers : {1, 2}) {
    Case size = GetParam();
    FabricFixture fixture(size.columns, size.rows);
    FabricProgram &program = fixture.program;
    Region second = fixture.region();
    second.name = "second";
    if (wafers == 1) {
      program.wafers = {{2 * size.columns + 3, size.rows}};
      second.x = size.columns + 2;
    } else {
      program.wafers = {{size.columns + 1, size.rows},
                        {size.columns + 2, size.rows + 1}};
      second.wafer = 1;
      second.x = second.y = 1;
    }
    program.regions.push_back(second);
    RegionWriter writer(program, 1, fixture.model);
    DecoderShape shape = shapeOf(size);
    Model model = makeModel(fixture, shape);
    writeDecoder(program, {{&*fixture.writer, 1}, {&writer, 1}}, shape,
                 addWeights(fixture, model));
    expectSame(fixture, model, 1e-4);
  }
}

} // namespace
