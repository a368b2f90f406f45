// Named invariant row-invariance, end to end: a sequence's logits are the same bits however its prompt is cut into chunks.
#include <gtest/gtest.h>

#include "engine_support.h"

namespace camshaft::engine_tests {
namespace {

TEST(BatchInvariance, ChunkBordersChangeNoBit) {
  if (!std::filesystem::exists(default_model())) GTEST_SKIP() << default_model() << " is not there";
  compiler::CompileOptions options;
  options.isa = kernels::detect_isa();
  const auto runner = compile_and_open(default_model(), options, {.max_seqs = 1, .max_seq_len = 512});
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  std::vector<int32_t> tokens(300);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>((i * 7919 + 11) % 49152);
  const std::vector<int32_t> rows = {0, 15, 16, 255, 256, 299};
  const auto whole = (*runner)->logits(tokens, rows);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  for (const int32_t chunk : {1, 7, 16, 100, 257}) {
    const auto cut = (*runner)->logits(tokens, rows, chunk);
    ASSERT_TRUE(cut.ok()) << cut.status().message();
    EXPECT_TRUE(*cut == *whole) << "chunk " << chunk;
  }
}

}  // namespace
}  // namespace camshaft::engine_tests
