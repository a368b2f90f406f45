#include "cli/sampling_options.h"

#include <random>

namespace camshaft::cli {

std::vector<base::Option> sampling_option_table(SamplingOptions& o) {
  return {
      {"temperature", base::DoubleRange{-1, 2}, "-1",
       "Randomness; 0 is greedy, -1 is the model's default, or 0.7 where it sets no sampling.", &o.temperature},
      {"top-p", base::DoubleRange{-1, 1}, "-1",
       "Nucleus of this probability; 1 is off, -1 is the model's default, or 0.95 where it sets no sampling.", &o.top_p},
      {"min-p", base::DoubleRange{-1, 1}, "-1", "Drops tokens below this share of the best; -1 is the model's default.", &o.min_p},
      {"top-k", base::IntRange{-1, 1 << 24}, "-1",
       "Keeps the k best tokens; 0 is off, -1 is the model's default, or 40 where it sets no sampling.", &o.top_k},
      {"repetition-penalty", base::DoubleRange{-1, 10}, "-1", "Divides logits of tokens seen; 1 is off, -1 is the model's default.",
       &o.repetition_penalty},
      {"seed", base::IntRange{-1, INT64_MAX}, "-1", "Same seed, same text; -1 draws one.", &o.seed},
  };
}

void apply_sampling(const SamplingOptions& o, const api::PromptSpec& model, api::SamplingParams& params) {
  if (!model.temperature && !model.top_p && !model.top_k) {
    params.temperature = 0.7f;
    params.top_p = 0.95f;
    params.top_k = 40;
  }
  if (o.temperature >= 0) params.temperature = static_cast<float>(o.temperature);
  if (o.top_p >= 0) params.top_p = static_cast<float>(o.top_p);
  if (o.min_p >= 0) params.min_p = static_cast<float>(o.min_p);
  if (o.top_k >= 0) params.top_k = static_cast<int32_t>(o.top_k);
  if (o.repetition_penalty > 0) params.repetition_penalty = static_cast<float>(o.repetition_penalty);
  params.seed = o.seed >= 0 ? static_cast<uint64_t>(o.seed) : (uint64_t{std::random_device{}()} << 32 | std::random_device{}());
}

}  // namespace camshaft::cli
