//===- experts_test.cpp - mixtures of experts on small meshes ------------===//
//
// Against plain loops, with sizes that don't divide.
//
//===----------------------------------------------------------------------===//
#include "lib/sched/kernels/experts.h"

#include "runtime/fabric/verify/verify.h"
#include "test/unit/fabric/fabric_fixture.h"

#include <algorithm>

namespace {

using namespace sol;
using namespace sol::fabric;

constexpr int64_t width = 23, hidden = 13, count = 6, tokens = 2;

struct Expert {
  Matrix gate, up, down;
};

std::vector<double> times(const std::vector<double> &x, const Matrix &matrix) {
  std::vector<double> y(matrix.columns);
  for (int64_t k = 0; k < matrix.rows; ++k)
    for (int64_t n = 0; n < matrix.columns; ++n)
      y[n] += x[k] * matrix.at(k, n);
  return y;
}

/// The mixture for one token.
std::vector<double> expected(const std::vector<double> &x, const Matrix &router,
                             const std::vector<Expert> &experts, int64_t chosen,
                             bool normalise) {
  std::vector<double> scores = times(x, router);
  double sum = 0;
  for (double &score : scores)
    sum += score = std::exp(score);
  std::vector<int64_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  });
  if (normalise) {
    sum = 0;
    for (int64_t i = 0; i < chosen; ++i)
      sum += scores[order[i]];
  }
  std::vector<double> result(x.size());
  for (int64_t i = 0; i < chosen; ++i) {
    const Expert &expert = experts[order[i]];
    std::vector<double> gate = times(x, expert.gate);
    std::vector<double> up = times(x, expert.up);
    for (size_t j = 0; j < gate.size(); ++j)
      gate[j] *= up[j] / (1 + std::exp(-gate[j]));
    std::vector<double> y = times(gate, expert.down);
    for (size_t j = 0; j < y.size(); ++j)
      result[j] += y[j] * scores[order[i]] / sum;
  }
  return result;
}

class Experts : public testing::TestWithParam<std::pair<int32_t, int32_t>> {};

INSTANTIATE_TEST_SUITE_P(Fabric, Experts,
                         testing::Values(std::pair(1, 1), std::pair(4, 4),
                                         std::pair(5, 3), std::pair(9, 2),
                                         std::pair(2, 7)));

TEST_P(Experts, aTokensOwnChoice) {
  for (bool normalise : {true, false}) {
    FabricFixture fixture(GetParam().first, GetParam().second);
    Matrix x = fixture.random(tokens, width);
    Matrix router = fixture.random(width, count);
    std::vector<Expert> list;
    ExpertsWeights weights;
    weights.router = {fixture.addWeights(router)};
    for (int64_t i = 0; i < count; ++i) {
      list.push_back({fixture.random(width, hidden),
                      fixture.random(width, hidden),
                      fixture.random(hidden, width)});
      weights.gate.push_back(fixture.addWeights(list.back().gate));
      weights.up.push_back(fixture.addWeights(list.back().up));
      weights.down.push_back(fixture.addWeights(list.back().down));
    }
    ExpertsShape shape;
    shape.experts = count;
    shape.chosen = 3;
    shape.hidden = hidden;
    shape.normalise = normalise;
    Sharded in = fixture.input(Axis::Y, width, tokens);
    fixture.output(
        experts(*fixture.writer, in, shape, weights, ElementType::Float32));
    absl::Status status = verifyProgram(fixture.program, FabricLimits{});
    EXPECT_TRUE(status.ok()) << status;
    absl::StatusOr<HostTensors> result = fixture.run({x.values});
    ASSERT_TRUE(result.ok()) << result.status();
    std::vector<double> all;
    for (int64_t t = 0; t < tokens; ++t) {
      std::vector<double> token(x.values.begin() + t * width,
                                x.values.begin() + (t + 1) * width);
      std::vector<double> y = expected(token, router, list, 3, normalise);
      all.insert(all.end(), y.begin(), y.end());
    }
    EXPECT_LT(difference((*result)[0], all), 1e-5);
  }
}

} // namespace
