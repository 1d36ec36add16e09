//===- sampler.h - choosing the next token --------------------------------===//
// From the scores of one position to one id. The same seed, options and scores
// give the same ids on every machine: the random numbers, the exponential and
// every sum's order are fixed here and no library decides.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace sol::text {

/// How to choose. The steps apply in this order: repetition penalty,
/// temperature, top-k, top-p.
struct SamplingOptions {
  /// 0 chooses the greatest logit (the lowest id among equals); otherwise
  /// logits are divided by it. At least 0, finite.
  float temperature = 0;
  /// Keep only this many of the greatest logits; 0 keeps all.
  int64_t topK = 0;
  /// Keep the fewest of the likeliest tokens whose probabilities add up to at
  /// least this; 1 keeps all. In (0, 1].
  float topP = 1;
  /// Starts the random sequence.
  uint64_t seed = 0;
  /// Divides positive (multiplies negative) logits of tokens that occurred; 1
  /// changes nothing. Greater than 0.
  float repetitionPenalty = 1;
};

/// xoshiro256** by Blackman and Vigna (2018), seeded through splitmix64 as its
/// authors advise.
class Random {
public:
  explicit Random(uint64_t seed);
  /// The next 64 bits.
  uint64_t next();
  /// A multiple of 2^-53 in [0, 1).
  double nextUnit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  std::array<uint64_t, 4> state;
};

/// Chooses tokens one after another. Not thread-safe.
class Sampler {
public:
  /// InvalidArgument naming the option that is out of its range.
  static absl::StatusOr<Sampler> create(const SamplingOptions &options);

  /// Tells of ids in the prompt, which the repetition penalty counts; chosen
  /// ids are counted without it.
  void observe(absl::Span<const int32_t> ids);

  /// The id chosen from `logits`, one score per id. -inf excludes an id.
  /// InvalidArgument if there are no logits, all are -inf, or one is NaN or
  /// +inf (the message names it).
  absl::StatusOr<int32_t> sample(absl::Span<const float> logits);

private:
  explicit Sampler(const SamplingOptions &options)
      : options(options), random(options.seed) {}
  using Candidate = std::pair<float, int32_t>;
  int32_t draw(std::vector<Candidate> &candidates);

  SamplingOptions options;
  Random random;
  std::vector<bool> seen;
};

} // namespace sol::text
