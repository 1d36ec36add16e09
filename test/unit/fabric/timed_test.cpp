//===- timed_test.cpp - the cycles of programs ---------------------------===//
//
// All-reduces against the cost library's closed forms, single instructions
// against what can be counted on fingers, and the numbers against those of the
// functional simulator, bit for bit.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/simulate/timed.h"

#include "machine/cost/local_work.h"
#include "machine/events/collective_programs.h"
#include "test/unit/fabric/fabric_fixture.h"

namespace {

using namespace sol;
using namespace sol::fabric;

/// The PEs of a wafer that a test doesn't look into.
Target machine() {
  Target target;
  target.bytesPerPe = 49'152;
  target.readBytesPerCycle = 16;
  target.writeBytesPerCycle = 8;
  target.trafficBytesPerCycle = 21.6;
  target.clockHertz = 1e9;
  target.float32Macs = 1;
  target.float16Macs = 8;
  target.int8Macs = 16;
  target.laneFraction = 1;
  target.wordBytes = 4;
  target.hopCycles = 1;
  target.rampCycles = 2;
  target.colours = 24;
  target.queueWords = 4;
  target.linkBytesPerSecond = 150e9;
  target.linkLatencySeconds = 1e-6;
  return target;
}

/// Cycles of an all-reduce of `words` words over a line of `pes` PEs.
absl::StatusOr<TimedResult> allReduce(FabricFixture &fixture, int32_t words) {
  Sharded vector =
      fixture.input(Axis::X, int64_t(words) * fixture.region().columns, 1);
  fixture.writer->allReduce(fixture.writer->lines(Axis::X), vector.operand(),
                            {1, -1}, {words, -1}, Combine::Add);
  fixture.output(vector);
  absl::StatusOr<std::unique_ptr<TimedFabric>> fabric = TimedFabric::create(
      fixture.program, machine(), fixture.timing, fixture.bytes);
  if (!fabric.ok())
    return fabric.status();
  Matrix values = fixture.random(1, vector.size);
  return (*fabric)->step({values.values});
}

TEST(Timed, allReducesTakeWhatTheClosedFormsSay) {
  for (int64_t start : {0, 30})
    for (int32_t pes : {2, 3, 8, 17, 64, 128})
      for (int32_t words : {1, 4, 33}) {
        FabricFixture fixture(pes, 1, {1, 2, start});
        // Trees that take all colours that they like.
        fixture.writer->mostTreeColours = 20;
        absl::StatusOr<TimedResult> result = allReduce(fixture, words);
        ASSERT_TRUE(result.ok()) << result.status();
        Collective reduction =
            fixture.model.reduce(pes, words, RootPlace::Middle);
        CycleParts parts = reduction.parts;
        parts += fixture.model.broadcast(pes, words, RootPlace::Middle);
        EXPECT_NEAR(double(result->cycles), double(parts.cycles()),
                    0.04 * double(parts.cycles()))
            << pes << " PEs, " << words << " words, start " << start;
        EXPECT_LE(result->cycles, parts.cycles());
      }
}

TEST(Timed, allReducesTakeWhatTheEventMeshSays) {
  for (int64_t start : {0, 30})
    for (int64_t ramp : {0, 2})
      for (int32_t pes : {2, 5, 16, 33})
        for (int32_t words : {1, 4, 20}) {
          FabricTiming timing{1, ramp, start};
          FabricFixture fixture(pes, 1, timing);
          fixture.writer->mostTreeColours = 20;
          absl::StatusOr<TimedResult> result = allReduce(fixture, words);
          ASSERT_TRUE(result.ok()) << result.status();
          ReductionTree tree =
              fixture.model.tree(pes, words, RootPlace::Middle);
          MeshProgram mesh(pes, 1, words);
          addReduction(mesh, rowOf(mesh, 0), tree,
                       scheduleReduction(timing, tree, words), words);
          addBroadcast(mesh, rowOf(mesh, 0), tree.root, words);
          absl::StatusOr<MeshResult> expected = runMesh(timing, mesh);
          ASSERT_TRUE(expected.ok()) << expected.status();
          EXPECT_EQ(result->cycles, expected->cycles)
              << pes << " PEs, " << words << " words, start " << start;
          EXPECT_EQ(result->ends, expected->ends);
        }
}

TEST(Timed, aMessageAndALocalProduct) {
  FabricFixture fixture(1, 1, {1, 2, 30});
  Matrix x = fixture.random(1, 40), w = fixture.random(40, 25);
  Sharded in = fixture.input(Axis::Y, 40, 1);
  fixture.output(product(*fixture.writer, in, {fixture.addWeights(w)}, 25,
                         ElementType::Float32));
  auto fabric = TimedFabric::create(fixture.program, machine(), fixture.timing,
                                    fixture.bytes);
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  absl::StatusOr<TimedResult> result = (*fabric)->step({x.values});
  ASSERT_TRUE(result.ok()) << result.status();
  // A multiply-add a cycle, after one start.
  EXPECT_EQ(result->cycles, 30 + 40 * 25);
  // Four float16 a cycle, as weights and vector come from memory.
  LocalProduct narrow{40, 25, 1, NumberFormat::Float16, NumberFormat::Float16};
  EXPECT_EQ(productCycles(machine(), narrow).cycles, 250);
}

TEST(Timed, theSameNumbersAsWithoutTime) {
  for (auto [columns, rows] : {std::pair(5, 3), std::pair(8, 8)}) {
    FabricFixture fixture(columns, rows);
    Matrix x = fixture.random(2, 30), gain = fixture.random(1, 30);
    Matrix gate = fixture.random(30, 41), up = fixture.random(30, 41);
    Matrix down = fixture.random(41, 30);
    RegionWriter &writer = *fixture.writer;
    Sharded in = fixture.input(Axis::Y, 30, 2);
    Sharded normed = rmsNorm(writer, in, {fixture.addWeights(gain)}, 1e-5f);
    Sharded out = gatedMlp(writer, normed, {fixture.addWeights(gate)},
                           {fixture.addWeights(up)}, {fixture.addWeights(down)},
                           41, Opcode::GeluTanh, ElementType::Float16);
    addResidual(writer, in, out);
    fixture.output(in);
    absl::StatusOr<HostTensors> plain = fixture.run({x.values});
    ASSERT_TRUE(plain.ok()) << plain.status();
    auto fabric = TimedFabric::create(fixture.program, machine(),
                                      fixture.timing, fixture.bytes);
    ASSERT_TRUE(fabric.ok()) << fabric.status();
    absl::StatusOr<TimedResult> timed = (*fabric)->step({x.values});
    ASSERT_TRUE(timed.ok()) << timed.status();
    EXPECT_EQ(*plain, timed->outputs);
    EXPECT_GT(timed->cycles, 0);
    // A second run takes the same time.
    absl::StatusOr<TimedResult> again = (*fabric)->step({x.values});
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->cycles, timed->cycles);
    EXPECT_EQ(again->outputs, timed->outputs);
  }
}

