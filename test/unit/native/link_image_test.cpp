//===- link_image_test.cpp - what may become an image ---------------------===//
//
// Good code runs wherever it lies; code that writes, imports or depends on its
// place is refused.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/LinkImage.h"

#include "lib/native/codegen/MachineCode.h"
#include "test/unit/native/executable_copy.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"

namespace sol::native {
namespace {

/// Compiles LLVM IR and links it; the error's text if that is refused.
std::string link(const std::string &source, LinkedImage &image) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(source, problem, context);
  if (!module)
    return "no LLVM IR: " + problem.getMessage().str();
  llvm::Expected<std::string> object = compileObject(*module, "x86-64");
  if (!object)
    return llvm::toString(object.takeError());
  llvm::Expected<LinkedImage> linked = linkImage(*object);
  if (!linked)
    return llvm::toString(linked.takeError());
  image = std::move(*linked);
  return "";
}

TEST(LinkImage, RunsWhereverItLies) {
  // The table is read-only data that the code finds relative to itself.
  LinkedImage image;
  ASSERT_EQ(link(R"(
    @table = internal constant [4 x i32] [i32 7, i32 11, i32 13, i32 17]
    define i32 @pick(i64 %i) {
      %p = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
      %v = load i32, ptr %p
      ret i32 %v
    })",
                 image),
            "");
  ASSERT_TRUE(image.entries.contains("pick"));
  ExecutableCopy first(image.bytes), second(image.bytes);
  for (const ExecutableCopy *copy : {&first, &second}) {
    auto pick = copy->at<int (*)(int64_t)>(image.entries["pick"]);
    EXPECT_EQ(pick(0), 7);
    EXPECT_EQ(pick(3), 17);
  }
}

TEST(LinkImage, RefusesWritableData) {
  LinkedImage image;
  std::string error = link(R"(
    @counter = internal global i32 5
    define i32 @next() {
      %v = load i32, ptr @counter
      %w = add i32 %v, 1
      store i32 %w, ptr @counter
      ret i32 %w
    })",
                           image);
  EXPECT_NE(error.find("is writable"), std::string::npos) << error;
}

TEST(LinkImage, RefusesImports) {
  LinkedImage image;
  std::string error = link(R"(
    declare float @expf(float)
    define float @f(float %x) {
      %y = call float @expf(float %x)
      ret float %y
    })",
                           image);
  EXPECT_NE(error.find("expf"), std::string::npos) << error;
}

TEST(LinkImage, RefusesAddressesInData) {
  LinkedImage image;
  std::string error = link(R"(
    define i32 @one() { ret i32 1 }
    @where = constant ptr @one
    )",
                           image);
  EXPECT_NE(error, "");
}

TEST(LinkImage, RefusesWhatIsNoObject) {
  llvm::Expected<LinkedImage> linked = linkImage("no object at all");
  ASSERT_FALSE(static_cast<bool>(linked));
  llvm::consumeError(linked.takeError());
}

} // namespace
} // namespace sol::native
