//===- linear_test.cpp - products and norms on small meshes --------------===//
//
// Against plain loops in float64, with sizes that don't divide.
//
//===----------------------------------------------------------------------===//
#include "test/unit/fabric/fabric_fixture.h"

namespace {

using namespace sol;
using namespace sol::fabric;

std::vector<double> times(const std::vector<double> &x, int64_t tokens,
                          const Matrix &matrix) {
  std::vector<double> y(tokens * matrix.columns);
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t k = 0; k < matrix.rows; ++k)
      for (int64_t n = 0; n < matrix.columns; ++n)
        y[t * matrix.columns + n] += x[t * matrix.rows + k] * matrix.at(k, n);
  return y;
}

std::vector<double> widened(const Matrix &matrix) {
  return {matrix.values.begin(), matrix.values.end()};
}

class OnMeshes : public testing::TestWithParam<std::pair<int32_t, int32_t>> {
protected:
  FabricFixture fixture{GetParam().first, GetParam().second};
  RegionWriter &writer = *fixture.writer;
};

INSTANTIATE_TEST_SUITE_P(Fabric, OnMeshes,
                         testing::Values(std::pair(1, 1), std::pair(4, 4),
                                         std::pair(8, 8), std::pair(5, 3),
                                         std::pair(1, 6), std::pair(16, 2)));

TEST_P(OnMeshes, productsThereAndBack) {
  for (int32_t tokens : {1, 3}) {
    FabricFixture fixture(GetParam().first, GetParam().second);
    Matrix x = fixture.random(tokens, 37), w = fixture.random(37, 53);
    Matrix back = fixture.random(53, 19), bias = fixture.random(1, 53);
    Sharded in = fixture.input(Axis::Y, 37, tokens);
    Sharded middle = product(*fixture.writer, in, {fixture.addWeights(w)}, 53,
                             ElementType::Float32, {fixture.addWeights(bias)});
    Sharded out = product(*fixture.writer, middle, {fixture.addWeights(back)},
                          19, ElementType::Float32);
    fixture.output(middle);
    fixture.output(out);
    EXPECT_EQ(middle.axis, Axis::X);
    EXPECT_EQ(out.axis, Axis::Y);
    absl::StatusOr<HostTensors> result = fixture.run({x.values});
    ASSERT_TRUE(result.ok()) << result.status();
    std::vector<double> expected = times(widened(x), tokens, w);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] += bias.values[i % 53];
    EXPECT_LT(difference((*result)[0], expected), 1e-5);
    EXPECT_LT(difference((*result)[1], times(expected, tokens, back)), 1e-5);
  }
}

TEST_P(OnMeshes, norms) {
  constexpr int64_t size = 21;
  Matrix x = fixture.random(2, size), gain = fixture.random(1, size);
  Matrix bias = fixture.random(1, size);
  Sharded in = fixture.input(Axis::Y, size, 2);
  fixture.output(rmsNorm(writer, in, {fixture.addWeights(gain)}, 1e-5f));
  fixture.output(rmsNorm(writer, in, {fixture.addWeights(gain)}, 1e-5f, 1));
  fixture.output(layerNorm(writer, in, {fixture.addWeights(gain)},
                           {fixture.addWeights(bias)}, 1e-5f));
  absl::StatusOr<HostTensors> result = fixture.run({x.values});
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<double> rms(2 * size), shifted(2 * size), layer(2 * size);
  for (int64_t t = 0; t < 2; ++t) {
    double squares = 0, sum = 0, variance = 0;
    for (int64_t i = 0; i < size; ++i) {
      squares += x.at(t, i) * double(x.at(t, i));
      sum += x.at(t, i);
    }
    for (int64_t i = 0; i < size; ++i)
      variance += std::pow(x.at(t, i) - sum / size, 2) / size;
    for (int64_t i = 0; i < size; ++i) {
      double y = x.at(t, i) / std::sqrt(squares / size + 1e-5);
      rms[t * size + i] = y * gain.at(0, i);
      shifted[t * size + i] = y * (gain.at(0, i) + 1.0);
      layer[t * size + i] = (x.at(t, i) - sum / size) /
                                std::sqrt(variance + 1e-5) * gain.at(0, i) +
                            bias.at(0, i);
    }
  }
  EXPECT_LT(difference((*result)[0], rms), 1e-5);
  EXPECT_LT(difference((*result)[1], shifted), 1e-5);
  EXPECT_LT(difference((*result)[2], layer), 1e-5);
}

TEST_P(OnMeshes, gatedMlpWithResidual) {
  Matrix x = fixture.random(2, 18), gate = fixture.random(18, 43);
  Matrix up = fixture.random(18, 43), down = fixture.random(43, 18);
  Sharded in = fixture.input(Axis::Y, 18, 2);
  Sharded out = gatedMlp(writer, in, {fixture.addWeights(gate)},
                         {fixture.addWeights(up)}, {fixture.addWeights(down)},
                         43, Opcode::Silu, ElementType::Float32);
  addResidual(writer, out, in);
  fixture.output(out);
  absl::StatusOr<HostTensors> result = fixture.run({x.values});
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<double> hidden = times(widened(x), 2, gate);
  std::vector<double> factor = times(widened(x), 2, up);
  for (size_t i = 0; i < hidden.size(); ++i)
    hidden[i] *= factor[i] / (1 + std::exp(-hidden[i]));
  std::vector<double> expected = times(hidden, 2, down);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += x.values[i];
  EXPECT_LT(difference((*result)[0], expected), 1e-5);
}

TEST(Linear, halfPrecisionOnLinksAndInMemory) {
  FabricFixture fixture(8, 8);
  fixture.writer->packed = true;
  Matrix x = fixture.random(1, 64), w = fixture.random(64, 50);
  Sharded in = fixture.input(Axis::Y, 64, 1);
  fixture.output(product(*fixture.writer, in, {fixture.addWeights(w)}, 50,
                         ElementType::Float16));
  absl::StatusOr<HostTensors> result = fixture.run({x.values});
  ASSERT_TRUE(result.ok()) << result.status();
  double gap = difference((*result)[0], times(widened(x), 1, w));
  EXPECT_LT(gap, 4e-3);
  EXPECT_GT(gap, 1e-5) << "nothing was rounded to float16";
}

} // namespace
