//===- program_test.cpp - programs as bytes, and wrong ones --------------===//
//
// What is written is read again; what can't run is refused, or stopped with a
// report that says who waits for whom.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/file/program_file.h"

#include "test/unit/fabric/fabric_fixture.h"

namespace {

using namespace sol;
using namespace sol::fabric;

/// Does a message have that text in it?
testing::AssertionResult says(const std::string &message,
                              const std::string &part) {
  if (message.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << '"' << message << "\" lacks \"" << part << '"';
}

/// A product and a norm on a mesh of 4 x 3.
class Programs : public testing::Test {
protected:
  Programs() : fixture(4, 3) {
    Matrix w = fixture.random(11, 14), gain = fixture.random(1, 14);
    Sharded in = fixture.input(Axis::Y, 11, 1);
    Sharded out = product(*fixture.writer, in, {fixture.addWeights(w)}, 14,
                          ElementType::Float32);
    fixture.output(
        rmsNorm(*fixture.writer, out, {fixture.addWeights(gain)}, 1e-5f));
    x = fixture.random(1, 11).values;
  }

  std::string message() {
    absl::StatusOr<HostTensors> result = fixture.run({x});
    return std::string(result.status().message());
  }
  /// The first instruction that takes words.
  Instruction &receiving() {
    for (Piece &piece : fixture.region().code)
      for (Instruction &item : piece.code)
        if (item.in >= 0)
          return item;
    return fixture.region().code[0].code[0];
  }

  FabricFixture fixture;
  std::vector<float> x;
};

TEST_F(Programs, areReadAsTheyWereWritten) {
  std::vector<uint8_t> bytes = writeProgram(fixture.program);
  EXPECT_EQ(bytes, writeProgram(fixture.program));
  absl::StatusOr<HostTensors> before = fixture.run({x});
  ASSERT_TRUE(before.ok()) << before.status();
  absl::StatusOr<FabricProgram> read = readProgram(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->regions.size(), 1u);
  const Region &found = read->regions[0], &expected = fixture.region();
  ASSERT_EQ(found.code.size(), expected.code.size());
  for (size_t i = 0; i < found.code.size(); ++i) {
    EXPECT_EQ(found.code[i].pes, expected.code[i].pes);
    EXPECT_EQ(found.code[i].code, expected.code[i].code);
  }
  EXPECT_EQ(bytes, writeProgram(*read));
  fixture.program = *read;
  EXPECT_EQ(*fixture.run({x}), *before);
}

TEST_F(Programs, damagedBytesAreRefused) {
  std::vector<uint8_t> bytes = writeProgram(fixture.program);
  EXPECT_EQ(readProgram({}).status().code(), absl::StatusCode::kDataLoss);
  for (size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_FALSE(readProgram(absl::MakeConstSpan(bytes).first(size)).ok());
  // A changed byte may give another program, but never a crash.
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<uint8_t> changed = bytes;
    changed[at] ^= 0x41;
    absl::StatusOr<FabricProgram> read = readProgram(changed);
    if (!read.ok())
      continue;
    auto fabric =
        FunctionalFabric::create(*read, FabricLimits{}, fixture.bytes);
    if (fabric.ok()) {
      (*fabric)->mostInstructions = 100'000;
      (void)(*fabric)->step({x});
    }
  }
}

TEST_F(Programs, aWordThatNeverComesIsReported) {
  // A PE at an end of its line sends a word less.
  for (Piece &piece : fixture.region().code)
    for (Instruction &item : piece.code)
      if (item.in < 0 && item.out >= 0 && item.n.value > 1) {
        --item.n.value;
        std::string text = message();
        EXPECT_TRUE(says(text, "wait for what never comes"));
        EXPECT_TRUE(says(text, "(stream) waits for word 3 on colour"));
        return;
      }
}

TEST_F(Programs, wordsThatNobodyTakesAreReported) {
  receiving().n.value -= 1;
  std::string text = message();
  EXPECT_TRUE(says(text, "are left at") || says(text, "wait for what"));
}

TEST_F(Programs, aCircleIsReported) {
  // Two PEs that both wait for the other's word.
  FabricProgram program;
  program.wafers = {{2, 1}};
  Region region;
  region.name = "pair";
  region.columns = 2;
  region.buffers = {{"words", {0, 0, 2, 1}, ElementType::Float32, 0, 4}};
  auto bit = [](Port port) { return 1u << static_cast<int>(port); };
  region.routes = {{{0, 0}, 0, bit(Port::East)},
                   {{1, 0}, 0, bit(Port::Core)},
                   {{1, 0}, 1, bit(Port::West)},
                   {{0, 0}, 1, bit(Port::Core)}};
  for (int32_t pe : {0, 1}) {
    Instruction take, give;
    take.opcode = give.opcode = Opcode::Stream;
    take.dst.buffer = give.dst.buffer = 0;
    take.store = true;
    take.in = 1 - pe;
    give.out = pe;
    region.code.push_back({{pe, 0}, {take, give}});
  }
  program.regions = {region};
  auto fabric = FunctionalFabric::create(program, FabricLimits{}, {});
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  std::string text((*fabric)->step({}).status().message());
  EXPECT_TRUE(says(text, "a circle of 2 PEs"));
  EXPECT_TRUE(says(text, "on colour 1 from PE [1, 0]"));
}

TEST_F(Programs, routesThatGoWrongAreRefused) {
  Region &region = fixture.region();
  std::vector<Route> routes = region.routes;
  region.routes.clear();
  EXPECT_TRUE(says(message(), "has no route for them"));
  region.routes = routes;
  for (Route &route : region.routes)
    if (route.ports == 1u << static_cast<int>(Port::South))
      route.ports = 1u << static_cast<int>(Port::West);
  EXPECT_NE(message(), "");
  region.routes = routes;
  region.routes[0].colour = 24;
  EXPECT_TRUE(says(message(), "is of colour 24: the machine has 24"));
}

TEST_F(Programs, operandsStayInTheirBuffers) {
  for (Piece &piece : fixture.region().code)
    for (Instruction &item : piece.code)
      if (item.opcode == Opcode::Product)
        item.b.first = 1;
  std::string text = message();
  EXPECT_TRUE(says(text, "(product): operand `b` takes"));
  EXPECT_TRUE(says(text, "its buffer has 16"));
}

} // namespace
