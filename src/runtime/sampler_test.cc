// One row of logits to one token: ties, sets that top-k, top-p and min-p leave, frequencies against float64, penalties, masks,
// logprobs, seeds, and what happens to a row that is not finite.
#include "runtime/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace camshaft::runtime {
namespace {

using Logits = std::vector<float>;

SlotStart start_with(const api::SamplingParams& sampling) {
  SlotStart start;
  start.slot = 3;
  start.sampling = sampling;
  return start;
}

SampledToken sample(SlotState& state, Logits logits) {
  std::vector<float> scratch;
  return state.sample(logits, scratch);
}

std::vector<int32_t> draw(const SlotStart& start, const Logits& logits, int count) {
  SlotState state(start);
  std::vector<int32_t> out;
  std::vector<float> scratch;
  for (int i = 0; i < count; ++i) {
    Logits row = logits;
    out.push_back(state.sample(row, scratch).token);
  }
  return out;
}

// What is left after temperature, top-k, top-p and min-p, in float64: id and probability among those left.
std::map<int32_t, double> expected(const Logits& logits, const api::SamplingParams& p) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids,
                           [&](int32_t a, int32_t b) { return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)]; });
  std::vector<double> weights;
  for (const int32_t id : ids) {
    weights.push_back(
        std::exp((double{logits[static_cast<size_t>(id)]} - double{logits[static_cast<size_t>(ids[0])]}) / double{p.temperature}));
  }
  if (p.top_k > 0) weights.resize(std::min(weights.size(), static_cast<size_t>(p.top_k)));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::map<int32_t, double> left;
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (i > 0 && (sum >= double{p.top_p} * total || weights[i] < double{p.min_p})) break;
    sum += weights[i];
    left[ids[i]] = weights[i];
  }
  for (auto& [id, weight] : left) weight /= sum;
  return left;
}

TEST(Sampler, GreedyTakesTheLargestAndTheLowerIdOnTies) {
  for (const auto& [temperature, top_k] : {std::pair(0.0f, 0), {1.0f, 1}, {0.0f, 5}}) {
    api::SamplingParams params;
    params.temperature = temperature;
    params.top_k = top_k;
    SlotState state(start_with(params));
    EXPECT_EQ(sample(state, {1, 4, 2, 4}).token, 1);
    EXPECT_EQ(sample(state, {-5, -5, -5}).token, 0);
    EXPECT_EQ(sample(state, {-5, -7, -4.5f}).token, 2);
    EXPECT_EQ(sample(state, {1, 2}).slot, 3);
  }
}

// The smallest temperatures that a request may name: their reciprocal is infinite in f32.
TEST(Sampler, TinyTemperaturesAreGreedy) {
  for (const float temperature : {std::numeric_limits<float>::denorm_min(), 1e-40f, 1e-38f, 1e-20f}) {
    api::SamplingParams params;
    params.temperature = temperature;
    EXPECT_EQ(draw(start_with(params), {1, 4, 2, 3.9f}, 8), std::vector<int32_t>(8, 1)) << temperature;
    params.top_p = 0.5f;
    EXPECT_EQ(draw(start_with(params), {1, 4, 2, 3.9f}, 8), std::vector<int32_t>(8, 1)) << temperature;
  }
}

struct Cut {
  const char* name;
  float temperature;
  int32_t top_k;
  float top_p, min_p;
};
constexpr Cut kCuts[] = {
    {"plain", 1, 0, 1, 0},        {"hot", 2, 0, 1, 0},        {"cool", 0.5f, 0, 1, 0},         {"top_k", 1, 3, 1, 0},
    {"top_k_all", 1, 100, 1, 0},  {"top_p", 1, 0, 0.8f, 0},   {"top_p_small", 1, 0, 0.05f, 0}, {"min_p", 1, 0, 1, 0.2f},
    {"min_p_one", 1, 0, 1, 1.0f}, {"top_k_p", 1, 4, 0.7f, 0}, {"all", 1.5f, 5, 0.9f, 0.1f},    {"top_k_min_p", 1, 6, 1, 0.3f},
};
class Cuts : public testing::TestWithParam<Cut> {
 protected:
  api::SamplingParams params() const {
    api::SamplingParams out;
    out.temperature = GetParam().temperature;
    out.top_k = GetParam().top_k;
    out.top_p = GetParam().top_p;
    out.min_p = GetParam().min_p;
    out.seed = 77;
    return out;
  }
};

