// Sampling as the command line says it; absent options leave the model's own defaults, or ours for a conversation.
#pragma once

#include <string>
#include <vector>

#include "api/request.h"
#include "api/tokenizer_spec.h"
#include "base/options.h"

namespace camshaft::cli {

struct SamplingOptions {
  // Negative where nothing was said.
  double temperature = -1;
  double top_p = -1;
  double min_p = -1;
  double repetition_penalty = -1;
  int64_t top_k = -1;
  int64_t seed = 0;
};
std::vector<base::Option> sampling_option_table(SamplingOptions& options);
// What a table cannot say: ranges without their lower end.
Status check_sampling(const SamplingOptions& options);
// `params` are the server's defaults under the model's own. Options change what they name; where the model has no defaults at all,
// the rest is what suits a conversation rather than the server's protocol (temperature 1 reads as nonsense from small models).
void apply_sampling(const SamplingOptions& options, const api::PromptSpec& model, api::SamplingParams& params);

}  // namespace camshaft::cli
