//===- native_refusals_test.cpp - machine code that is not run ------------===//
//
// Each wrong plan differs from a right one in one thing, and its message says
// which. Nothing here runs code.
//
//===----------------------------------------------------------------------===//
#include "native_plan.h"

#include "runtime/plan/native_image.h"

#include <cstdlib>

namespace sol::test {
namespace {

void expectRefused(const PlanText &text, const std::string &part,
                   absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  PlanOpenOptions options;
  options.loadCode = code != absl::StatusCode::kInvalidArgument;
  auto plan = openPlan(text, options);
  ASSERT_FALSE(plan.ok()) << "expected: " << part;
  EXPECT_EQ(plan.status().code(), code);
  EXPECT_NE(std::string(plan.status().message()).find(part), std::string::npos)
      << plan.status();
}

/// A plan that adds, whose image is described wrongly.
void expectImageRefused(std::function<void(ImageText &)> change,
                        const std::string &part) {
  PlanText text = addPlan();
  text.changeImages = [&](std::vector<ImageText> &images) {
    change(images[0]);
  };
  expectRefused(text, part);
}

/// A plan that adds, whose loop is described wrongly.
void expectLoopRefused(std::function<void(LoopText &)> change,
                       const std::string &part) {
  PlanText text = addPlan();
  change(text.loops[0]);
  expectRefused(text, "compiled loop `add` has " + part);
}

TEST(NativeImages, mustLieInTheFile) {
  expectImageRefused([](ImageText &image) { image.offset += 1 << 20; },
                     "for x86-64 lies outside the file");
  expectImageRefused([](ImageText &image) { image.bytes = ~uint64_t(0); },
                     "lies outside the file");
  expectImageRefused([](ImageText &image) { image.bytes = 0; },
                     "lies outside the file: 0 bytes");
}

TEST(NativeImages, mustBeginWithAPage) {
  expectImageRefused([](ImageText &image) { ++image.offset, --image.bytes; },
                     "no multiple of 4096");
}

TEST(NativeImages, mustHaveTheirHash) {
  expectImageRefused([](ImageText &image) { image.hash ^= 1; },
                     "differs from its hash");
}

TEST(NativeImages, mustNotOverlap) {
  // The description follows at the next multiple of 4096.
  expectImageRefused([](ImageText &image) { image.bytes = 4097; },
                     "overlaps the description");
  expectImageRefused([](ImageText &image) { image.offset = 0; },
                     "overlaps the header");
}

TEST(NativeImages, haveLevelsOfTheirOwn) {
  PlanText text = addPlan();
  text.levels = {"x86-64", "x86-64"};
  text.loops[0].entries = {0, 0};
  expectRefused(text, "share a level or bytes");
  text.levels = {"x86-64", ""};
  expectRefused(text, "has no level");
  text.levels = std::vector<std::string>(17, "x86-64");
  expectRefused(text, "17 levels, more than 16");
  text.levels = {"x86-64", "x86-64-v3"};
  text.changeImages = [](std::vector<ImageText> &images) {
    images[1].offset = images[0].offset;
  };
  expectRefused(text, "share a level or bytes");
}

TEST(NativeImages, mustFitThisProcessor) {
  PlanText text = addPlan();
  text.levels = {"armv9.2-a", "riscv64"};
  text.loops[0].entries = {0, 0};
  expectRefused(text, "has machine code for armv9.2-a, riscv64, and this",
                absl::StatusCode::kFailedPrecondition);
  expectRefused(text, "sol-compile --native=none",
                absl::StatusCode::kFailedPrecondition);
  // It can be looked at nevertheless.
  PlanOpenOptions options;
  options.loadCode = false;
  auto plan = openPlan(text, options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ((*plan)->nativeImage(), -1);
  EXPECT_EQ((*plan)->nativeLoops()[0].function, nullptr);
  text.levels.clear();
  text.loops[0].entries.clear();
  expectRefused(text, "has machine code for no processor",
                absl::StatusCode::kFailedPrecondition);
}

TEST(NativeLoops, sizesAndScratch) {
  expectLoopRefused([](LoopText &loop) { loop.sizes = 0; },
                    "0 sizes, not 1 to 64");
  expectLoopRefused([](LoopText &loop) { loop.sizes = 65; },
                    "65 sizes, not 1 to 64");
  expectLoopRefused([](LoopText &loop) { loop.scratch = -1; },
                    "scratch of -1 bytes");
  expectLoopRefused([](LoopText &loop) { loop.scratch = 65537; },
                    "scratch of 65537 bytes");
}

TEST(NativeLoops, groupsAndAxes) {
  expectLoopRefused([](LoopText &loop) { loop.groups = {1}; }, "group 1 of 1");
  expectLoopRefused([](LoopText &loop) { loop.groups = {-1}; },
                    "group -1 of 1");
  expectLoopRefused([](LoopText &loop) { loop.operands[1].axes = {1}; },
                    "operand 1 along dimension 1 of 1");
  expectLoopRefused([](LoopText &loop) { loop.results[0].axes = {-2}; },
                    "result 0 along dimension -2 of 1");
  expectLoopRefused([](LoopText &loop) { loop.operands[0].axes = {0, 0}; },
                    "operand 0 along dimension 0 twice");
  expectLoopRefused([](LoopText &loop) { loop.groups = {0, 0}; },
                    "dimension 1, which no operand has");
}

TEST(NativeLoops, resultsHaveEveryElementOnce) {
  expectLoopRefused([](LoopText &loop) { loop.results.clear(); }, "no result");
  expectLoopRefused([](LoopText &loop) { loop.results[0].axes = {-1}; },
                    "result 0 without dimension 0");
  PlanText text = sumPlan();
  text.loops[0].results[0].axes = {1};
  expectRefused(text, "compiled loop `sum` has result 0 without dimension 0");
  text = sumPlan();
  text.loops[0].byRows = false;
  expectRefused(text, "compiled loop `sum` has result 0 without dimension 1");
}

TEST(NativeLoops, elementTypes) {
  expectLoopRefused([](LoopText &loop) { loop.operands[0].type = DType(99); },
                    "operand 0 of unknown element type 99");
  expectLoopRefused([](LoopText &loop) { loop.results[0].type = DType::I4; },
                    "result 0 of int4, several of which share a byte");
}

TEST(NativeLoops, entries) {
  expectLoopRefused([](LoopText &loop) { loop.entries = {}; },
                    "0 entries for 1 images");
  expectLoopRefused([](LoopText &loop) { loop.entries = {0, 0}; },
                    "2 entries for 1 images");
  expectLoopRefused([](LoopText &loop) { loop.entries = {sizeof(code)}; },
                    "entry " + std::to_string(sizeof(code)) + " in image 0");
}

TEST(NativeSteps, callLoopsThatAreThere) {
  PlanText text = addPlan();
  text.steps[0].loop = 1;
  expectRefused(text, "step `here` calls compiled loop 1 of 1");
  text.steps[0].loop = -1;
  expectRefused(text, "step `here` calls compiled loop -1 of 1");
}

TEST(NativeSteps, haveTheirLoopsOperands) {
  PlanText text = addPlan();
  text.steps[0].inputs = {0};
  expectRefused(text, "has 1 operands and 1 results where compiled loop `add` "
                      "has 2 and 1");
  text = addPlan();
  text.values[1].type = DType::I32;
  expectRefused(text, "gives operand 1 of compiled loop `add` int32 of kind "
                      "Input where it takes float32");
  text.values[1] = {fb::ValueKind_State, DType::F32, -1};
  expectRefused(text, "float32 of kind State where it takes float32");
  text.values[1] = {fb::ValueKind_Absent, DType::F32, -1};
  expectRefused(text, "of kind Absent where it takes float32");
}

TEST(NativeSteps, haveTheirLoopsResults) {
  PlanText text = addPlan();
  text.values[2].type = DType::I32;
  expectRefused(text, "puts result 0 of compiled loop `add`, float32 in a "
                      "slot, into int32 of kind Slot");
  text.values[2] = {fb::ValueKind_View, DType::F32, -1};
  expectRefused(text, "into float32 of kind View");
  text = addPlan();
  text.steps[0].view = true;
  expectRefused(text, "is a compiled loop with a view or blocks");
}

/// Two steps: the second reads the first one's result, in one slot.
PlanText inPlacePlan() {
  PlanText text = addPlan();
  text.values.push_back({fb::ValueKind_Slot, DType::F32, 0});
  text.steps.push_back({0, {2, 1}, {3}});
  return text;
}

TEST(NativeSteps, writeOverOperandsOfTheSameAxesOnly) {
  PlanText text = inPlacePlan();
  PlanOpenOptions options;
  options.loadCode = false;
  auto plan = openPlan(text, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  LoopText wider = addLoop();
  wider.name = "wider";
  wider.results[0].axes = {0, -1};
  text.loops.push_back(wider);
  text.steps[1].loop = 1;
  expectRefused(text,
                "step `here` writes value 3 over value 2, which it reads");
  text.loops[1].results[0] = {DType::F64, {0}};
  text.values[3].type = DType::F64;
  expectRefused(text,
                "step `here` writes value 3 over value 2, which it reads");
}

TEST(NativeSteps, readWhatIsThere) {
  PlanText text = inPlacePlan();
  text.steps[0].inputs = {3, 1};
  expectRefused(text, "step `here` reads value 3, which is not there");
}

TEST(NativeLevels, portableIsTheBaseline) {
  setenv("SOL_CPU", "portable", 1);
  std::vector<std::string_view> levels = runnableLevels();
  unsetenv("SOL_CPU");
#if defined(__x86_64__)
  EXPECT_EQ(levels, std::vector<std::string_view>{"x86-64"});
  EXPECT_EQ(runnableLevels().back(), "x86-64");
#else
  EXPECT_TRUE(levels.empty());
#endif
}

} // namespace
} // namespace sol::test
