#include "runtime/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/format.h"
#include "runtime/vocab_math.h"

namespace camshaft::runtime {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

struct Candidate {
  float weight;  // exp of the shifted, tempered logit
  int32_t id;
};

bool better(const Candidate& a, const Candidate& b) { return a.weight != b.weight ? a.weight > b.weight : a.id < b.id; }

// The heaviest candidates whose weights reach `share` of the total, in descending order; at most `limit`.
std::vector<Candidate> heaviest(std::span<const float> weights, double total, double share, size_t limit) {
  std::vector<Candidate> pool;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) pool.push_back({weights[i], static_cast<int32_t>(i)});
  }
  limit = std::min(limit, pool.size());
  size_t sorted = 0;
  size_t count = 0;
  double sum = 0;
  // Sorts in growing pieces: nuclei are small.
  for (size_t piece = 64; count < limit; piece *= 4) {
    const size_t end = std::min(limit, sorted + piece);
    std::partial_sort(pool.begin() + static_cast<ptrdiff_t>(sorted), pool.begin() + static_cast<ptrdiff_t>(end), pool.end(),
                      better);
    sorted = end;
    while (count < sorted) {
      sum += static_cast<double>(pool[count++].weight);
      if (sum >= share * total) {
        limit = count;
        break;
      }
    }
  }
  pool.resize(limit);
  return pool;
}

int32_t draw_from(std::span<const Candidate> candidates, double uniform) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += static_cast<double>(candidate.weight);
  double left = uniform * total;
  for (const Candidate& candidate : candidates) {
    left -= static_cast<double>(candidate.weight);
    if (left < 0) return candidate.id;
  }
  return candidates.back().id;
}

int32_t draw_from_all(std::span<const float> weights, double total, double uniform) {
  double left = uniform * total;
  int32_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = static_cast<int32_t>(i);
    left -= static_cast<double>(weights[i]);
    if (left < 0) break;
  }
  return last;
}

}  // namespace

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014) over a Weyl sequence that starts at the mixed seed.
double uniform_at(uint64_t seed, uint64_t index) {
  const auto mix = [](uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  const uint64_t bits = mix(mix(seed + 0x9e3779b97f4a7c15u) + (index + 1) * 0x9e3779b97f4a7c15u);
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

SlotState::SlotState(const SlotStart& start)
    : slot_(start.slot), params_(start.sampling), stop_ids_(start.stop_ids), min_tokens_(start.min_tokens) {
  if (params_.repetition_penalty != 1.0f) {
    std::vector<int32_t> ids = start.prompt;
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const int32_t id : ids) seen_.push_back({id, 0});
  }
}

void SlotState::count(int32_t token) {
  ++generated_;
  const bool wanted = params_.repetition_penalty != 1.0f || params_.presence_penalty != 0 || params_.frequency_penalty != 0;
  if (!wanted) return;
  auto at = std::ranges::lower_bound(seen_, token, {}, &Seen::id);
  if (at == seen_.end() || at->id != token) at = seen_.insert(at, {token, 0});
  ++at->in_output;
}

void SlotState::penalise(std::span<float> logits) const {
  for (const Seen& seen : seen_) {
    float& logit = logits[static_cast<size_t>(seen.id)];
    logit = logit > 0 ? logit / params_.repetition_penalty : logit * params_.repetition_penalty;
    if (seen.in_output == 0) continue;
    logit -= params_.presence_penalty + params_.frequency_penalty * static_cast<float>(seen.in_output);
  }
}

void SlotState::adjust(std::span<float> logits) const {
  if (generated_ < min_tokens_) {
    for (const int32_t id : stop_ids_) logits[static_cast<size_t>(id)] = kMasked;
  }
  for (const auto& [id, bias] : params_.logit_bias) logits[static_cast<size_t>(id)] += bias;
  penalise(logits);
}

int32_t SlotState::draw(std::span<const float> logits, std::vector<float>& scratch) {
  const int32_t best = argmax(logits);
  // Temperatures whose reciprocal f32 does not hold are greedy too: infinity times the best one's distance of 0 is no number.
  const float scale = 1.0f / params_.temperature;
  if (!std::isfinite(scale) || params_.top_k == 1) return best;
  scratch.resize(logits.size());
  const double total = exp_shifted(logits, logits[static_cast<size_t>(best)], scale, scratch);
  const double uniform = uniform_at(params_.seed, static_cast<uint64_t>(generated_));
  if (params_.top_k <= 0 && params_.top_p >= 1 && params_.min_p <= 0) return draw_from_all(scratch, total, uniform);

  std::vector<Candidate> candidates;
  const auto top_k = params_.top_k > 0 ? static_cast<size_t>(params_.top_k) : logits.size();
  if (top_k < logits.size()) {
    // top-p counts within what top-k left.
    candidates = heaviest(scratch, total, 2.0, top_k);
    double kept = 0;
    for (const Candidate& candidate : candidates) kept += static_cast<double>(candidate.weight);
    double sum = 0;
    size_t count = 0;
    while (count < candidates.size() && (count == 0 || sum < static_cast<double>(params_.top_p) * kept)) {
      sum += static_cast<double>(candidates[count++].weight);
    }
    candidates.resize(count);
  } else {
    candidates = heaviest(scratch, total, params_.top_p < 1 ? static_cast<double>(params_.top_p) : 2.0, logits.size());
  }
  // The best candidate's weight is 1, so min-p is a bound on the weight itself.
  while (candidates.size() > 1 && candidates.back().weight < params_.min_p) candidates.pop_back();
  return draw_from(candidates, uniform);
}

void SlotState::report_logprobs(std::span<const float> logits, SampledToken& out) const {
  if (params_.logprobs < 0) return;
  const double total = log_sum_exp(logits, logits[static_cast<size_t>(argmax(logits))]);
  const auto logprob = [&](int32_t id) { return static_cast<float>(static_cast<double>(logits[static_cast<size_t>(id)]) - total); };
  out.logprob = {out.token, logprob(out.token)};
  if (params_.logprobs == 0) return;
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto count = std::min<ptrdiff_t>(params_.logprobs, static_cast<ptrdiff_t>(ids.size()));
  std::partial_sort(ids.begin(), ids.begin() + count, ids.end(), [&](int32_t a, int32_t b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  for (ptrdiff_t i = 0; i < count; ++i)
    out.top_logprobs.push_back({ids[static_cast<size_t>(i)], logprob(ids[static_cast<size_t>(i)])});
}

SampledToken SlotState::sample(std::span<float> logits, std::vector<float>& scratch) {
  SampledToken out;
  out.slot = slot_;
  if (!all_finite(logits)) {
    out.error = base::internal_error("the model gave a non-finite logit for this sequence");
    return out;
  }
  // Log-probabilities are those of the model's own distribution: taken before bias and penalties change the row.
  const bool changes = generated_ < min_tokens_ || !params_.logit_bias.empty() || !seen_.empty();
  if (params_.logprobs >= 0 && changes) {
    std::vector<float> raw(logits.begin(), logits.end());
    adjust(logits);
    out.token = draw(logits, scratch);
    report_logprobs(raw, out);
  } else {
    if (changes) adjust(logits);
    out.token = draw(logits, scratch);
    report_logprobs(logits, out);
  }
  count(out.token);
  return out;
}

}  // namespace camshaft::runtime
