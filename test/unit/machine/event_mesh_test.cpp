//===- event_mesh_test.cpp - the rules of the mesh, one at a time --------===//
//
// Times that can be counted on fingers, and programs that can't run.
//
//===----------------------------------------------------------------------===//
#include "machine/events/collective_programs.h"

#include <gtest/gtest.h>

namespace {

using namespace sol;

unsigned bit(Port port) { return 1u << static_cast<int>(port); }

/// PE 0 sends `words` words over a line to its last PE.
MeshProgram message(int64_t pes, int64_t words) {
  MeshProgram program(pes, 1, words);
  program.colours = 1;
  for (int64_t pe = 0; pe < pes; ++pe)
    program.routes.push_back(
        {pe, 0, bit(pe + 1 < pes ? Port::East : Port::Core)});
  MeshInstruction send, receive;
  send.words = receive.words = words;
  send.out = receive.in = 0;
  receive.store = true;
  program.instructions[0] = {send};
  program.instructions[pes - 1] = {receive};
  return program;
}

TEST(EventMesh, aMessageTakesWordsHopsAndRamps) {
  for (int64_t pes : {2, 5, 30})
    for (int64_t words : {1, 9}) {
      FabricTiming timing{1, 2, 11};
      absl::StatusOr<MeshResult> result = runMesh(timing, message(pes, words));
      ASSERT_TRUE(result.ok());
      EXPECT_EQ(result->cycles, 11 + words + (pes - 1) + 2 * 2 + 1);
      EXPECT_EQ(result->cycles, timing.start + timing.message(words, pes - 1));
      EXPECT_EQ(result->longestQueue, 1);
    }
}

TEST(EventMesh, twoMessagesShareALink) {
  // PEs 0 and 1 both send 10 words to PE 3, through the links from 1 on.
  MeshProgram program(4, 1, 10);
  program.colours = 2;
  for (int64_t pe = 0; pe < 4; ++pe)
    for (int colour : {0, 1})
      program.routes.push_back(
          {pe, colour, bit(pe < 3 ? Port::East : Port::Core)});
  MeshInstruction send, receive;
  send.words = receive.words = 10;
  for (int colour : {1, 0}) {
    send.out = receive.in = colour;
    send.priority = 1 - colour;
    program.instructions[colour].push_back(send);
    program.instructions[3].push_back(receive);
  }
  absl::StatusOr<MeshResult> result = runMesh({1, 2, 0}, program);
  ASSERT_TRUE(result.ok());
  // 20 words in a row from PE 1 on, whose first word is handled at 0.
  EXPECT_EQ(result->cycles, 20 + 2 + 2 * 2 + 1);
  EXPECT_GT(result->longestQueue, 1);
}

TEST(EventMesh, whoWaitsForeverIsNamed) {
  MeshProgram program = message(3, 4);
  program.instructions[0][0].words = 3;
  absl::StatusOr<MeshResult> result = runMesh({1, 2, 0}, program);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(),
            "1 PEs wait for words that never come; PE [2, 0] waits for word 3 "
            "of 4 on colour 0 in instruction 0");
}

TEST(EventMesh, refusesWhatDoesNotFit) {
  auto problem = [](const MeshProgram &program) {
    return std::string(runMesh({1, 2, 0}, program).status().message());
  };
  MeshProgram program = message(3, 4);
  program.routes.push_back({1, 0, bit(Port::South)});
  EXPECT_NE(problem(program).find("leaves the mesh"), std::string::npos);
  program = message(3, 4);
  program.routes.push_back({1, 1, 0});
  EXPECT_NE(problem(program).find("1 colours"), std::string::npos);
  program = message(3, 4);
  program.instructions[0][0].first = 1;
  EXPECT_NE(problem(program).find("4 elements"), std::string::npos);
  program = message(3, 4);
  program.instructions[2][0].in = 7;
  EXPECT_NE(problem(program).find("colours 7"), std::string::npos);
  EXPECT_EQ(runMesh({1, 2, 0}, message(3, 4), 5).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(EventMesh, isDeterministic) {
  FabricTiming timing{1, 2, 3};
  ReductionTree tree = binaryTree(32);
  MeshProgram program(32, 1, 20);
  addReduction(program, rowOf(program, 0), tree,
               scheduleReduction(timing, tree, 20), 20);
  absl::StatusOr<MeshResult> first = runMesh(timing, program),
                             second = runMesh(timing, program);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->ends, second->ends);
  EXPECT_EQ(first->events, second->events);
}

} // namespace
