//===- SymbolicSizeTest.cpp - sizes as expressions over symbols -----------===//
//
// Canonical text, reading of exporters' formulas, arithmetic, bounds and
// evaluation.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/SymbolicSize.h"

#include <gtest/gtest.h>

#include <limits>

using namespace sol::nn;

static SymbolicSize parse(const char *text) {
  return SymbolicSize::parse(text);
}

TEST(SymbolicSize, ReadsFormulasOfExporters) {
  EXPECT_EQ(parse("past_sequence_length + sequence_length").text(),
            "past_sequence_length + sequence_length");
  EXPECT_EQ(parse("sequence + past").text(), "past + sequence");
  EXPECT_EQ(parse("s0*2").text(), "2*s0");
  EXPECT_EQ(parse("2").constant(), 2);
  EXPECT_EQ(parse("(s0 + 1)//2").text(), "floordiv(s0 + 1, 2)");
  EXPECT_EQ(parse("Max(1, s0)").text(), "max(1, s0)");
  EXPECT_EQ(parse("floor(s0/2)").text(), "floordiv(s0, 2)");
  EXPECT_EQ(parse("s0 - 1").text(), "s0 - 1");
}

TEST(SymbolicSize, TextThatIsNoFormulaIsOneSymbol) {
  for (const char *name : {"batch-size", "a b", "?", "it's", "", "s0 +", "s0/2",
                           "x**2", "max", "back\\slash", "2x", "f(x)"}) {
    SymbolicSize size = parse(name);
    EXPECT_EQ(size.asSymbol(), std::optional<std::string>(name));
    EXPECT_EQ(parse(size.text().c_str()), size) << size.text();
    EXPECT_EQ(parse(size.text().c_str()).asSymbol(), size.asSymbol());
  }
  EXPECT_EQ(parse("@/model/NonZero_3.0").text(), "'@/model/NonZero_3.0'");
}

TEST(SymbolicSize, CanonicalTextReadsBack) {
  for (const char *text :
       {"a*b + 2*a - 3", "-a + b", "max(a - 4, 0)", "mod(a, b)*c",
        "ceildiv(a, b) + floordiv(a + 1, 3)", "min(a, b, 7)", "0", "-5"}) {
    SymbolicSize size = parse(text);
    EXPECT_EQ(size.text(), parse(size.text().c_str()).text());
    EXPECT_EQ(size, parse(size.text().c_str()));
  }
}

TEST(SymbolicSize, Arithmetic) {
  SymbolicSize a = parse("a"), b = parse("b");
  EXPECT_EQ((a + b - a), b);
  EXPECT_EQ((a + b) * (a - b), a * a - b * b);
  EXPECT_EQ((a * b * 6).exactDiv(a * 2), b * 3);
  EXPECT_EQ((a * a - b * b).exactDiv(a - b), a + b);
  EXPECT_FALSE((a + 1).exactDiv(2).isKnown());
  EXPECT_FALSE(a.exactDiv(0).isKnown());
  EXPECT_EQ(SymbolicSize::floorDiv(a * 4 + 3, 4), a);
  EXPECT_EQ(SymbolicSize::floorDiv(a * 4 - 1, 4), a - 1);
  EXPECT_EQ(SymbolicSize::ceilDiv(a * 4 + 1, 4), a + 1);
  EXPECT_EQ(SymbolicSize::mod(a * 4 + 3, 4), SymbolicSize(3));
  EXPECT_EQ(SymbolicSize::max(a, a + b), a + b);
  EXPECT_EQ(SymbolicSize::max(a, 0), a);
  EXPECT_EQ(SymbolicSize::min(a, SymbolicSize::min(b, a + 2)).text(),
            "min(a, b)");
}

TEST(SymbolicSize, UnknownSpreadsAndEqualsNothing) {
  SymbolicSize unknown, a = parse("a");
  EXPECT_FALSE((a + unknown).isKnown());
  EXPECT_FALSE(unknown == unknown);
  SymbolicSize largest = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE((largest + 1).isKnown());
  EXPECT_FALSE((largest * a * 2).isKnown());
}

TEST(SymbolicSize, Bounds) {
  SymbolicSize a = parse("a"), b = parse("b");
  EXPECT_TRUE((a + b + 1).isPositive());
  EXPECT_FALSE((a - b).isNonNegative());
  EXPECT_EQ(SymbolicSize::mod(a, 8).upperBound(), 7);
  EXPECT_EQ(SymbolicSize::min(a, 4).upperBound(), 4);
  EXPECT_EQ(SymbolicSize::max(a - 5, 0).lowerBound(), 0);
  EXPECT_FALSE((a * (b - 1)).isNonNegative());
}

TEST(SymbolicSize, EvaluatesByPostfix) {
  auto binding = [](llvm::StringRef name) -> std::optional<int64_t> {
    if (name == "a")
      return 7;
    if (name == "b")
      return -2;
    return std::nullopt;
  };
  EXPECT_EQ(parse("3*a*b - a + 1").evaluate(binding), -48);
  EXPECT_EQ(parse("floordiv(a, b)").evaluate(binding), -4);
  EXPECT_EQ(parse("ceildiv(a, b)").evaluate(binding), -3);
  EXPECT_EQ(parse("mod(a, b)").evaluate(binding), -1);
  EXPECT_EQ(parse("max(a, b, 9) + min(a, b)").evaluate(binding), 7);
  EXPECT_EQ(parse("c").evaluate(binding), std::nullopt);
  EXPECT_EQ(parse("floordiv(a, b + 2)").evaluate(binding), std::nullopt);
}
