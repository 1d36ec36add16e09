//===- cost_test.cpp - local work, estimates and bounds ------------------===//
//
// Rates that the machine's description gives in words, what any cost has to
// obey, and that no estimate beats the bound, on every small mesh and shape.
//
//===----------------------------------------------------------------------===//
#include "machine/cost/lower_bound.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace {

using namespace sol;

Target named(const char *name) { return *findTarget(name); }

LocalProduct product(int64_t inputs, int64_t outputs, int64_t vectors,
                     NumberFormat format) {
  LocalProduct result;
  result.inputs = inputs;
  result.outputs = outputs;
  result.vectors = vectors;
  result.weights = result.activations = format;
  return result;
}

TEST(LocalWork, aMatrixVectorProductIsBoundByMemory) {
  Target wse3 = named("wse3");
  LocalProduct half = product(64, 64, 1, NumberFormat::Float16);
  EXPECT_DOUBLE_EQ(memoryRate(wse3, half), 4);
  EXPECT_EQ(productCycles(wse3, half).cycles, 64 * 64 / 4);
  EXPECT_EQ(productCycles(wse3, half).limit, LocalLimit::Memory);
  LocalProduct codes = product(64, 64, 1, NumberFormat::Int8);
  EXPECT_DOUBLE_EQ(memoryRate(wse3, codes), 8);
  EXPECT_EQ(productCycles(wse3, codes).cycles, 64 * 64 / 8);
  // 1 + 2 bytes for each multiply-add.
  codes.activations = NumberFormat::Float16;
  EXPECT_DOUBLE_EQ(memoryRate(wse3, codes), 16 / 3.0);
}

TEST(LocalWork, sumsInMemoryCostTraffic) {
  Target wse3 = named("wse3");
  LocalProduct half = product(64, 64, 1, NumberFormat::Float16);
  half.accumulators = Accumulators::MemoryFloat32;
  EXPECT_DOUBLE_EQ(memoryRate(wse3, half), 2);
  half.accumulators = Accumulators::MemoryFloat16;
  // Ports would do 4, the wafer's total 21.6 bytes a PE and cycle does not.
  EXPECT_DOUBLE_EQ(memoryRate(wse3, half), 21.6 / 6);
}

TEST(LocalWork, aMatrixMatrixProductUsesTheLanes) {
  for (const char *name : {"wse2", "wse3"}) {
    Target target = named(name);
    for (NumberFormat format :
         {NumberFormat::Float32, NumberFormat::Float16, NumberFormat::Int8}) {
      LocalCost cost = productCycles(target, product(32, 32, 16, format));
      EXPECT_EQ(cost.limit, LocalLimit::Arithmetic);
      EXPECT_EQ(cost.cycles,
                std::ceil(32 * 32 * 16 / laneRate(target, format, format)));
    }
  }
}

TEST(LocalWork, moreCostsMore) {
  Target target = named("wse3");
  for (int64_t side : {1, 7, 32, 100})
    for (int64_t vectors : {1, 2, 8}) {
      auto cycles = [&](int64_t inputs, int64_t outputs, int64_t count) {
        return productCycles(target, product(inputs, outputs, count,
                                             NumberFormat::Float16))
            .cycles;
      };
      EXPECT_LE(cycles(side, side, vectors), cycles(side + 1, side, vectors));
      EXPECT_LE(cycles(side, side, vectors), cycles(side, side + 1, vectors));
      EXPECT_LE(cycles(side, side, vectors), cycles(side, side, vectors + 1));
    }
  EXPECT_LE(vectorCycles(target, NumberFormat::Float16, 10, 1, 2, 1).cycles,
            vectorCycles(target, NumberFormat::Float32, 10, 1, 2, 1).cycles);
}

TEST(Links, takeLatencyAndBandwidth) {
  Target target = named("wse3");
  EXPECT_DOUBLE_EQ(linkSeconds(target, 0), target.linkLatencySeconds);
  EXPECT_DOUBLE_EQ(linkSeconds(target, 150e9), 1 + target.linkLatencySeconds);
  // From the middle of the wafer some 380 hops to the edge.
  EXPECT_NEAR(waferToWaferSeconds(target, {380, 0, 2, 2}, 0) -
                  target.linkLatencySeconds,
              380 / target.clockHertz, 3 / target.clockHertz);
}

TEST(Shapes, haveThePublishedSizes) {
  // Parameters of the layers, in billions.
  for (auto [name, billions] : {std::pair{"a", 55.4},
                                {"b", 109.1},
                                {"c", 568.8},
                                {"d", 2797.8},
                                {"llama-3.1-8b", 6.98},
                                {"llama-3.1-70b", 68.5},
                                {"llama-3.1-405b", 401.6},
                                {"gpt-oss-120b", 115.6},
                                {"kimi-k2", 1039.8},
                                {"qwen2-72b", 70.2}}) {
    absl::StatusOr<DecoderShape> shape = findShape(name);
    ASSERT_TRUE(shape.ok()) << shape.status().message();
    EXPECT_EQ(shape->name, name);
    EXPECT_NEAR(static_cast<double>(shape->layerWeights()) / 1e9, billions,
                0.002 * billions)
        << name;
  }
  // A token of shape C goes through 32 billion of its weights, D's through 58.
  for (auto [name, billions] : {std::pair{"c", 31.7}, {"d", 57.9}}) {
    DecoderShape shape = *findShape(name);
    EXPECT_NEAR(static_cast<double>(shape.layers * (shape.attentionWeights() +
                                                    shape.activeWeights())) /
                    1e9,
                billions, 0.03 * billions)
        << name;
  }
}

