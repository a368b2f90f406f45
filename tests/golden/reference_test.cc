// The default model, weights as they are and f32 activations, against outputs of another implementation. One short prompt and a few
// steps: the reference kernels are slow. reference_run does the rest.
#include <gtest/gtest.h>

#include "oracle.h"

namespace camshaft::golden {
namespace {

TEST(DefaultModel, FirstLogitsAndGreedyIdsAreThoseOfTheReference) {
  if (!std::filesystem::exists(default_model())) GTEST_SKIP() << default_model() << " is not there";
  if (!std::filesystem::exists(default_reference())) GTEST_SKIP() << default_reference() << " is not there";
  const auto reference = read_reference(default_reference());
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  auto oracle = open_oracle(default_model(), {.max_tokens = 64, .num_threads = 2});
  ASSERT_TRUE(oracle.ok()) << oracle.status().message();

  const ReferencePrompt& prompt = reference->front();
  constexpr size_t kSteps = 4;
  const auto greedy = run_greedy(*oracle->interpreter, prompt.prompt_ids, kSteps);
  ASSERT_TRUE(greedy.ok()) << greedy.status().message();
  EXPECT_LE(top5_error(greedy->first_logits, prompt), 1e-3);
  EXPECT_EQ(greedy->ids, std::vector<int32_t>(prompt.greedy_ids.begin(), prompt.greedy_ids.begin() + kSteps));
}

}  // namespace
}  // namespace camshaft::golden
