//===- decoder_test.cpp - characters in pieces ----------------------------===//
// UTF-8 in the making, and text held back only as long as needed.
#include "runtime/text/tokenizer.h"
#include "runtime/text/unicode/utf8.h"

#include "test/unit/text/test_files.h"
#include <gtest/gtest.h>

namespace sol::text {
namespace {

TEST(Utf8, findsIncompleteTails) {
  EXPECT_EQ(incompleteUtf8Tail(""), 0u);
  EXPECT_EQ(incompleteUtf8Tail("abc"), 0u);
  EXPECT_EQ(incompleteUtf8Tail("a\xE4"), 1u);
  EXPECT_EQ(incompleteUtf8Tail("a\xE4\xBD"), 2u);
  EXPECT_EQ(incompleteUtf8Tail("a\xE4\xBD\xA0"), 0u);
  EXPECT_EQ(incompleteUtf8Tail("\xF0\x9F\x98"), 3u);
  EXPECT_EQ(incompleteUtf8Tail("\xFF"), 0u);
  EXPECT_EQ(incompleteUtf8Tail("\xE0\x80"), 0u);
}

TEST(Utf8, replacesEachMaximalPart) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(replaceInvalidUtf8("a\xF0\x9F\x98z"), "a" + mark + "z");
  EXPECT_EQ(replaceInvalidUtf8("\xED\xA0\x80"), mark + mark + mark);
  EXPECT_EQ(replaceInvalidUtf8("\x80\xC0\xFF"), mark + mark + mark);
  EXPECT_EQ(replaceInvalidUtf8("\xE4\xBD"), mark);
}

TEST(StreamDecoder, waitsForTheRestOfACharacter) {
  auto made = Tokenizer::fromJson(
      readTestFile("models/smollm2-135m-instruct/tokenizer.json"));
  ASSERT_TRUE(made.ok()) << made.status();
  auto ids = (*made)->encode("\xF0\x9F\x9B\xB8", false);
  ASSERT_TRUE(ids.ok());
  ASSERT_GT(ids->size(), 1u);
  StreamDecoder stream(**made, true);
  for (size_t i = 0; i + 1 < ids->size(); ++i)
    EXPECT_EQ(stream.push((*ids)[i]), "");
  EXPECT_EQ(stream.push(ids->back()), "\xF0\x9F\x9B\xB8");
  EXPECT_EQ(stream.finish(), "");
  stream.push((*ids)[0]);
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");
}

} // namespace
} // namespace sol::text