TEST(Shapes, nameWhatIsWrong) {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / "sol-shape-test.json";
  std::ofstream(path) << R"({"schema_version": 1, "name": "x", "layers": 0})";
  std::string message(loadShape(path.string()).status().message());
  EXPECT_NE(message.find("`description`"), std::string::npos) << message;
  std::filesystem::remove(path);
  EXPECT_FALSE(findShape("nosuch").ok());
}

DecoderShape smallShape(int64_t experts) {
  DecoderShape shape;
  shape.name = "small";
  shape.layers = 3;
  shape.width = 64;
  shape.heads = 4;
  shape.kvHeads = 2;
  shape.headDim = 16;
  shape.feedForward = 96;
  shape.experts = experts;
  shape.expertsPerToken = experts ? 2 : 0;
  shape.vocabulary = 288;
  return shape;
}

TEST(Bound, noEstimateBeatsIt) {
  for (const char *name : {"mesh-4x4", "mesh-8x8", "mesh-32x32"}) {
    Target target = named(name);
    // The bound has no starts; without them the estimate is nearest to it.
    ASSERT_TRUE(target.set("router.start_cycles", 0).ok());
    CollectiveModel collectives(FabricTiming::of(target));
    for (int64_t experts : {0, 8})
      for (NumberFormat weights : {NumberFormat::Float16, NumberFormat::Int8})
        for (int64_t context : {1, 100, 5000})
          for (int64_t wafers : {1, 2, 3}) {
            DecoderShape shape = smallShape(experts);
            DecodeSetting setting{weights, NumberFormat::Float16, context};
            EXPECT_GE(
                estimateDecode(target, collectives, shape, setting, wafers)
                    .tokenSeconds,
                boundDecodeSeconds(target, shape, setting, wafers));
          }
  }
}

TEST(Bound, noRectangleBeatsIt) {
  for (const char *name : {"mesh-4x4", "mesh-8x8", "mesh-32x32"}) {
    Target target = named(name);
    ASSERT_TRUE(target.set("router.start_cycles", 0).ok());
    CollectiveModel collectives(FabricTiming::of(target));
    for (int64_t experts : {0, 8})
      for (int64_t context : {1, 100, 5000}) {
        DecoderShape shape = smallShape(experts);
        DecodeSetting setting;
        setting.context = context;
        double bound = 0;
        for (const BoundStep &step : boundLayer(target, shape, setting, 1))
          bound += boundOfStep(target, step);
        for (int64_t width = 1; width <= target.columns; ++width)
          for (int64_t height = 1; height <= target.rows; height += 3) {
            int64_t layer = 0;
            for (const StepEstimate &step : estimateLayer(
                     target, collectives, shape, setting, width, height))
              layer += step.parts.cycles();
            EXPECT_GE(static_cast<double>(layer), bound)
                << width << " x " << height;
          }
      }
  }
}

TEST(Bound, aSumMaySpreadOverBothAxes) {
  // One sum of 256 elements on 16 x 16 PEs: 1 cycle of arithmetic, 16 hops; on
  // a line of 16: 16 cycles of arithmetic, 8 hops. On 8 x 8: 4 and 8.
  Target target = named("mesh-32x32");
  BoundStep step;
  step.macs = 256 * 8;
  step.rate = 8;
  step.summed = 256;
  EXPECT_LE(boundOfStep(target, step), 8);
  step.sums = 32;
  double wide = boundOfStep(target, step);
  EXPECT_LE(wide, 8) << "more sums leave more PEs to use";
}

TEST(Bound, growsWithTheWork) {
  Target target = named("mesh-32x32");
  BoundStep step;
  step.macs = 1e6;
  step.readBytes = 2e6;
  step.rate = 8;
  step.summed = step.sums = 1000;
  double few = boundOfStep(target, step);
  step.wholeLine = true;
  double line = boundOfStep(target, step);
  step.macs = 1e8;
  double many = boundOfStep(target, step);
  EXPECT_LE(few, line);
  EXPECT_LT(line, many);
  // 1e8 multiply-adds on 1,024 PEs of 8.
  EXPECT_GE(many, 1e8 / 1024 / 8);
}

TEST(Estimate, growsWithContextAndNamesItsLimit) {
  Target target = named("mesh-128x128");
  CollectiveModel collectives(FabricTiming::of(target));
  DecoderShape shape = smallShape(0);
  shape.width = 512;
  shape.feedForward = 2048;
  double before = 0;
  for (int64_t context : {128, 1024, 8192, 65536}) {
    DecodeEstimate estimate = estimateDecode(
        target, collectives, shape,
        {NumberFormat::Float16, NumberFormat::Float16, context}, 1);
    EXPECT_GE(estimate.tokenSeconds, before);
    EXPECT_FALSE(estimate.layer.binding().empty());
    EXPECT_LE(estimate.width, target.columns);
    before = estimate.tokenSeconds;
  }
}

} // namespace