// The set is exact, and frequencies pass a chi-square test (fixed seed; the bound is five standard deviations of the statistic).
TEST_P(Cuts, SetAndFrequencies) {
  const Logits logits = {0.5f, 2.0f, 1.0f, -1.0f, 2.0f, 0.0f, 1.5f, -0.5f, 0.9f};
  constexpr int kDraws = 20000;
  const auto want = expected(logits, params());
  std::map<int32_t, int> found;
  for (const int32_t id : draw(start_with(params()), logits, kDraws)) ++found[id];
  double statistic = 0;
  for (const auto& [id, probability] : want) {
    ASSERT_TRUE(found.contains(id)) << id;
    statistic += std::pow(found[id] - probability * kDraws, 2) / (probability * kDraws);
  }
  EXPECT_EQ(found.size(), want.size());
  const auto freedom = static_cast<double>(want.size()) - 1;
  EXPECT_LE(statistic, freedom + 5 * std::sqrt(2 * freedom));
}

// Over a vocabulary that needs more than one piece of sorting: nothing outside the set is drawn, and its size is as in float64.
TEST_P(Cuts, LargeVocabulary) {
  Logits logits(5000);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(3 * uniform_at(5, i));
  const auto want = expected(logits, params());
  for (const int32_t id : draw(start_with(params()), logits, 300)) EXPECT_TRUE(want.contains(id)) << id << " of " << want.size();
}

INSTANTIATE_TEST_SUITE_P(Sampler, Cuts, testing::ValuesIn(kCuts),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST(Sampler, ManyTokensReachTheShare) {
  // 400 equal weights: 0.5 of them are the 200 lowest ids.
  api::SamplingParams params;
  params.top_p = 0.5f;
  std::set<int32_t> seen;
  for (const int32_t id : draw(start_with(params), Logits(400, 1.0f), 4000)) seen.insert(id);
  EXPECT_EQ(*seen.rbegin(), 199);
  EXPECT_EQ(seen.size(), 200u);
}

TEST(Sampler, TheSeedDecidesTheSequence) {
  api::SamplingParams params;
  params.seed = 42;
  const Logits logits(50, 0.0f);
  const auto first = draw(start_with(params), logits, 100);
  EXPECT_EQ(draw(start_with(params), logits, 100), first);
  params.seed = 43;
  EXPECT_NE(draw(start_with(params), logits, 100), first);
  for (uint64_t seed : {0ull, 1ull, ~0ull}) {
    double sum = 0;
    for (uint64_t i = 0; i < 1000; ++i) {
      const double uniform = uniform_at(seed, i);
      ASSERT_TRUE(uniform >= 0 && uniform < 1);
      sum += uniform;
    }
    EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  }
}

TEST(Sampler, BiasMovesTheChoice) {
  api::SamplingParams params;
  params.temperature = 0;
  params.logit_bias = {{2, 5.0f}, {0, -100.0f}};
  SlotState state(start_with(params));
  EXPECT_EQ(sample(state, {9, 3, 0, 4}).token, 2);
  EXPECT_EQ(sample(state, {200, 3, 0, 4}).token, 0);
}

TEST(Sampler, RepetitionCountsThePromptOthersTheOutput) {
  api::SamplingParams params;
  params.temperature = 0;
  params.repetition_penalty = 2;
  SlotStart start = start_with(params);
  start.prompt = {1, 1, 3};
  SlotState state(start);
  EXPECT_EQ(sample(state, {3, 4, 2.5f, -1}).token, 0);        // 4 becomes 2
  EXPECT_EQ(sample(state, {3, 4, 2.5f, -1}).token, 2);        // 0 is in the output now: 1.5
  EXPECT_EQ(sample(state, {-8, -4.5f, -8, -4.4f}).token, 3);  // negative ones are multiplied: -9 and -8.8; 0 and 2 are -16

  params.repetition_penalty = 1;
  params.presence_penalty = 1;
  SlotState present(start_with(params));
  EXPECT_EQ(sample(present, {2, 1.5f}).token, 0);
  EXPECT_EQ(sample(present, {2, 1.5f}).token, 1);
  EXPECT_EQ(sample(present, {2, 1.5f}).token, 0);  // once, however often

  params.presence_penalty = 0;
  params.frequency_penalty = 0.4f;
  SlotState frequent(start_with(params));
  std::vector<int32_t> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(sample(frequent, {2, 1.5f}).token);
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 0, 1, 0}));
}

