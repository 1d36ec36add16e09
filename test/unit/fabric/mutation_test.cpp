//===- mutation_test.cpp - one thing changed in a program ----------------===//
//
// A changed program must not pass as if nothing were: the verifier refuses it,
// the watchdog stops it, or the numbers are wrong. Prints the score.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/verify/verify.h"

#include "test/unit/fabric/decoder_fixture.h"

#include <cstdio>
#include <random>

namespace {

using namespace sol;
using namespace sol::fabric;

class Mutations : public testing::Test {
protected:
  Mutations() : fixture(4, 4), generator(7) {
    DecoderShape shape = smallDecoder(4, 2, 8, 1);
    Model model = makeModel(fixture, shape);
    writeDecoder(fixture.program, {{&*fixture.writer, shape.layers}}, shape,
                 addWeights(fixture, model));
  }

  size_t pick(size_t count) { return generator() % count; }

  /// All outputs of a few steps; the first problem otherwise.
  absl::StatusOr<std::vector<HostTensors>> run(const FabricProgram &program) {
    auto fabric =
        FunctionalFabric::create(program, FabricLimits{}, fixture.bytes);
    if (!fabric.ok())
      return fabric.status();
    (*fabric)->mostInstructions = 1'000'000;
    std::vector<HostTensors> all;
    // More tokens than rows, so that each row has a part of the cache.
    for (float token : {3.0f, 11.0f, 46.0f, 0.0f, 29.0f, 30.0f}) {
      absl::StatusOr<HostTensors> result = (*fabric)->step({{token}});
      if (!result.ok())
        return result.status();
      all.push_back(*std::move(result));
    }
    return all;
  }

  std::string changeInstruction(Region &region);
  std::string changeRoute(Region &region);
  std::string changeSlice(Region &region);

  FabricFixture fixture;
  std::mt19937 generator;
};

std::string Mutations::changeInstruction(Region &region) {
  Piece &piece = region.code[pick(region.code.size())];
  size_t index = pick(piece.code.size());
  Instruction &item = piece.code[index];
  switch (pick(8)) {
  case 0:
    piece.code.erase(piece.code.begin() + static_cast<int64_t>(index));
    return "instruction dropped";
  case 1:
    if (item.in < 0)
      return "";
    item.in ^= 1;
    return "colour in";
  case 2:
    if (item.out < 0)
      return "";
    item.out ^= 1;
    return "colour out";
  case 3:
    if (item.opcode >= Opcode::SetRegister || item.dst.buffer < 0)
      return "";
    ++item.dst.first;
    return "destination moved";
  case 4:
    if (item.a.buffer < 0)
      return "";
    ++item.a.first;
    return "operand moved";
  case 5:
    if (item.opcode >= Opcode::SetRegister)
      return "";
    ++item.n.value;
    return "count";
  case 6:
    if (item.opcode != Opcode::SetRegister)
      return "";
    ++item.expression.constant;
    return "expression";
  default:
    if (item.opcode != Opcode::Stream || item.combine != Combine::Add)
      return "";
    item.combine = Combine::None;
    return "sum left out";
  }
}

std::string Mutations::changeRoute(Region &region) {
  Route &route = region.routes[pick(region.routes.size())];
  switch (pick(3)) {
  case 0:
    route.ports ^= 1u << pick(5);
    return "port";
  case 1:
    route.colour ^= 1;
    return "route's colour";
  default:
    route.pes.columns > 1 ? --route.pes.columns : --route.pes.rows;
    return "route's PEs";
  }
}

std::string Mutations::changeSlice(Region &region) {
  Slice &slice = region.weights[pick(region.weights.size())];
  switch (pick(3)) {
  case 0:
    ++slice.row.constant;
    return "shard's row";
  case 1:
    ++slice.column.constant;
    return "shard's column";
  default:
    ++slice.first;
    return "shard's place";
  }
}

TEST_F(Mutations, areNoticed) {
  FabricLimits limits;
  absl::Status status = verifyProgram(fixture.program, limits);
  ASSERT_TRUE(status.ok()) << status;
  absl::StatusOr<std::vector<HostTensors>> expected = run(fixture.program);
  ASSERT_TRUE(expected.ok()) << expected.status();
  int verifier = 0, watchdog = 0, wrong = 0, unchanged = 0;
  std::map<std::string, int> passed;
  constexpr int changes = 2000;
  while (verifier + watchdog + wrong + unchanged < changes) {
    FabricProgram changed = fixture.program;
    Region &region = changed.regions[0];
    size_t kind = pick(4);
    std::string name = kind == 0   ? changeRoute(region)
                       : kind == 1 ? changeSlice(region)
                                   : changeInstruction(region);
    if (name.empty())
      continue;
    if (!verifyProgram(changed, limits).ok()) {
      ++verifier;
      continue;
    }
    absl::StatusOr<std::vector<HostTensors>> found = run(changed);
    if (!found.ok())
      ++watchdog;
    else if (*found != *expected)
      ++wrong;
    else {
      ++unchanged;
      ++passed[name];
    }
  }
  std::printf("of %d changes: verifier %d, watchdog %d, wrong answer %d, "
              "unchanged %d\n",
              changes, verifier, watchdog, wrong, unchanged);
  for (auto &[name, count] : passed)
    std::printf("  unchanged: %s %d\n", name.c_str(), count);
  EXPECT_LT(unchanged, changes / 20);
  EXPECT_GT(verifier, 0);
  EXPECT_GT(wrong, 0);
}

} // namespace
