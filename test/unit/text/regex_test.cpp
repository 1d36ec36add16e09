//===- regex_test.cpp - where Oniguruma and PCRE2 differ ------------------===//
// The rewriting, the refusals, and the bounds on hostile patterns.
#include "runtime/text/unicode/regex.h"

#include <gtest/gtest.h>

namespace sol::text {
namespace {

TEST(Regex, rewritesWhatMeansSomethingElse) {
  EXPECT_EQ(*translateOniguruma("\\s+(?!\\S)"),
            "\\p{White_Space}+(?!\\P{White_Space})");
  EXPECT_EQ(*translateOniguruma("[^\\s\\p{L}]"), "[^\\p{White_Space}\\p{L}]");
  EXPECT_EQ(*translateOniguruma("\\p{N}{1,3}+"), "(?:\\p{N}{1,3})+");
  EXPECT_EQ(*translateOniguruma("(a|b){2}+c"), "(?:(a|b){2})+c");
  EXPECT_EQ(*translateOniguruma("a{,2}"), "a{0,2}");
  EXPECT_EQ(*translateOniguruma("a{b}"), "a\\{b}");
}

TEST(Regex, refusesWhatHasNoEqual) {
  EXPECT_FALSE(Regex::compile("[\\p{L}&&[^a]]").ok());
  EXPECT_FALSE(Regex::compile("[a[b]]").ok());
  EXPECT_FALSE(Regex::compile("(*UTF)a").ok());
  EXPECT_FALSE(Regex::compile("(a").ok());
  EXPECT_FALSE(Regex::compile("a\\").ok());
  EXPECT_FALSE(Regex::compile(std::string(100000, 'a')).ok());
}

TEST(Regex, findsEmptyMatchesOnce) {
  auto regex = Regex::compile("b*");
  ASSERT_TRUE(regex.ok());
  EXPECT_EQ(*regex->findAll("abba"),
            (std::vector<Range>{{0, 0}, {1, 3}, {4, 4}}));
}

TEST(Regex, boundsTheWork) {
  auto regex = Regex::compile("(a+)+(?!.)[^a]");
  ASSERT_TRUE(regex.ok()) << regex.status();
  auto matches = regex->findAll(std::string(60, 'a') + "b");
  EXPECT_FALSE(matches.ok());
}

} // namespace
} // namespace sol::text
