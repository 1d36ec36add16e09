//===- sampler_test.cpp - choosing the next token -------------------------===//
// Limits, ties, determinism, and the random sequence against its published
// definition.
#include "runtime/text/sampler.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace sol::text {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

Sampler make(const SamplingOptions &options) {
  auto made = Sampler::create(options);
  EXPECT_TRUE(made.ok()) << made.status();
  return *made;
}

TEST(Sampler, greedyTakesTheLowestOfEquals) {
  Sampler sampler = make({});
  EXPECT_EQ(*sampler.sample({1, 3, 3, 2}), 1);
  EXPECT_EQ(*sampler.sample({-inf, -5, -inf}), 1);
}

TEST(Sampler, refusesScoresThatDecideNothing) {
  for (float temperature : {0.0f, 1.0f}) {
    Sampler sampler = make({.temperature = temperature});
    EXPECT_EQ(sampler.sample({0, std::nanf(""), 1}).status().message(),
              "logit 1 is NaN, so no token can be chosen");
    EXPECT_EQ(sampler.sample({inf}).status().message(),
              "logit 0 is +inf, so no token can be chosen");
    EXPECT_FALSE(sampler.sample({}).ok());
    EXPECT_FALSE(sampler.sample({-inf, -inf}).ok());
  }
}

TEST(Sampler, checksItsOptions) {
  EXPECT_FALSE(Sampler::create({.temperature = -1}).ok());
  EXPECT_FALSE(Sampler::create({.temperature = std::nanf("")}).ok());
  EXPECT_FALSE(Sampler::create({.topK = -1}).ok());
  EXPECT_FALSE(Sampler::create({.topP = 0}).ok());
  EXPECT_FALSE(Sampler::create({.topP = 1.5f}).ok());
  EXPECT_FALSE(Sampler::create({.repetitionPenalty = 0}).ok());
}

// Reference output of splitmix64-seeded xoshiro256** for seed 0, from an
// independent Python transcription.
TEST(Random, followsItsDefinition) {
  Random random(0);
  EXPECT_EQ(random.next(), 0x99EC5F36CB75F2B4u);
  EXPECT_EQ(random.next(), 0xBF6E1F784956452Au);
  EXPECT_EQ(random.next(), 0x1A5F849D4933E6E0u);
}

TEST(Sampler, followsTheDistribution) {
  Sampler sampler = make({.temperature = 0.5f, .seed = 11});
  const float logits[] = {std::log(1.0f), std::log(2.0f), -inf, std::log(3.0f)};
  int counts[4] = {};
  for (int i = 0; i < 28000; ++i)
    ++counts[*sampler.sample(logits)];
  // Temperature one half squares the weights: 1, 4, 9 of 14.
  EXPECT_NEAR(counts[0], 2000, 200);
  EXPECT_NEAR(counts[1], 8000, 300);
  EXPECT_EQ(counts[2], 0);
  EXPECT_NEAR(counts[3], 18000, 300);
}

TEST(Sampler, repeatsForASeed) {
  std::vector<float> logits(1000);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>((i * 37) % 101) * 0.05f;
  auto run = [&](uint64_t seed) {
    Sampler sampler =
        make({.temperature = 0.8f, .topK = 200, .topP = 0.9f, .seed = seed});
    std::vector<int32_t> ids;
    for (int i = 0; i < 50; ++i)
      ids.push_back(*sampler.sample(logits));
    return ids;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Sampler, keepsOnlyTheLikeliest) {
  const float logits[] = {0, 5, 4, 5, 1};
  Sampler two = make({.temperature = 5, .topK = 2, .seed = 3});
  Sampler one = make({.temperature = 1, .topK = 1, .seed = 3});
  Sampler small = make({.temperature = 1, .topP = 0.01f, .seed = 3});
  Sampler most =
      make({.temperature = 1, .topP = 0.9f, .seed = 3}); // 0.42 + 0.42 + 0.15
  bool sawThird = false;
  for (int i = 0; i < 200; ++i) {
    int32_t id = *two.sample(logits);
    EXPECT_TRUE(id == 1 || id == 3);
    EXPECT_EQ(*one.sample(logits), 1);
    EXPECT_EQ(*small.sample(logits), 1);
    id = *most.sample(logits);
    EXPECT_TRUE(id == 1 || id == 2 || id == 3);
    sawThird |= id == 2;
  }
  EXPECT_TRUE(sawThird);
}

TEST(Sampler, penalizesRepetition) {
  Sampler sampler = make({.repetitionPenalty = 2});
  sampler.observe({0, -3});
  EXPECT_EQ(*sampler.sample({4, 3, 1}), 1);
  EXPECT_EQ(*sampler.sample({4, 3, 2.5f}), 2);
  EXPECT_EQ(*sampler.sample({-1, -1.5f, -1.5f}), 0); // all seen: -2, -3, -3
}

} // namespace
} // namespace sol::text
