//===- tokenizer_test.cpp - token for token with the reference ------------===//
// The expected ids come from the `tokenizers` package
// (test/data/text/make_tokenizers.py).
#include "runtime/text/tokenizer.h"

#include "runtime/text/unicode/utf8.h"
#include "test/unit/text/test_files.h"
#include <gtest/gtest.h>

namespace sol::text {
namespace {

struct Model {
  const char *name, *file;
};

std::ostream &operator<<(std::ostream &out, const Model &model) {
  return out << model.name;
}

class TokenizerEqualsReference : public testing::TestWithParam<Model> {
protected:
  void SetUp() override {
    auto made = Tokenizer::fromJson(readTestFile(GetParam().file));
    ASSERT_TRUE(made.ok()) << made.status();
    tokenizer = *std::move(made);
    expected =
        readTestJson(std::string("text/") + GetParam().name + ".expected.json");
    ASSERT_TRUE(expected.is_object());
  }
  std::unique_ptr<Tokenizer> tokenizer;
  nlohmann::ordered_json expected;
};

TEST_P(TokenizerEqualsReference, encodesAndDecodes) {
  ASSERT_GT(expected["cases"].size(), 30u);
  for (const auto &entry : expected["cases"]) {
    auto text = entry["text"].get<std::string>();
    auto ids = tokenizer->encode(text, false);
    ASSERT_TRUE(ids.ok()) << ids.status();
    auto wanted = entry["ids"].get<std::vector<int32_t>>();
    EXPECT_EQ(*ids, wanted) << text;
    auto around = tokenizer->encode(text, true);
    ASSERT_TRUE(around.ok());
    EXPECT_EQ(*around, entry["with_special"].get<std::vector<int32_t>>())
        << text;
    EXPECT_EQ(tokenizer->decode(wanted, false),
              entry["decoded"].get<std::string>());
    EXPECT_EQ(tokenizer->decode(wanted, true),
              entry["plain"].get<std::string>());
  }
}

TEST_P(TokenizerEqualsReference, streamsWholeCharacters) {
  for (const auto &entry : expected["streams"]) {
    auto ids = entry["ids"].get<std::vector<int32_t>>();
    for (bool skip : {false, true}) {
      StreamDecoder stream(*tokenizer, skip);
      std::string joined;
      for (int32_t id : ids) {
        std::string piece = stream.push(id);
        EXPECT_EQ(validUtf8Prefix(piece), piece.size());
        joined += piece;
      }
      joined += stream.finish();
      EXPECT_EQ(joined, entry[skip ? "plain" : "text"].get<std::string>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TokenizerEqualsReference,
    testing::Values(
        Model{"smollm2", "models/smollm2-135m-instruct/tokenizer.json"},
        Model{"gpt2_style", "text/gpt2_style.tokenizer.json"},
        Model{"llama3_style", "text/llama3_style.tokenizer.json"},
        Model{"qwen_style", "text/qwen_style.tokenizer.json"},
        Model{"llama2_style", "text/llama2_style.tokenizer.json"},
        Model{"o200k_style", "text/o200k_style.tokenizer.json"},
        Model{"mixed_lower", "text/mixed_lower.tokenizer.json"},
        Model{"mixed_nfd", "text/mixed_nfd.tokenizer.json"},
        Model{"mixed_nfkc", "text/mixed_nfkc.tokenizer.json"},
        Model{"mixed_contiguous", "text/mixed_contiguous.tokenizer.json"},
        Model{"mixed_next", "text/mixed_next.tokenizer.json"},
        Model{"mixed_anchors", "text/mixed_anchors.tokenizer.json"},
        Model{"mixed_bytes", "text/mixed_bytes.tokenizer.json"}),
    [](const testing::TestParamInfo<Model> &info) {
      return std::string(info.param.name);
    });

std::string errorOf(const nlohmann::json &json) {
  auto made = Tokenizer::fromJson(json.dump());
  return made.ok() ? "no error" : std::string(made.status().message());
}

nlohmann::json tiny() {
  return nlohmann::json::parse(
      R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
    "added_tokens": [{"id": 3, "content": "<s>", "special": true}], "decoder": {"type": "Fuse"}})");
}

TEST(Tokenizer, readsASmallFile) {
  auto made = Tokenizer::fromJson(tiny().dump());
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*(*made)->encode("abba<s>", false),
            (std::vector<int32_t>{2, 1, 0, 3}));
  EXPECT_EQ((*made)->decode({2, 1, 0, 3, 77, -5}, true), "abba");
  EXPECT_EQ((*made)->decode({2, 1, 0, 3}, false), "abba<s>");
  EXPECT_EQ((*made)->tokenToId("<s>"), 3);
  EXPECT_EQ((*made)->tokenToId("c"), std::nullopt);
  EXPECT_EQ((*made)->idToToken(2), "ab");
  EXPECT_EQ((*made)->idLimit(), 4);
  EXPECT_TRUE((*made)->isSpecial(3));
  EXPECT_FALSE((*made)->isSpecial(2));
}

TEST(Tokenizer, refusesTextThatIsNotUtf8) {
  auto made = Tokenizer::fromJson(tiny().dump());
  ASSERT_TRUE(made.ok());
  auto ids = (*made)->encode("ab\xE4\xBD", false);
  EXPECT_EQ(ids.status().message(),
            "the text isn't UTF-8: invalid byte 0xe4 at offset 2");
  EXPECT_FALSE((*made)->encode("\xED\xA0\x80", false).ok());
  EXPECT_FALSE((*made)->encode("\xC0\x80", false).ok());
}

TEST(Tokenizer, namesTheFieldInErrors) {
  EXPECT_EQ(Tokenizer::fromJson("{").status().message(),
            "tokenizer.json isn't valid JSON");
  EXPECT_EQ(Tokenizer::fromJson("[]").status().message(),
            "tokenizer.json isn't a JSON object");
  auto json = tiny();
  json["model"]["vocab"]["b"] = -1;
  EXPECT_EQ(errorOf(json),
            "field `model.vocab[\"b\"]` is -1, expected 0 to 4194303");
  json = tiny();
  json["model"]["vocab"]["b"] = 0;
  EXPECT_EQ(errorOf(json),
            "field `model.vocab` gives id 0 to both `a` and `b`");
  json = tiny();
  json["model"]["vocab"]["b"] = 1e30;
  EXPECT_EQ(
      errorOf(json),
      "field `model.vocab[\"b\"]` is of type number, expected an integer");
  json = tiny();
  json["model"]["merges"][0] = "a c";
  EXPECT_EQ(errorOf(json), "field `model.merges[0]` needs the token `c`, which "
                           "isn't in the vocabulary");
  json = tiny();
  json["model"]["merges"][0] = {"a"};
  EXPECT_EQ(
      errorOf(json),
      "field `model.merges[0]` is neither a string nor a pair of strings");
  json = tiny();
  json["added_tokens"][0]["id"] = 1;
  EXPECT_EQ(
      errorOf(json),
      "field `added_tokens[0].id` is 1, which the vocabulary gives to `b`");
  json = tiny();
  json["added_tokens"][1] = {{"id", 3}, {"content", "x"}};
  EXPECT_EQ(errorOf(json),
            "field `added_tokens[1].id` is 3, which `<s>` already has");
  json = tiny();
  json["model"].erase("vocab");
  EXPECT_EQ(errorOf(json),
            "field `model.vocab` is missing, expected an object");
  json = tiny();
  json["model"]["dropout"] = 0.1;
  EXPECT_NE(errorOf(json).find("`model.dropout`"), std::string::npos);
}

TEST(Tokenizer, refusesOtherKindsByName) {
  for (const char *type : {"WordPiece", "Unigram", "WordLevel"}) {
    auto json = tiny();
    json["model"]["type"] = type;
    EXPECT_EQ(errorOf(json),
              std::string("field `model.type`: tokenizer model `") + type +
                  "` isn't supported (BPE is)");
  }
  auto json = tiny();
  json["pre_tokenizer"] = {{"type", "Metaspace"}};
  EXPECT_NE(errorOf(json).find("field `pre_tokenizer.type`: pre-tokenizer "
                               "`Metaspace` isn't supported"),
            std::string::npos);
  json = tiny();
  json["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", {{{"type", "Precompiled"}}}}};
  EXPECT_NE(errorOf(json).find("field `normalizer.normalizers[0].type`"),
            std::string::npos);
}

TEST(Tokenizer, boundsNesting) {
  nlohmann::json nested = {{"type", "NFC"}};
  for (int i = 0; i < 100; ++i)
    nested = {{"type", "Sequence"}, {"normalizers", {nested}}};
  auto json = tiny();
  json["normalizer"] = nested;
  EXPECT_NE(errorOf(json).find("nests too deeply"), std::string::npos);
}

// A single word of a megabyte, whose merges cascade: the work must stay near
// linear.
TEST(Tokenizer, mergesLongWordsFast) {
  auto made = Tokenizer::fromJson(tiny().dump());
  ASSERT_TRUE(made.ok());
  std::string text;
  for (int i = 0; i < 500000; ++i)
    text += "ab";
  auto ids = (*made)->encode(text, false);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(ids->size(), 500000u);
}

} // namespace
} // namespace sol::text
