//===- native_code_test.cpp - compiled loops against the same in C++ ------===//
//
// Loops are compiled for every level and called directly. Levels must agree bit
// for bit, with each other and with the runtime's own functions, for every
// split of the work. Levels that this processor lacks are not called.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/NativeCode.h"

#include "lib/pipeline/Pipeline.h"
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/native_call.h"
#include "runtime/cpu/number_formats.h"
#include "test/unit/native/executable_copy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <mutex>

namespace sol::native {
namespace {

bool canRun(const std::string &level) {
#if defined(__x86_64__)
  return level == "x86-64" || __builtin_cpu_supports("x86-64-v3");
#else
  return false;
#endif
}

/// One function of operators, fused and compiled; it must become one loop.
class Compiled {
public:
  explicit Compiled(const std::string &source)
      : context(makeRegistry()), code({"x86-64", "x86-64-v3"}) {
    static std::once_flag registered;
    std::call_once(registered, registerPasses);
    context.loadAllAvailableDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    mlir::PassManager passes(&context);
    if (!module ||
        failed(parsePassPipeline("func.func(native-fuse-loops)", passes)) ||
        failed(passes.run(*module)))
      return;
    module->walk([&](cpu::NativeOp loop) { (void)code.add(loop); });
    good = code.loops().size() == 1 && succeeded(code.compile(*module));
  }

  /// Calls the loop at one level on the units [begin, end).
  void call(size_t image, std::vector<int64_t> sizes,
            std::vector<void *> pointers, int64_t begin, int64_t end) {
    const CompiledLoop &loop = code.loops()[0];
    std::vector<char> scratch(loop.scratchBytes * sizes.back() + 1);
    NativeArguments arguments{sizes.data(), pointers.data(), scratch.data()};
    ExecutableCopy copy(code.images()[image].bytes);
    auto function = copy.at<NativeFunction>(loop.entries[image]);
    ASSERT_EQ(function(&arguments, begin, end), 0);
  }

  std::vector<size_t> images() const {
    std::vector<size_t> result;
    for (size_t i = 0; i < code.images().size(); ++i)
      if (canRun(code.images()[i].level))
        result.push_back(i);
    return result;
  }

