// What `run` samples with: the option, else the model's own default, else ours.
#include "cli/sampling_options.h"

#include <gtest/gtest.h>

namespace camshaft::cli {
namespace {

api::SamplingParams applied(const SamplingOptions& options, const api::PromptSpec& model) {
  api::SamplingParams params;
  if (model.temperature) params.temperature = static_cast<float>(*model.temperature);
  if (model.top_p) params.top_p = static_cast<float>(*model.top_p);
  apply_sampling(options, model, params);
  return params;
}

SamplingOptions defaults() {
  SamplingOptions options;
  const auto table = sampling_option_table(options);
  EXPECT_TRUE(base::set_defaults(table).ok());
  return options;
}

TEST(SamplingOptions, SuitAConversationWhereTheModelSaysNothing) {
  const api::SamplingParams params = applied(defaults(), {});
  EXPECT_FLOAT_EQ(params.temperature, 0.7f);
  EXPECT_FLOAT_EQ(params.top_p, 0.95f);
  EXPECT_EQ(params.top_k, 40);
}

TEST(SamplingOptions, AreTheModelsWhereItHasSome) {
  api::PromptSpec model;
  model.temperature = 0.3;
  const api::SamplingParams params = applied(defaults(), model);
  EXPECT_FLOAT_EQ(params.temperature, 0.3f);
  EXPECT_FLOAT_EQ(params.top_p, 1.0f);
  EXPECT_EQ(params.top_k, 0);
}

TEST(SamplingOptions, AreTheUsersFirst) {
  SamplingOptions options = defaults();
  options.temperature = 1;
  options.top_k = 0;
  options.seed = 7;
  const api::SamplingParams params = applied(options, {});
  EXPECT_FLOAT_EQ(params.temperature, 1.0f);
  EXPECT_FLOAT_EQ(params.top_p, 0.95f);
  EXPECT_EQ(params.top_k, 0);
  EXPECT_EQ(params.seed, 7u);
}

}  // namespace
}  // namespace camshaft::cli
