#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ops/op.h"

namespace camshaft::ops {
namespace {

using Scaling = RopeParams::Scaling;

RopeParams base(int64_t dim, double theta) { return {.head_dim = dim, .rotary_dim = dim, .theta = theta}; }

TEST(Rope, PlainFrequencies) {
  const auto f = rope_inverse_frequencies(base(4, 10000));
  EXPECT_DOUBLE_EQ(f[0], 1.0);
  EXPECT_DOUBLE_EQ(f[1], 0.01);
}

TEST(Rope, LinearDividesAll) {
  RopeParams params = base(4, 10000);
  params.scaling = Scaling::kLinear;
  params.factor = 4;
  const auto f = rope_inverse_frequencies(params);
  EXPECT_DOUBLE_EQ(f[0], 0.25);
  EXPECT_DOUBLE_EQ(f[1], 0.0025);
}

// Llama 3.1: waves under original / high_freq_factor stay, those over original / low_freq_factor are divided.
TEST(Rope, Llama3BlendsBetween) {
  RopeParams params = base(128, 500000);
  params.scaling = Scaling::kLlama3;
  params.factor = 8;
  params.original_context = 8192;
  const auto plain = rope_inverse_frequencies(base(128, 500000));
  const auto f = rope_inverse_frequencies(params);
  int kept = 0, divided = 0, blended = 0;
  for (size_t i = 0; i < f.size(); ++i) {
    const double wave = 2 * std::numbers::pi / plain[i];
    if (wave < 2048) {
      EXPECT_DOUBLE_EQ(f[i], plain[i]);
      ++kept;
    } else if (wave > 8192) {
      EXPECT_DOUBLE_EQ(f[i], plain[i] / 8);
      ++divided;
    } else {
      const double smooth = (8192 / wave - 1) / 3;
      EXPECT_NEAR(f[i], (1 - smooth) * plain[i] / 8 + smooth * plain[i], 1e-15);
      ++blended;
    }
  }
  EXPECT_EQ(kept + divided + blended, 64);
  EXPECT_EQ(kept, 29);
  EXPECT_EQ(blended, 6);
}

// By the paper's ramp with alpha = beta_slow, beta = beta_fast: below `low` untouched, above `high` interpolated.
TEST(Rope, YarnKeepsFastAndStretchesSlow) {
  RopeParams params = base(64, 10000);
  params.scaling = Scaling::kYarn;
  params.factor = 16;
  params.original_context = 4096;
  params.attention_factor = 0.1 * std::log(16.0) + 1;
  const auto plain = rope_inverse_frequencies(base(64, 10000));
  const auto f = rope_inverse_frequencies(params);
  EXPECT_DOUBLE_EQ(f[0], plain[0]);
  EXPECT_DOUBLE_EQ(f[10], plain[10]);  // floor(64 ln(4096 / (32 * 2 pi)) / (2 ln 10000)) = 10
  EXPECT_LT(f[11], plain[11]);
  EXPECT_DOUBLE_EQ(f[23], plain[23] / 16);  // ceil(64 ln(4096 / (2 pi)) / (2 ln 10000)) = 23
  EXPECT_DOUBLE_EQ(f[31], plain[31] / 16);
  EXPECT_NEAR(f[15], plain[15] * (1 - 5.0 / 13) + plain[15] / 16 * 5 / 13, 1e-15);
  std::vector<float> table(64);
  fill_rope_table(params, 1, table.data());
  EXPECT_FLOAT_EQ(table[0], static_cast<float>(params.attention_factor));  // cos 0
}

TEST(Rope, DynamicChangesTheBaseBeyondTheOriginalContext) {
  RopeParams params = base(8, 10000);
  params.scaling = Scaling::kDynamicNtk;
  params.factor = 2;
  params.original_context = 16;
  std::vector<float> scaled(32 * 8), plain(32 * 8);
  fill_rope_table(params, 32, scaled.data());
  fill_rope_table(base(8, 10000), 32, plain.data());
  for (size_t i = 0; i < 16 * 8; ++i) ASSERT_EQ(scaled[i], plain[i]);
  const double theta = 10000 * std::pow(2.0 * 24 / 16 - 1, 8.0 / 6);  // position 23: 24 tokens so far
  for (size_t i = 0; i < 4; ++i)
    EXPECT_FLOAT_EQ(scaled[23 * 8 + i], std::cos(23 * std::pow(theta, -2.0 * static_cast<double>(i) / 8)));
}

TEST(Rope, FactorsDivide) {
  RopeParams params = base(4, 10000);
  params.freq_factors = {1, 8};
  EXPECT_DOUBLE_EQ(rope_inverse_frequencies(params)[1], 0.01 / 8);
}

TEST(Rope, TableHoldsCosinesThenSines) {
  std::vector<float> table(3 * 4);
  fill_rope_table(base(4, 10000), 3, table.data());
  EXPECT_FLOAT_EQ(table[8], std::cos(2.0f));
  EXPECT_FLOAT_EQ(table[9], std::cos(0.02f));
  EXPECT_FLOAT_EQ(table[10], std::sin(2.0f));
  EXPECT_FLOAT_EQ(table[11], std::sin(0.02f));
}

}  // namespace
}  // namespace camshaft::ops