TEST(Sampler, EndTokensAreMaskedBeforeMinTokens) {
  api::SamplingParams params;
  params.temperature = 0;
  params.logit_bias = {{1, 100.0f}};
  SlotStart start = start_with(params);
  start.stop_ids = {1, 2};
  start.min_tokens = 2;
  SlotState state(start);
  std::vector<int32_t> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(sample(state, {0, 50, 40, 1}).token);
  EXPECT_EQ(ids, (std::vector<int32_t>{3, 3, 1}));
  // The same while drawing.
  start.sampling = {};
  start.min_tokens = 100;
  for (const int32_t id : draw(start, {0, 5, 4, 1}, 100)) EXPECT_TRUE(id == 0 || id == 3) << id;
}

TEST(Sampler, LogprobsAreThoseOfTheModel) {
  Logits logits(3000);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(20 * uniform_at(9, i) - 10);
  logits[17] = logits[2000] = 11;
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit} - 11);
  const auto logprob = [&](int32_t id) { return double{logits[static_cast<size_t>(id)]} - 11 - std::log(sum); };
  api::SamplingParams params;
  params.temperature = 0.7f;
  params.logprobs = 4;
  params.logit_bias = {{123, 100.0f}};  // decides the token, not its logprob
  params.top_k = 1;
  SlotState state(start_with(params));
  const SampledToken out = sample(state, logits);
  EXPECT_EQ(out.token, 123);
  EXPECT_EQ(out.logprob.id, 123);
  EXPECT_NEAR(out.logprob.logprob, logprob(123), 1e-5);
  ASSERT_EQ(out.top_logprobs.size(), 4u);
  EXPECT_EQ(out.top_logprobs[0].id, 17);
  EXPECT_EQ(out.top_logprobs[1].id, 2000);
  for (const auto& [id, value] : out.top_logprobs) EXPECT_NEAR(value, logprob(id), 1e-5);

  params.logprobs = 0;
  params.logit_bias.clear();
  SlotState one(start_with(params));
  const SampledToken bare = sample(one, logits);
  EXPECT_NEAR(bare.logprob.logprob, logprob(17), 1e-5);
  EXPECT_TRUE(bare.top_logprobs.empty());
  params.logprobs = 5;
  SlotState few(start_with(params));
  EXPECT_EQ(sample(few, {1, 2}).top_logprobs.size(), 2u);
}

TEST(Sampler, NonFiniteLogitsFailThisRowAlone) {
  api::SamplingParams params;
  params.seed = 6;
  const Logits good = {1, 2, 3, 2, 1};
  SlotState state(start_with(params)), untouched(start_with(params));
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    Logits logits = good;
    logits[3] = bad;
    const SampledToken out = sample(state, logits);
    EXPECT_EQ(out.error.message(), "the model gave a non-finite logit for this sequence");
    EXPECT_EQ(out.token, -1);
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(sample(state, good).token, sample(untouched, good).token);
}

}  // namespace
}  // namespace camshaft::runtime
