// The loops over logits against float64.
#include "runtime/vocab_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace camshaft::runtime {
namespace {

TEST(VocabMath, ExpIsWithinItsBound) {
  std::vector<float> values, out;
  for (float x = 0; x > -87.0f; x -= 0.00137f) values.push_back(x);
  out.resize(values.size());
  const double total = exp_shifted(values, 0, 1, out);
  double worst = 0, sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double exact = std::exp(double{values[i]});
    worst = std::max(worst, std::abs(double{out[i]} - exact) / exact);
    sum += exact;
  }
  RecordProperty("worst", std::to_string(worst * 1e7) + "e-7");
  EXPECT_LT(worst, 2e-7);
  EXPECT_NEAR(total / sum, 1, 1e-6);
}

TEST(VocabMath, ExpAtTheEdges) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values = {5, 5 - 86.9f, 5 - 87.5f, 5 - 1000.0f, -inf, -std::numeric_limits<float>::max()};
  std::vector<float> out(values.size());
  exp_shifted(values, 5, 1, out);
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_GT(out[1], 0.0f);
  for (size_t i = 2; i < out.size(); ++i) EXPECT_EQ(out[i], 0.0f) << values[i];
  exp_shifted(values, 5, 0.5f, out);
  EXPECT_NEAR(out[1], std::exp(-43.45), 1e-6 * std::exp(-43.45) * 10);
}

TEST(VocabMath, TheSumIsTheSameWhateverTheTail) {
  for (const size_t size : {1u, 7u, 8u, 9u, 1023u, 1024u, 1025u, 4099u}) {
    std::vector<float> values(size, -1.0f), out(size);
    EXPECT_NEAR(exp_shifted(values, 0, 1, out), static_cast<double>(size) * std::exp(-1.0), 1e-6 * static_cast<double>(size));
    EXPECT_NEAR(log_sum_exp(values, -1.0f), std::log(static_cast<double>(size)) - 1, 1e-6);
  }
}

TEST(VocabMath, ArgmaxAndFinite) {
  EXPECT_EQ(argmax(std::vector<float>{NAN, 1, 3, 3}), 2);
  EXPECT_EQ(argmax(std::vector<float>{-INFINITY, -INFINITY}), 0);
  EXPECT_EQ(argmax(std::vector<float>{NAN, NAN}), 0);
  std::vector<float> values(100, 3e38f);
  EXPECT_TRUE(all_finite(values));
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    values[99] = bad;
    EXPECT_FALSE(all_finite(values));
  }
}

}  // namespace
}  // namespace camshaft::runtime
