//===- mutation_test.cpp - broken files never crash -----------------------===//
// Random changes, with fixed seeds, to tokenizer files, templates and settings:
// each must give a result or an error.
#include "runtime/text/chat_template.h"
#include "runtime/text/generation_settings.h"
#include "runtime/text/sampler.h"
#include "runtime/text/tokenizer.h"

#include "test/unit/text/test_files.h"
#include <gtest/gtest.h>

namespace sol::text {
namespace {

// A few changes: bytes replaced, removed, repeated, or exchanged with bytes
// from elsewhere in the text.
std::string mutate(std::string text, Random &random) {
  static constexpr std::string_view sharp =
      "{}[]()\"'\\,:%#-+|.~*/0129 \n\xC3\xFF";
  for (uint64_t changes = 1 + random.next() % 6; changes > 0 && !text.empty();
       --changes) {
    size_t at = random.next() % text.size(), length = 1 + random.next() % 20;
    switch (random.next() % 5) {
    case 0:
      text[at] = sharp[random.next() % sharp.size()];
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(random.next() % text.size(), length));
      break;
    case 3:
      text.insert(at, 1, sharp[random.next() % sharp.size()]);
      break;
    default:
      text[at] = static_cast<char>(random.next());
    }
  }
  return text;
}

// Replaces a random member or element by a value of another kind.
void spoil(nlohmann::json &json, Random &random) {
  static const nlohmann::json odd[] = {nullptr,
                                       true,
                                       -1,
                                       1e300,
                                       4294967296,
                                       "",
                                       "x",
                                       nlohmann::json::array(),
                                       nlohmann::json::object(),
                                       {{"type", "Sequence"}},
                                       {1, "a", nullptr}};
  nlohmann::json *at = &json;
  for (uint64_t depth = 1 + random.next() % 4;
       depth > 0 && at->is_structured() && !at->empty(); --depth) {
    auto step = at->begin();
    std::advance(step, random.next() % at->size());
    at = &*step;
  }
  *at = odd[random.next() % std::size(odd)];
}

void tryTokenizer(const std::string &file) {
  auto made = Tokenizer::fromJson(file);
  if (!made.ok()) {
    EXPECT_FALSE(made.status().message().empty());
    return;
  }
  auto ids = (*made)->encode(
      "Hello <|im_start|> w\xC3\xB6rld 123\n\n  \xF0\x9F\x99\x82 [MASK]", true);
  if (ids.ok())
    (void)(*made)->decode(*ids, false);
  (void)(*made)->decode({0, 5, 300, 1 << 30, -1}, true);
}

TEST(Mutation, tokenizerFiles) {
  Random random(20240726);
  for (const char *name : {"gpt2_style", "llama2_style", "qwen_style",
                           "mixed_lower", "mixed_next"}) {
    std::string file =
        readTestFile(std::string("text/") + name + ".tokenizer.json");
    ASSERT_FALSE(file.empty());
    auto parsed = nlohmann::json::parse(file, nullptr, false);
    for (int i = 0; i < 150; ++i) {
      tryTokenizer(mutate(file, random));
      nlohmann::json spoiled = parsed;
      // The vocabulary outweighs everything else, so the other parts get most
      // of the attention.
      for (const char *part : {"added_tokens", "normalizer", "pre_tokenizer",
                               "post_processor", "decoder"})
        if (random.next() % 3 == 0)
          spoil(spoiled[part], random);
      if (random.next() % 3 == 0)
        spoil(spoiled["model"], random);
      if (random.next() % 5 == 0)
        spoil(spoiled, random);
      tryTokenizer(spoiled.dump());
    }
  }
}

TEST(Mutation, chatTemplates) {
  Random random(7);
  auto data = readTestJson("text/chat_templates.json");
  ASSERT_TRUE(data.is_object());
  const RenderOptions bounds{.maxSteps = 200'000, .maxBytes = 1 << 22};
  std::vector<nlohmann::ordered_json> variables;
  for (size_t i = 0; i < 10; ++i)
    variables.push_back(data["cases"][i]["variables"]);
  auto attempt = [&](const std::string &source) {
    auto parsed = ChatTemplate::parse(source);
    auto made = parsed.ok()
                    ? parsed->render(
                          variables[random.next() % variables.size()], bounds)
                    : parsed.status();
    if (!made.ok())
      EXPECT_FALSE(made.status().message().empty());
  };
  for (const auto &entry : data["templates"].items())
    for (int i = 0; i < 150; ++i)
      attempt(mutate(entry.value().get<std::string>(), random));
  for (const auto &snippet : data["snippets"])
    for (int i = 0; i < 100; ++i)
      attempt(mutate(snippet["source"].get<std::string>(), random));
}

TEST(Mutation, settings) {
  Random random(99);
  const std::string file =
      R"({"eos_token_id": [1, 2], "bos_token": {"content": "<s>"}, "chat_template": [{"name":
    "default", "template": "x"}], "num_beams": 2, "text_config": {"max_position_embeddings": 5}, "model": {"pad_token_id":
    3, "context_length": 9}, "search": {"top_k": 5, "repetition_penalty": 1.5}, "add_bos_token": true})";
  auto parsed = nlohmann::json::parse(file);
  for (int i = 0; i < 3000; ++i) {
    nlohmann::json spoiled = parsed;
    spoil(spoiled, random);
    std::string text = i % 2 ? spoiled.dump() : mutate(file, random);
    auto read = readGenerationSettings({.generationConfig = text,
                                        .tokenizerConfig = text,
                                        .specialTokensMap = text,
                                        .modelConfig = text,
                                        .genaiConfig = text,
                                        .chatTemplateJson = text},
                                       nullptr);
    if (!read.ok())
      EXPECT_FALSE(read.status().message().empty());
  }
}

} // namespace
} // namespace sol::text
