//===- stop_test.cpp - ending a text at given strings ---------------------===//
// Whatever the cut into pieces, the text before the stop string comes out
// whole.
#include "runtime/text/stop.h"

#include "runtime/text/unicode/utf8.h"
#include <gtest/gtest.h>

namespace sol::text {
namespace {

std::string run(std::vector<std::string> stops,
                const std::vector<std::string> &pieces, bool &stopped) {
  auto matcher = StopMatcher::create(std::move(stops));
  EXPECT_TRUE(matcher.ok());
  std::string out;
  for (const std::string &piece : pieces) {
    std::string made = matcher->push(piece);
    EXPECT_EQ(validUtf8Prefix(made), made.size());
    out += made;
  }
  stopped = matcher->stopped();
  return out + matcher->finish();
}

TEST(StopMatcher, holdsBackWhatCouldBeginAStop) {
  auto matcher = StopMatcher::create({"###", "\nUser:"});
  ASSERT_TRUE(matcher.ok());
  EXPECT_EQ(matcher->push("a#"), "a");
  EXPECT_EQ(matcher->push("#b\nUs"), "##b");
  EXPECT_EQ(matcher->push("e"), "");
  EXPECT_EQ(matcher->push("d\n"), "\nUsed");
  EXPECT_EQ(matcher->push("x####y"), "\nx");
  EXPECT_TRUE(matcher->stopped());
  EXPECT_EQ(matcher->push("more"), "");
  EXPECT_EQ(matcher->finish(), "");
}

TEST(StopMatcher, givesTheRestAtTheEnd) {
  bool stopped = true;
  EXPECT_EQ(run({"END"}, {"the EN"}, stopped), "the EN");
  EXPECT_FALSE(stopped);
  EXPECT_EQ(run({}, {"any", "thing"}, stopped), "anything");
}

TEST(StopMatcher, doesNotDependOnTheCut) {
  const std::string text = "ababac d\xC3\xA9j\xC3\xA0 \xF0\x9F\x99\x82 end";
  bool stopped = false;
  for (size_t cut = 0; cut < text.size(); ++cut) {
    if (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80)
      continue;
    EXPECT_EQ(run({"abac"}, {text.substr(0, cut), text.substr(cut)}, stopped),
              "ab");
    EXPECT_TRUE(stopped);
    EXPECT_EQ(run({"\xF0\x9F\x99\x82", "zzz"},
                  {text.substr(0, cut), text.substr(cut)}, stopped),
              "ababac d\xC3\xA9j\xC3\xA0 ");
    EXPECT_TRUE(stopped);
  }
}

TEST(StopMatcher, refusesWhatCannotBeFound) {
  EXPECT_EQ(StopMatcher::create({"a", ""}).status().message(),
            "stop string 2 is empty");
  EXPECT_FALSE(StopMatcher::create({"\xC3"}).ok());
}

} // namespace
} // namespace sol::text
