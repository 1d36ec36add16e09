//===- speed_test.cpp - how fast the simulators are ----------------------===//
//
// A decoder of 135 million weights on 128 x 128 PEs. Takes minutes, so it runs
// only with --gtest_also_run_disabled_tests; prints what it measures.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/simulate/timed.h"
#include "runtime/fabric/verify/verify.h"

#include "test/unit/fabric/decoder_fixture.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

using namespace sol;
using namespace sol::fabric;

/// Of this processor's time, as others may be at work.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Some steps without time, each with the token that the one before chose; the
/// outputs of the first one.
void runFunctional(FunctionalFabric &fabric, HostTensors &outputs) {
  std::vector<float> token = {1};
  for (int step = 0; step < 3; ++step) {
    FunctionalCounts before = fabric.counts();
    double start = seconds();
    absl::StatusOr<HostTensors> result = fabric.step({token});
    ASSERT_TRUE(result.ok()) << result.status();
    double took = seconds() - start;
    FunctionalCounts after = fabric.counts();
    auto instructions = double(after.instructions - before.instructions);
    std::printf("step %d: %.2f s, %.1f million instructions (%.0f ns each), "
                "%.1f million words, %.1f million turns\n",
                step, took, instructions / 1e6, took / instructions * 1e9,
                double(after.words - before.words) / 1e6,
                double(after.turns - before.turns) / 1e6);
    if (step == 0)
      outputs = *result;
    token[0] = (*result)[1][0];
  }
}

TEST(Speed, DISABLED_aDecoderOf135MillionWeights) {
  const char *sideText = std::getenv("SOL_MESH_SIDE");
  int32_t side = sideText ? std::atoi(sideText) : 128;
  absl::StatusOr<Target> target = loadTarget("targets/mesh-128x128.json");
  ASSERT_TRUE(target.ok()) << target.status();
  FabricFixture fixture(side, side, FabricTiming::of(*target));
  DecoderShape shape;
  shape.attention = {9, 3, 64, 512, 0.125f, 0, true};
  shape.layers = 30;
  shape.width = 576;
  shape.hidden = 1536;
  shape.words = 49'152;
  double start = seconds();
  Model model = makeModel(fixture, shape);
  writeDecoder(fixture.program, {{&*fixture.writer, shape.layers}}, shape,
               addWeights(fixture, model));
  std::printf("written in %.2f s: %ld bytes a PE, %d colours, %zu pieces\n",
              seconds() - start, long(fixture.writer->bytesUsed()),
              fixture.writer->coloursUsed(), fixture.region().code.size());
  FabricLimits limits = FabricLimits::of(*target);
  start = seconds();
  absl::Status status = verifyProgram(fixture.program, limits);
  EXPECT_TRUE(status.ok()) << status;
  std::printf("verified in %.2f s\n", seconds() - start);
  start = seconds();
  auto fabric =
      FunctionalFabric::create(fixture.program, limits, fixture.bytes);
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  std::printf("loaded in %.2f s, %ld code lists\n", seconds() - start,
              long((*fabric)->array().codes().distinct()));
  HostTensors outputs;
  runFunctional(**fabric, outputs);
  auto timed = TimedFabric::create(fixture.program, *target,
                                   FabricTiming::of(*target), fixture.bytes);
  ASSERT_TRUE(timed.ok()) << timed.status();
  start = seconds();
  absl::StatusOr<TimedResult> result = (*timed)->step({{1.0f}});
  ASSERT_TRUE(result.ok()) << result.status();
  double took = seconds() - start;
  std::printf("timed: %.2f s, %.1f million events (%.0f ns each), %ld cycles "
              "(%.0f tokens/s), longest queue %ld\n",
              took, double(result->events) / 1e6,
              took / double(result->events) * 1e9, long(result->cycles),
              1 / target->seconds(double(result->cycles)),
              long(result->longestQueue));
  EXPECT_EQ(result->outputs, outputs);
}

} // namespace