TEST(Timed, aWordThatNeverComesIsReported) {
  FabricFixture fixture(4, 1);
  Sharded vector = fixture.input(Axis::X, 8, 1);
  fixture.writer->allReduce(fixture.writer->lines(Axis::X), vector.operand(),
                            {1, -1}, {2, -1}, Combine::Add);
  for (Piece &piece : fixture.region().code)
    if (piece.code.front().in < 0)
      piece.code.front().n.value = 1;
  auto fabric = TimedFabric::create(fixture.program, machine(), fixture.timing,
                                    fixture.bytes);
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  absl::StatusOr<TimedResult> result =
      (*fabric)->step({fixture.random(1, 8).values});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(result.status().message().find("waits for word 1 on colour"),
            absl::string_view::npos)
      << result.status();
}

TEST(Timed, wordsBetweenWafers) {
  // One row: wafer 0 sends 50 words east, wafer 1 receives them.
  FabricProgram program;
  program.wafers = {{3, 1}, {2, 1}};
  program.links = {{0, 0, 1, 1, 0}};
  program.inputs = {{"in", ElementType::Float32, 1, 50, 50, 1, 0}};
  program.outputs = program.inputs;
  auto bit = [](Port port) { return 1u << static_cast<int>(port); };
  for (int32_t wafer : {0, 1}) {
    Region region;
    region.name = wafer ? "to" : "from";
    region.wafer = wafer;
    region.columns = program.wafers[wafer].columns;
    region.buffers = {{"words", {wafer, 0}, ElementType::Float32, 0, 50}};
    Instruction item;
    item.opcode = Opcode::Stream;
    item.n = {50, -1};
    item.dst.buffer = 0;
    (wafer ? item.in : item.out) = 2;
    item.store = wafer == 1;
    region.code = {{{wafer, 0}, {item}}};
    Slice slice;
    slice.pes = {wafer, 0};
    slice.columns = 50;
    slice.columnEnd = 50;
    (wafer ? region.outputs : region.inputs) = {slice};
    region.routes = {{{0, 0, region.columns - wafer, 1}, 2, bit(Port::East)}};
    if (wafer)
      region.routes.push_back({{1, 0}, 2, bit(Port::Core)});
    program.regions.push_back(region);
  }
  std::vector<float> words;
  for (int i = 0; i < 50; ++i)
    words.push_back(float(i));
  auto plain = FunctionalFabric::create(program, FabricLimits{}, {});
  ASSERT_TRUE(plain.ok()) << plain.status();
  absl::StatusOr<HostTensors> numbers = (*plain)->step({words});
  ASSERT_TRUE(numbers.ok()) << numbers.status();
  EXPECT_EQ((*numbers)[0], words);
  FabricTiming timing{1, 2, 30};
  auto fabric = TimedFabric::create(program, machine(), timing, {});
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  absl::StatusOr<TimedResult> result = (*fabric)->step({words});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outputs[0], words);
  // Three hops within wafers, and a microsecond between them.
  EXPECT_EQ(result->cycles, 30 + 50 + timing.flight(3) + 1000 + 1);
}

} // namespace
