// Rotary frequencies after scaling, and the table of cosines and sines that every rope kernel reads. Sources of the formulas:
// rotary embedding: Su et al., RoFormer, arXiv 2104.09864. linear: Chen et al., Position Interpolation, arXiv 2306.15595.
// llama3: Meta's Llama 3.1 release notes and reference model. yarn: Peng et al., YaRN, arXiv 2309.00071, sections 3.2 to 3.4.
// dynamic: the NTK-aware base change of the same paper's appendix B.2, with the length so far.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/op.h"

namespace camshaft::ops {
namespace {

using Scaling = RopeParams::Scaling;

std::vector<double> plain_frequencies(double theta, int64_t rotary_dim) {
  std::vector<double> out(static_cast<size_t>(rotary_dim / 2));
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim));
  return out;
}

// Short waves stay, long ones are stretched by the factor, those between are blended by how often they fit the old context.
double llama3_frequency(const RopeParams& params, double frequency) {
  const double turns = static_cast<double>(params.original_context) * frequency / (2 * std::numbers::pi);
  if (turns < params.low_freq_factor) return frequency / params.factor;
  if (turns > params.high_freq_factor) return frequency;
  const double blend = (turns - params.low_freq_factor) / (params.high_freq_factor - params.low_freq_factor);
  return (1 - blend) * frequency / params.factor + blend * frequency;
}

// The pair index (a real number) whose wave turns `rotations` times within the original context.
double yarn_pair(const RopeParams& params, double rotations) {
  const double wave = static_cast<double>(params.original_context) / (rotations * 2 * std::numbers::pi);
  return static_cast<double>(params.rotary_dim) * std::log(wave) / (2 * std::log(params.theta));
}

void scale_yarn(const RopeParams& params, std::vector<double>& frequencies) {
  const double low = std::max(std::floor(yarn_pair(params, params.beta_fast)), 0.0);
  double high = std::min(std::ceil(yarn_pair(params, params.beta_slow)), static_cast<double>(params.rotary_dim - 1));
  if (high <= low) high = low + 0.001;  // a step instead of a ramp
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] = frequencies[i] / params.factor * ramp + frequencies[i] * (1 - ramp);
  }
}

// The base that keeps the longest wave in step with a sequence of `length` tokens.
double dynamic_theta(const RopeParams& params, int64_t length) {
  const double dim = static_cast<double>(params.rotary_dim);
  if (length <= params.original_context || params.rotary_dim <= 2) return params.theta;
  const double stretch =
      params.factor * static_cast<double>(length) / static_cast<double>(params.original_context) - (params.factor - 1);
  return params.theta * std::pow(stretch, dim / (dim - 2));
}

// Frequencies for a row at the end of `length` tokens: only dynamic scaling depends on it. Taking each row's own length, and not
// that of the whole prompt, keeps a row independent of how a prompt is cut into chunks.
std::vector<double> frequencies_at(const RopeParams& params, int64_t length) {
  const bool dynamic = params.scaling == Scaling::kDynamicNtk;
  std::vector<double> out = plain_frequencies(dynamic ? dynamic_theta(params, length) : params.theta, params.rotary_dim);
  if (params.scaling == Scaling::kYarn) scale_yarn(params, out);
  for (size_t i = 0; i < out.size(); ++i) {
    if (params.scaling == Scaling::kLinear) out[i] /= params.factor;
    if (params.scaling == Scaling::kLlama3) out[i] = llama3_frequency(params, out[i]);
    if (!params.freq_factors.empty()) out[i] /= static_cast<double>(params.freq_factors[i]);
  }
  return out;
}

}  // namespace

std::vector<double> rope_inverse_frequencies(const RopeParams& params) { return frequencies_at(params, 0); }

void fill_rope_table(const RopeParams& params, int64_t positions, float* out) {
  std::vector<double> frequencies = rope_inverse_frequencies(params);
  const double magnitude = params.scaling == Scaling::kYarn ? params.attention_factor : 1.0;
  const size_t pairs = frequencies.size();
  for (int64_t position = 0; position < positions; ++position, out += 2 * pairs) {
    if (params.scaling == Scaling::kDynamicNtk && position >= params.original_context)
      frequencies = frequencies_at(params, position + 1);
    for (size_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(position) * frequencies[i];
      out[i] = static_cast<float>(std::cos(angle) * magnitude);
      out[pairs + i] = static_cast<float>(std::sin(angle) * magnitude);
    }
  }
}

}  // namespace camshaft::ops
