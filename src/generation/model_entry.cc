// A model's own defaults.
#include "generation/model_entry.h"

#include <algorithm>

namespace camshaft::generation {

api::SamplingParams default_sampling(const ModelEntry& entry) {
  api::SamplingParams sampling;
  const auto take = [](float& value, const std::optional<double>& model) {
    if (model) value = static_cast<float>(*model);
  };
  take(sampling.temperature, entry.prompt.temperature);
  take(sampling.top_p, entry.prompt.top_p);
  take(sampling.min_p, entry.prompt.min_p);
  take(sampling.repetition_penalty, entry.prompt.repetition_penalty);
  if (entry.prompt.top_k) sampling.top_k = std::max(0, *entry.prompt.top_k);
  return sampling;
}

}  // namespace camshaft::generation
