//===- generation_settings_test.cpp - files beside a model ----------------===//
// The real model's files, and files made to be odd.
#include "runtime/text/generation_settings.h"

#include "runtime/text/tokenizer.h"
#include "test/unit/text/test_files.h"
#include <gtest/gtest.h>

namespace sol::text {
namespace {

TEST(GenerationSettings, readsTheRealModel) {
  const std::string folder = "models/smollm2-135m-instruct/";
  std::string generation = readTestFile(folder + "generation_config.json"),
              tokenizer = readTestFile(folder + "tokenizer_config.json"),
              special = readTestFile(folder + "special_tokens_map.json"),
              config = readTestFile(folder + "config.json"),
              jinja = readTestFile(folder + "chat_template.jinja");
  auto read = readGenerationSettings({.generationConfig = generation,
                                      .tokenizerConfig = tokenizer,
                                      .specialTokensMap = special,
                                      .modelConfig = config,
                                      .chatTemplateJinja = jinja},
                                     nullptr);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->bosId, 1);
  EXPECT_EQ(read->eosIds, (std::vector<int32_t>{2}));
  EXPECT_EQ(read->padId, 2);
  EXPECT_EQ(read->bosToken, "<|im_start|>");
  EXPECT_EQ(read->eosToken, "<|im_end|>");
  EXPECT_EQ(read->unkToken, "<|endoftext|>");
  EXPECT_EQ(read->maxPositions, 8192);
  ASSERT_NE(read->chatTemplate(), nullptr);
  EXPECT_EQ(*read->chatTemplate(), jinja);
  EXPECT_TRUE(read->withoutEffect.empty());
  EXPECT_FALSE(read->addBosToken.has_value());
}

TEST(GenerationSettings, readsWhereADecoderStarts) {
  const std::string config = R"({"decoder_start_token_id": 0})";
  auto read = readGenerationSettings({.modelConfig = config}, nullptr);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->decoderStartId, 0);
  read = readGenerationSettings(
      {.generationConfig = R"({"decoder_start_token_id": 7})",
       .modelConfig = config},
      nullptr);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->decoderStartId, 7);
}

TEST(GenerationSettings, namesSettingsWithoutEffect) {
  auto read = readGenerationSettings(
      {.generationConfig =
           R"({"eos_token_id": [5, 7, 5], "num_beams": 4, "no_repeat_ngram_size": 0, "min_p": 0.05,
         "repetition_penalty": 1.1, "suppress_tokens": [1, 2], "bad_words_ids": [], "forced_eos_token_id": null,
         "do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95})",
       .genaiConfig =
           R"({"model": {"eos_token_id": 9, "bos_token_id": -1, "context_length": 4096},
         "search": {"num_beams": 1, "min_length": 3, "repetition_penalty": 1.0}})"},
      nullptr);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->eosIds, (std::vector<int32_t>{5, 7, 9}));
  EXPECT_FALSE(read->bosId.has_value());
  EXPECT_EQ(read->maxPositions, 4096);
  EXPECT_EQ(
      read->withoutEffect,
      (std::vector<std::string>{"generation_config.json: num_beams = 4",
                                "generation_config.json: min_p = 0.05",
                                "generation_config.json: suppress_tokens = […]",
                                "genai_config.json: min_length = 3"}));
  EXPECT_EQ(read->temperature, 0.6);
  EXPECT_EQ(read->topK, 20);
  EXPECT_EQ(read->doSample, true);
  EXPECT_EQ(read->repetitionPenalty, 1.1);
}

TEST(GenerationSettings, readsNamedTemplatesAndTokenObjects) {
  auto read = readGenerationSettings(
      {.tokenizerConfig =
           R"({"chat_template": [{"name": "default", "template": "A"}, {"name": "tool_use",
         "template": "B"}], "bos_token": {"content": "<s>"}, "eos_token": "ab", "add_bos_token": false})",
       .modelConfig =
           R"({"text_config": {"max_position_embeddings": 32}, "eos_token_id": 1})"},
      nullptr);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read->chatTemplate(), "A");
  EXPECT_EQ(*read->chatTemplate("tool_use"), "B");
  EXPECT_EQ(read->chatTemplate("other"), nullptr);
  EXPECT_EQ(read->bosToken, "<s>");
  EXPECT_EQ(read->addBosToken, false);
  EXPECT_EQ(read->maxPositions, 32);
  EXPECT_EQ(read->eosIds, (std::vector<int32_t>{1}));
}

TEST(GenerationSettings, looksUpWrittenTokens) {
  auto tokenizer = Tokenizer::fromJson(
      R"({"model": {"type": "BPE", "vocab": {"a": 0, "<s>": 4, "</s>": 6}, "merges": []}})");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  auto read = readGenerationSettings(
      {.tokenizerConfig = R"({"bos_token": "<s>", "eos_token": "</s>"})"},
      tokenizer->get());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->bosId, 4);
  EXPECT_EQ(read->eosIds, (std::vector<int32_t>{6}));
}

TEST(GenerationSettings, namesFileAndFieldInErrors) {
  auto message = [](const SettingsFiles &files) {
    auto read = readGenerationSettings(files, nullptr);
    return read.ok() ? std::string("no error")
                     : std::string(read.status().message());
  };
  EXPECT_EQ(message({.generationConfig = "{"}),
            "generation_config.json isn't valid JSON");
  EXPECT_EQ(message({.modelConfig = "[]"}), "config.json isn't a JSON object");
  EXPECT_EQ(message({.generationConfig = R"({"eos_token_id": [1, "x"]})"}),
            "generation_config.json: field `eos_token_id[1]` is of type "
            "string, expected an integer");
  EXPECT_EQ(message({.generationConfig = R"({"eos_token_id": -7})"}),
            "generation_config.json: field `eos_token_id` is -7, expected -1 "
            "to 4194303");
  EXPECT_EQ(message({.tokenizerConfig = R"({"chat_template": 3})"}),
            "tokenizer_config.json: field `chat_template` is of type number, "
            "expected a string");
}

} // namespace
} // namespace sol::text
