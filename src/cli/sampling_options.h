// Sampling as the command line says it; absent options leave the model's own defaults.
#pragma once

#include <string>
#include <vector>

#include "api/request.h"
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
// Changes `params` where an option was given.
void apply_sampling(const SamplingOptions& options, api::SamplingParams& params);

}  // namespace camshaft::cli
