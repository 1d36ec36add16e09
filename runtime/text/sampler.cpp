//===- sampler.cpp - choosing the next token ------------------------------===//
// Only as much is sorted as the limits need; without limits, nothing.
#include "runtime/text/sampler.h"

#include "absl/strings/str_cat.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sol::text {
namespace {

// e^x for x <= 0 to about one unit in the last place: x = k ln 2 + r, a
// polynomial for e^r, and 2^k by its bits.
double exponential(double x) {
  if (x < -700)
    return 0;
  double k = std::floor(x * 1.4426950408889634 + 0.5);
  double r = x - k * 6.93147180369123816490e-01; // ln 2 in two parts, the first
                                                 // with trailing zero bits
  r -= k * 1.90821492927058770002e-10;
  double term = 1, sum = 1;
  for (int i = 1; i <= 13; ++i) {
    term = term * r / i;
    sum += term;
  }
  return sum * std::bit_cast<double>(
                   static_cast<uint64_t>(1023 + static_cast<int64_t>(k)) << 52);
}

// Greater logits first, then lower ids.
bool ahead(const std::pair<float, int32_t> &a,
           const std::pair<float, int32_t> &b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

// For a heap, whose top is the greatest in its order.
bool behind(const std::pair<float, int32_t> &a,
            const std::pair<float, int32_t> &b) {
  return ahead(b, a);
}

} // namespace

Random::Random(uint64_t seed) {
  for (uint64_t &word : state) {
    seed += 0x9E3779B97F4A7C15u;
    uint64_t mixed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    word = mixed ^ (mixed >> 31);
  }
}

uint64_t Random::next() {
  uint64_t result = std::rotl(state[1] * 5, 7) * 9;
  uint64_t shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = std::rotl(state[3], 45);
  return result;
}

absl::StatusOr<Sampler> Sampler::create(const SamplingOptions &options) {
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    return absl::InvalidArgumentError(
        absl::StrCat("temperature is ", options.temperature,
                     ", expected a finite number of at least 0"));
  if (options.topK < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("top-k is ", options.topK, ", expected at least 0"));
  if (!(options.topP > 0 && options.topP <= 1))
    return absl::InvalidArgumentError(absl::StrCat(
        "top-p is ", options.topP, ", expected more than 0 and at most 1"));
  if (!(options.repetitionPenalty > 0) || std::isinf(options.repetitionPenalty))
    return absl::InvalidArgumentError(
        absl::StrCat("repetition penalty is ", options.repetitionPenalty,
                     ", expected a finite number greater than 0"));
  return Sampler(options);
}

void Sampler::observe(absl::Span<const int32_t> ids) {
  if (options.repetitionPenalty == 1)
    return;
  for (int32_t id : ids) {
    if (id < 0)
      continue;
    if (static_cast<size_t>(id) >= seen.size())
      seen.resize(static_cast<size_t>(id) + 1);
    seen[id] = true;
  }
}

absl::StatusOr<int32_t> Sampler::sample(absl::Span<const float> logits) {
  if (logits.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", logits.size(), " logits, too many for 32-bit ids"));
  std::vector<Candidate> candidates;
  bool greedy = options.temperature == 0;
  Candidate best{-std::numeric_limits<float>::infinity(), -1};
  if (!greedy)
    candidates.reserve(logits.size());
  for (size_t id = 0; id < logits.size(); ++id) {
    float logit = logits[id];
    if (std::isnan(logit) || logit == std::numeric_limits<float>::infinity())
      return absl::InvalidArgumentError(
          absl::StrCat("logit ", id, " is ", std::isnan(logit) ? "NaN" : "+inf",
                       ", so no token can be chosen"));
    if (id < seen.size() && seen[id])
      logit = logit > 0 ? logit / options.repetitionPenalty
                        : logit * options.repetitionPenalty;
    if (logit > best.first)
      best = {logit, static_cast<int32_t>(id)};
    if (!greedy && logit > -std::numeric_limits<float>::infinity())
      candidates.emplace_back(logit, static_cast<int32_t>(id));
  }
  if (best.second < 0)
    return absl::InvalidArgumentError(
        logits.empty() ? "there are no logits to choose a token from"
                       : "every logit is -inf, so no token can be chosen");
  int32_t chosen = greedy ? best.second : draw(candidates);
  observe({&chosen, 1});
  return chosen;
}

// `candidates` holds at least one, none infinite.
int32_t Sampler::draw(std::vector<Candidate> &candidates) {
  if (options.topK > 0 &&
      static_cast<size_t>(options.topK) < candidates.size()) {
    std::nth_element(candidates.begin(), candidates.begin() + options.topK - 1,
                     candidates.end(), ahead);
    candidates.resize(static_cast<size_t>(options.topK));
    std::sort(candidates.begin(), candidates.end(), ahead);
  }
  float greatest =
      std::max_element(candidates.begin(), candidates.end(), behind)->first;
  auto weight = [&](const Candidate &candidate) {
    return exponential((static_cast<double>(candidate.first) - greatest) /
                       options.temperature);
  };
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += weight(candidate);
  if (options.topP < 1) {
    // The likeliest come off a heap until they weigh enough; they gather behind
    // the heap, last first.
    double enough = static_cast<double>(options.topP) * total;
    total = 0;
    std::make_heap(candidates.begin(), candidates.end(), behind);
    auto end = candidates.end();
    while (end != candidates.begin() && total < enough) {
      std::pop_heap(candidates.begin(), end, behind);
      total += weight(*--end);
    }
    std::reverse(end, candidates.end());
    candidates.erase(candidates.begin(), end);
  }
  double threshold = random.nextUnit() * total, sum = 0;
  int32_t last = candidates.front().second;
  for (const Candidate &candidate : candidates) {
    double own = weight(candidate);
    sum += own;
    if (own > 0)
      last = candidate.second;
    if (threshold < sum)
      return candidate.second;
  }
  return last; // rounding left the threshold at the very end
}

} // namespace sol::text
