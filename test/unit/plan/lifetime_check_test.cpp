//===- lifetime_check_test.cpp - programs that read what isn't there ------===//
//
// Programs made by hand: the right ones pass, and each wrong one differs from a
// right one in one thing.
//
//===----------------------------------------------------------------------===//
#include "runtime/plan/lifetime_check.h"

#include <gtest/gtest.h>

#include <string>

using namespace sol;

namespace {

/// Values: 0 is the input, 1..3 lie in slots 0..2.
class LifetimeTest : public testing::Test {
protected:
  void SetUp() override {
    registerAllKernels();
    program.slots = 3;
    program.values = {
        value(fb::ValueKind_Input, -1), value(fb::ValueKind_Slot, 0),
        value(fb::ValueKind_Slot, 1), value(fb::ValueKind_Slot, 2)};
    program.inputs.push_back(port("x", 0));
  }

  static ProgramValue value(fb::ValueKind kind, int slot) {
    ProgramValue value;
    value.kind = kind;
    value.type = DType::F32;
    value.slot = slot;
    return value;
  }

  static ProgramPort port(const char *name, int value) {
    ProgramPort port;
    port.name = name;
    port.value = value;
    return port;
  }

  static ProgramStep kernel(const char *name, std::vector<int> inputs,
                            std::vector<int> outputs) {
    ProgramStep step;
    step.kernel = findKernel(name);
    step.call.kernel = name;
    step.call.location = "here";
    step.inputs = std::move(inputs);
    step.outputs = std::move(outputs);
    return step;
  }

  void add(ProgramStep step) { program.body.steps.push_back(std::move(step)); }

  /// Message of the check, empty if it passes.
  std::string check() { return std::string(checkLifetimes(program).message()); }

  Program program;
};

TEST_F(LifetimeTest, StepsInOrder) {
  add(kernel("onnx.MatMul", {0, 0}, {1}));
  add(kernel("onnx.MatMul", {0, 1}, {2}));
  program.outputs.push_back(port("y", 2));
  EXPECT_EQ(check(), "");
}

TEST_F(LifetimeTest, ReadBeforeItIsMade) {
  add(kernel("onnx.MatMul", {0, 1}, {2}));
  add(kernel("onnx.MatMul", {0, 0}, {1}));
  EXPECT_EQ(check(), "step `here` reads value 1, which is not there");
}

TEST_F(LifetimeTest, ReadAfterItsSlotWasWritten) {
  program.values[2].slot = 0;
  add(kernel("onnx.MatMul", {0, 0}, {1}));
  add(kernel("onnx.MatMul", {0, 0}, {2}));
  add(kernel("onnx.MatMul", {0, 1}, {3}));
  EXPECT_EQ(check(), "step `here` reads value 1, which is not there");
}

TEST_F(LifetimeTest, WrittenOverWhatIsRead) {
  program.values[2].slot = 0;
  add(kernel("onnx.MatMul", {0, 0}, {1}));
  add(kernel("onnx.MatMul", {0, 1}, {2}));
  EXPECT_EQ(check(), "step `here` writes value 2 over value 1, which it reads");
  // Elementwise operators may.
  program.body.steps.pop_back();
  add(kernel("onnx.Add", {1, 0}, {2}));
  EXPECT_EQ(check(), "");
}

TEST_F(LifetimeTest, ViewGoesWithWhatItViews) {
  program.values[2] = value(fb::ValueKind_View, -1);
  program.values.push_back(value(fb::ValueKind_Slot, 0));
  add(kernel("onnx.MatMul", {0, 0}, {1}));
  add(kernel("onnx.Identity", {1}, {2}));
  program.outputs.push_back(port("y", 2));
  EXPECT_EQ(check(), "");
  add(kernel("onnx.MatMul", {0, 0}, {4}));
  EXPECT_EQ(check(), "output `y` is never computed");
}

TEST_F(LifetimeTest, NothingGiven) {
  add(kernel("onnx.MatMul", {0, 0}, {}));
  EXPECT_EQ(check(), "step `here` gives nothing");
}

TEST_F(LifetimeTest, TensorsAreNoCaches) {
  add(kernel("nn.cache_length", {0}, {1}));
  EXPECT_EQ(check(),
            "step `here` takes value 0 for a cache or not one wrongly");
  program.values[0].kind = fb::ValueKind_State;
  EXPECT_EQ(check(), "");
  add(kernel("onnx.MatMul", {0, 0}, {2}));
  EXPECT_EQ(check(),
            "step `here` takes value 0 for a cache or not one wrongly");
}

/// A loop that carries value 1 in value 2 and gives it as value 3.
ProgramStep loopOver(ProgramStep inner, int result) {
  ProgramStep loop;
  loop.kind = fb::StepKind_Loop;
  loop.call.location = "loop";
  loop.inputs = {0, 0, 1};
  loop.outputs = {3};
  ProgramBlock &body = loop.blocks.emplace_back();
  body.arguments = {4, 5, 2};
  body.steps.push_back(std::move(inner));
  body.results = {5, result};
  return loop;
}

TEST_F(LifetimeTest, Loop) {
  program.slots = 5;
  program.values.insert(program.values.end(), 2,
                        value(fb::ValueKind_Slot, 0)); // iteration, condition
  program.values.push_back(value(fb::ValueKind_Slot, 3));
  program.values.push_back(value(fb::ValueKind_Slot, 4));
  add(kernel("onnx.MatMul", {0, 0}, {1}));
  add(loopOver(kernel("onnx.MatMul", {1, 2}, {6}), 6));
  program.outputs.push_back(port("y", 3));
  EXPECT_EQ(check(), "");
  // What the body makes is gone after it.
  program.outputs[0].value = 6;
  EXPECT_EQ(check(), "output `y` is never computed");
  // The first iteration takes the memory of value 1, which the second reads.
  program.outputs[0].value = 3;
  program.values[6].slot = 0;
  program.body.steps[1].blocks[0].steps[0] = kernel("onnx.MatMul", {2, 2}, {6});
  EXPECT_EQ(check(), "");
  program.body.steps[1].blocks[0].steps.insert(
      program.body.steps[1].blocks[0].steps.begin(),
      kernel("onnx.MatMul", {1, 1}, {7}));
  EXPECT_EQ(check(), "step `here` reads value 1, which is not there");
}

TEST_F(LifetimeTest, BranchesGiveTheirOwn) {
  ProgramStep branch;
  branch.kind = fb::StepKind_If;
  branch.call.location = "if";
  branch.inputs = {0};
  branch.outputs = {3};
  branch.blocks.resize(2);
  branch.blocks[0].steps.push_back(kernel("onnx.MatMul", {0, 0}, {1}));
  branch.blocks[0].results = {1};
  branch.blocks[1].results = {0};
  add(std::move(branch));
  program.outputs.push_back(port("y", 3));
  EXPECT_EQ(check(), "");
  // The other branch made it.
  program.body.steps[0].blocks[1].results = {1};
  EXPECT_EQ(check(), "step `if` reads value 1, which is not there");
}

} // namespace
