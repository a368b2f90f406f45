// Sampler: one row of logits and a slot's state to one token. Everything it does is a function of the logits, the parameters and
// the tokens sampled so far: what else is in the batch changes nothing.
//
// Order: min_tokens mask, logit bias, penalties, temperature, top-k, top-p, min-p, draw. Ties go to the lower id.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model_runner.h"

namespace camshaft::runtime {

// Sampling state of one slot; owned by the runner's thread.
class SlotState {
 public:
  explicit SlotState(const SlotStart& start);

  // `logits` [vocab] may be changed. `scratch` is reused between calls. Non-finite logits: an error in the result, state unchanged.
  SampledToken sample(std::span<float> logits, std::vector<float>& scratch);
  int32_t slot() const { return slot_; }

 private:
  void adjust(std::span<float> logits) const;
  void penalise(std::span<float> logits) const;
  int32_t draw(std::span<const float> logits, std::vector<float>& scratch);
  void report_logprobs(std::span<const float> logits, SampledToken& out) const;
  void count(int32_t token);

  int32_t slot_ = 0;
  api::SamplingParams params_;
  std::vector<int32_t> stop_ids_;
  int32_t min_tokens_ = 0;
  int64_t generated_ = 0;
  // Ids seen, with how often in the output and whether in the prompt; kept only when a penalty needs them.
  struct Seen {
    int32_t id;
    int32_t in_output;
  };
  std::vector<Seen> seen_;  // ascending ids
};

// A uniform double in [0, 1) from (seed, index): counter based, so the n-th token of a request always sees the n-th number.
double uniform_at(uint64_t seed, uint64_t index);

}  // namespace camshaft::runtime
