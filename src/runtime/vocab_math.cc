#include "runtime/vocab_math.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace camshaft::runtime {
namespace {

// exp(x) for x <= 0 by 2^n * p(f), |f| <= ln(2)/2, with the Taylor polynomial of degree 7; below -87 it is 0.
inline float exp_nonpositive(float x) {
  constexpr float kLog2E = 1.44269504088896341f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  const float clamped = x < -87.0f ? -87.0f : x;
  const auto whole = static_cast<int32_t>(clamped * kLog2E - 0.5f);  // truncation towards zero of a non-positive value: nearest
  const auto n = static_cast<float>(whole);
  const float f = (clamped - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040.0f;
  p = p * f + 1.0f / 720.0f;
  p = p * f + 1.0f / 120.0f;
  p = p * f + 1.0f / 24.0f;
  p = p * f + 1.0f / 6.0f;
  p = p * f + 0.5f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  const float power = std::bit_cast<float>((whole + 127) << 23);
  return x < -87.0f ? 0.0f : p * power;
}

constexpr size_t kChunk = 1024;  // partial sums in f32 lanes stay short

}  // namespace

int32_t argmax(std::span<const float> values) {
  float best = -INFINITY;
  for (const float value : values) best = value > best ? value : best;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == best) return static_cast<int32_t>(i);
  }
  return 0;
}

bool all_finite(std::span<const float> values) {
  // x * 0 is NaN for infinities and NaN, and NaN stays in a sum.
  float sum = 0;
  for (const float value : values) sum += value * 0.0f;
  return sum == 0.0f;
}

double exp_shifted(std::span<const float> values, float maximum, float scale, std::span<float> out) {
  double total = 0;
  for (size_t begin = 0; begin < values.size(); begin += kChunk) {
    const size_t end = std::min(begin + kChunk, values.size());
    float lanes[8] = {};
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
      for (size_t lane = 0; lane < 8; ++lane) {
        out[i + lane] = exp_nonpositive((values[i + lane] - maximum) * scale);
        lanes[lane] += out[i + lane];
      }
    }
    for (; i < end; ++i) {
      out[i] = exp_nonpositive((values[i] - maximum) * scale);
      lanes[0] += out[i];
    }
    for (const float lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

double log_sum_exp(std::span<const float> values, float maximum) {
  double total = 0;
  float out[kChunk];
  for (size_t begin = 0; begin < values.size(); begin += kChunk) {
    const size_t count = std::min(kChunk, values.size() - begin);
    total += exp_shifted(values.subspan(begin, count), maximum, 1.0f, std::span(out, count));
  }
  return static_cast<double>(maximum) + std::log(total);
}

}  // namespace camshaft::runtime
