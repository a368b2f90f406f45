#include "cli/sampling_options.h"

#include <random>

#include "base/format.h"
#include "generation/params.h"

namespace camshaft::cli {

namespace {

namespace limits = generation::limits;

base::DoubleRange within(const generation::Range& range) { return {range.min, range.max}; }

}  // namespace

std::vector<base::Option> sampling_option_table(SamplingOptions& o) {
  return {
      {"temperature", within(limits::kTemperature), "",
       "Randomness; 0 is greedy; absent is the model's default, or 0.7 where it sets no sampling.", &o.temperature},
      {"top-p", within(limits::kTopP), "",
       "Nucleus of this probability, above 0; 1 is off; absent is the model's default, or 0.95 where it sets no sampling.",
       &o.top_p},
      {"min-p", within(limits::kMinP), "", "Drops tokens below this share of the best; absent is the model's default.", &o.min_p},
      {"top-k", base::IntRange{static_cast<int64_t>(limits::kTopK.min), static_cast<int64_t>(limits::kTopK.max)}, "",
       "Keeps the k best tokens; 0 is off; absent is the model's default, or 40 where it sets no sampling.", &o.top_k},
      {"repetition-penalty", within(limits::kRepetitionPenalty), "",
       "Divides logits of tokens seen, above 0; 1 is off; absent is the model's default.", &o.repetition_penalty},
      {"seed", base::IntRange{-1, INT64_MAX}, "-1", "Same seed, same text; -1 draws one.", &o.seed},
  };
}

Status check_sampling(const SamplingOptions& o) {
  const struct {
    const char* name;
    double value;
    const generation::Range& range;
  } open[] = {{"top-p", o.top_p, limits::kTopP}, {"repetition-penalty", o.repetition_penalty, limits::kRepetitionPenalty}};
  for (const auto& each : open) {
    if (each.value < 0 || each.range.contains(each.value)) continue;
    return base::invalid_argument(
        format("--{} is '{}', allowed is above {} up to {}", each.name, each.value, each.range.min, each.range.max));
  }
  return base::ok_status();
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
