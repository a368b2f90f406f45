// The default model as an engine: f32 equals the reference's greedy ids, keep is no farther from it than llama.cpp on the same
// file.
#include <gtest/gtest.h>

#include "engine_support.h"

namespace camshaft::engine_tests {
namespace {

class DefaultModel : public testing::TestWithParam<compiler::Precision> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(default_model())) GTEST_SKIP() << default_model() << " is not there";
    if (!std::filesystem::exists(default_reference())) GTEST_SKIP() << default_reference() << " is not there";
  }
};

TEST_P(DefaultModel, IsWithinItsBar) {
  const bool exact = GetParam() == compiler::Precision::kF32;
  compiler::CompileOptions options;
  options.precision = GetParam();
  options.isa = kernels::detect_isa();
  options.kv_format = exact ? tensor::Format::kF32 : tensor::Format::kF16;
  const auto runner = compile_and_open(default_model(), options, {.max_seqs = 1, .max_seq_len = 256});
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  const auto reference = read_reference(default_reference());
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  constexpr size_t kSteps = 16;
  for (const ReferencePrompt& prompt : *reference) {
    if (prompt.prompt_ids.size() > 200) continue;
    const std::vector<int32_t> last = {static_cast<int32_t>(prompt.prompt_ids.size()) - 1};
    const auto logits = (*runner)->logits(prompt.prompt_ids, last);
    ASSERT_TRUE(logits.ok()) << logits.status().message();
    EXPECT_LE(top_error(*logits, prompt.top5), exact ? 1e-3 : top_error(prompt.quantised_top5, prompt.top5)) << prompt.name;
    if (!exact) continue;
    const auto ids = run_greedy(**runner, prompt.prompt_ids, kSteps);
    ASSERT_TRUE(ids.ok()) << ids.status().message();
    EXPECT_EQ(*ids, std::vector<int32_t>(prompt.greedy_ids.begin(), prompt.greedy_ids.begin() + kSteps)) << prompt.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, DefaultModel, testing::Values(compiler::Precision::kF32, compiler::Precision::kKeep));

}  // namespace
}  // namespace camshaft::engine_tests
