// Sampling as the command line says it; absent options leave the model's own defaults, or ours for a conversation.
#pragma once

#include <string>
#include <vector>

#include "api/request.h"
#include "api/tokenizer_spec.h"
#include "base/options.h"

namespace camshaft::cli {

struct SamplingOptions {
  double temperature = 0;
  double top_p = 0;
  double min_p = 0;
  double repetition_penalty = 0;
  int64_t top_k = 0;
  int64_t seed = 0;
};
std::vector<base::Option> sampling_option_table(SamplingOptions& options);
// `params` are the server's defaults under the model's own. Options change what they name; where the model has no defaults at all,
// the rest is what suits a conversation rather than the server's protocol (temperature 1 reads as nonsense from small models).
void apply_sampling(const SamplingOptions& options, const api::PromptSpec& model, api::SamplingParams& params);

}  // namespace camshaft::cli