  bool good = false;

private:
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  NativeCode code;
};

/// Numbers of every kind, and some neighbours of where formulas change.
std::vector<float> samples() {
  std::vector<float> x = {0.0f,
                          -0.0f,
                          1.0f,
                          -1.0f,
                          0.55f,
                          0.9f,
                          4.0f,
                          88.7f,
                          89.0f,
                          -103.9f,
                          -104.0f,
                          1e-40f,
                          -1e-40f,
                          3e38f,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  uint32_t state = 1;
  while (x.size() < 1003) {
    state = state * 1664525 + 1013904223;
    x.push_back(std::ldexp(static_cast<float>(static_cast<int32_t>(state)),
                           -24 - static_cast<int>(state % 9)));
  }
  return x;
}

uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }

void expectFunction(const std::string &op, float (*expected)(float)) {
  std::vector<float> x = samples();
  std::string type = "tensor<" + std::to_string(x.size()) + "xf32>";
  // A second operator makes it a loop; negation keeps all bits but the sign.
  Compiled compiled("func.func @f(%x: " + type + ") -> " + type +
                    "{\n %0 = \"onnx." + op + "\"(%x) : (" + type + ") -> " +
                    type + "\n %1 = \"onnx.Neg\"(%0) : (" + type + ") -> " +
                    type + "\n return %1 : " + type + "\n}");
  ASSERT_TRUE(compiled.good);
  for (size_t image : compiled.images()) {
    std::vector<float> y(x.size());
    compiled.call(image, {static_cast<int64_t>(x.size())}, {x.data(), y.data()},
                  0, x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      // No number has one meaning, whatever its bits.
      float wanted = expected(x[i]);
      EXPECT_EQ(std::isnan(y[i]), std::isnan(wanted));
      if (!std::isnan(wanted))
        EXPECT_EQ(bitsOf(-y[i]), bitsOf(wanted))
            << op << "(" << x[i] << ") at image " << image;
    }
  }
}

TEST(NativeCode, Exp) {
  expectFunction("Exp", [](float x) { return elementary::exp(x); });
}
TEST(NativeCode, Tanh) {
  expectFunction("Tanh", [](float x) { return elementary::tanh(x); });
}
TEST(NativeCode, Erf) {
  expectFunction("Erf", [](float x) { return elementary::erf(x); });
}
TEST(NativeCode, Sigmoid) {
  expectFunction("Sigmoid", [](float x) { return elementary::sigmoid(x); });
}
TEST(NativeCode, Sqrt) {
  expectFunction("Sqrt", [](float x) { return std::sqrt(x); });
}

/// A conversion, and a Where that makes it a loop. The loop's operands are the
/// converted tensor and the condition, in the order of their first use.
std::string conversion(size_t count, const char *from, const char *to,
                       int code) {
  std::string sizes = "tensor<" + std::to_string(count) + "x";
  std::string in = sizes + from + ">", out = sizes + to + ">",
              choice = sizes + "i1>";
  return "func.func @f(%c: " + choice + ", %x: " + in + ") -> " + out +
         " {\n %0 = \"onnx.Cast\"(%x) {to = " + std::to_string(code) +
         " : i64} : (" + in + ") -> " + out +
         "\n %1 = \"onnx.Where\"(%c, %0, "
         "%0) : (" +
         choice + ", " + out + ", " + out + ") -> " + out +
         "\n return %1 : " + out + "\n}";
}

void expectWidening(const char *type, float (*expected)(uint16_t)) {
  std::vector<uint16_t> codes(65536);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<uint16_t>(i);
  std::vector<uint8_t> choice(codes.size(), 1);
  Compiled compiled(conversion(codes.size(), type, "f32", 1));
  ASSERT_TRUE(compiled.good);
  for (size_t image : compiled.images()) {
    std::vector<float> y(codes.size());
    compiled.call(image, {65536}, {codes.data(), choice.data(), y.data()}, 0,
                  65536);
    for (size_t i = 0; i < codes.size(); ++i) {
      float wanted = expected(codes[i]);
      EXPECT_EQ(std::isnan(y[i]), std::isnan(wanted)) << i;
      if (!std::isnan(wanted))
        EXPECT_EQ(bitsOf(y[i]), bitsOf(wanted)) << i;
    }
  }
}

void expectNarrowing(const char *type, int code, uint16_t (*expected)(float),
                     float (*back)(uint16_t)) {
  std::vector<float> x = samples();
  // Every number of the type, and the ties and neighbours between them.
  for (uint32_t i = 0; i < 65536; ++i) {
    float here = back(static_cast<uint16_t>(i));
    float next = back(static_cast<uint16_t>(i + 1));
    x.insert(x.end(), {here, here / 2 + next / 2, std::nextafter(here, next)});
  }
  std::vector<uint8_t> choice(x.size(), 1);
  Compiled compiled(conversion(x.size(), "f32", type, code));
  ASSERT_TRUE(compiled.good);
  for (size_t image : compiled.images()) {
    std::vector<uint16_t> y(x.size());
    int64_t count = static_cast<int64_t>(x.size());
    compiled.call(image, {count}, {x.data(), choice.data(), y.data()}, 0,
                  count);
    for (size_t i = 0; i < x.size(); ++i)
      if (!std::isnan(x[i]))
        EXPECT_EQ(y[i], expected(x[i])) << x[i];
      else
        EXPECT_TRUE(std::isnan(back(y[i])));
  }
}

TEST(NativeCode, Float16) {
  expectWidening("f16", f16ToF32);
  expectNarrowing("f16", 10, f32ToF16, f16ToF32);
}
TEST(NativeCode, Bfloat16) {
  expectWidening("bf16", bf16ToF32);
  expectNarrowing("bf16", 16, f32ToBf16, bf16ToF32);
}

TEST(NativeCode, AnySplitOfElementsGivesTheSame) {
  Compiled compiled(R"(
    func.func @f(%x: tensor<?x13xf32, #nn.dims<"s", "13">>, %b: tensor<13xf32>) -> tensor<?x13xf32, #nn.dims<"s", "13">> {
      %0 = "onnx.Mul"(%x, %b) : (tensor<?x13xf32, #nn.dims<"s", "13">>, tensor<13xf32>) -> tensor<?x13xf32, #nn.dims<"s", "13">>
      %1 = "onnx.Exp"(%0) : (tensor<?x13xf32, #nn.dims<"s", "13">>) -> tensor<?x13xf32, #nn.dims<"s", "13">>
      return %1 : tensor<?x13xf32, #nn.dims<"s", "13">>
    })");
  ASSERT_TRUE(compiled.good);
  std::vector<float> x(7 * 13), b(13), whole(7 * 13);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 0.03f * i - 1;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = 1 + 0.1f * i;
  for (size_t image : compiled.images()) {
    compiled.call(image, {7, 13}, {x.data(), b.data(), whole.data()}, 0, 91);
    for (int64_t cut : {1, 8, 12, 13, 14, 40, 90}) {
      std::vector<float> parts(7 * 13, -1);
      std::vector<void *> pointers = {x.data(), b.data(), parts.data()};
      compiled.call(image, {7, 13}, pointers, cut, 91);
      for (int64_t i = 0; i < cut; ++i)
        EXPECT_EQ(parts[i], -1) << "outside of the units asked for";
      compiled.call(image, {7, 13}, pointers, 0, cut);
      EXPECT_EQ(parts, whole) << "cut at " << cut;
    }
  }
}

TEST(NativeCode, SumsHaveEightLanesJoinedInATree) {
  Compiled compiled(R"(
    func.func @f(%x: tensor<3x?xf32, #nn.dims<"3", "t">>) -> tensor<3x1xf32> {
      %axes = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
      %0 = "onnx.ReduceSum"(%x, %axes) : (tensor<3x?xf32, #nn.dims<"3", "t">>, tensor<1xi64>) -> tensor<3x1xf32>
      return %0 : tensor<3x1xf32>
    })");
  ASSERT_TRUE(compiled.good);
  for (int64_t length : {1, 7, 8, 9, 30, 64, 1001}) {
    std::vector<float> x(3 * length), expected, sums(3);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = 1.0f / (1 + (i * 7919) % 1009);
    for (int64_t row = 0; row < 3; ++row) {
      float lane[8] = {};
      for (int64_t i = 0; i < length; ++i)
        lane[i % 8] += x[row * length + i];
      expected.push_back(((lane[0] + lane[4]) + (lane[2] + lane[6])) +
                         ((lane[1] + lane[5]) + (lane[3] + lane[7])));
    }
    for (size_t image : compiled.images()) {
      compiled.call(image, {3, length}, {x.data(), sums.data()}, 0, 3);
      EXPECT_EQ(sums, expected) << "rows of " << length;
    }
  }
}

TEST(NativeCode, LoopsWithoutALevelAreRefused) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
      %0 = cpu.native "Neg"(%x) : (tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%a: tensor<64xf32>):
        %e = tensor.empty() : tensor<64xf32>
        %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) {
        ^bb0(%i: f32, %o: f32):
          %n = arith.negf %i : f32
          linalg.yield %n : f32
        } -> tensor<64xf32>
        cpu.yield %1 : tensor<64xf32>
      }
      return %0 : tensor<64xf32>
    })",
                                                        &context);
  ASSERT_TRUE(module);
  std::string text;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    text += d.str();
    return mlir::success();
  });
  NativeCode code({});
  module->walk([&](cpu::NativeOp loop) { (void)code.add(loop); });
  EXPECT_TRUE(failed(code.compile(*module)));
  EXPECT_NE(text.find("--native"), std::string::npos) << text;
}

} // namespace
} // namespace sol::native
